package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.daemon.store.StoreStatus;
import dev.gpuwarden.testkit.sim.Tree;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Measures the time that a sender waits until its event is stored and synced. Events come at a fixed rate regardless of the
 * store. Each is timed from the moment it was due, so that a stall counts for all events behind it.
 */
public final class StoreBenchmark {

    private static final int SENDERS = 4;
    private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(1);

    /** The kind of the events. */
    private enum Kind {
        /** Faults that are raised and cleared: every event is a new row. */
        DISTINCT,
        /** The same faults repeatedly: every event is counted on an existing row. */
        REPEATED,
        /** Nine repeated events for each new one, while 500 other faults are current. */
        STORM
    }

    private StoreBenchmark() {}

    /** @param args a folder on the disk to measure, events per second, seconds for each kind */
    @SuppressForbidden("a program of its own: prints its table")
    public static void main(String[] args) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory(Path.of(args.length > 0 ? args[0] : "target"), "store");
        int rate = args.length > 1 ? Integer.parseInt(args[1]) : 1000;
        int seconds = args.length > 2 ? Integer.parseInt(args[2]) : 20;
        PrintStream out = System.out;
        try {
            print(out, "sync of 8 KiB appended to a file, nothing else", syncs(folder), "");
            for (Kind kind : Kind.values()) {
                Path file = folder.resolve(kind + ".db");
                EventStore store = EventStore.open(StoreSettings.at(file), Clock.systemUTC());
                run(store, kind, 0, rate, 5);
                StoreStatus before = store.status();
                Histogram waits = run(store, kind, 5 * rate, rate, seconds);
                StoreStatus after = store.status();
                long stored =
                        after.receipts().get(Receipt.STORED) - before.receipts().get(Receipt.STORED);
                long counted = after.receipts().get(Receipt.COUNTED)
                        - before.receipts().get(Receipt.COUNTED);
                long commits = after.commitMicros().getTotalCount()
                        - before.commitMicros().getTotalCount();
                print(
                        out,
                        kind.name().toLowerCase(Locale.ROOT) + ", " + rate + " events/s",
                        waits,
                        String.format(
                                Locale.ROOT,
                                "%d stored, %d counted, %.2f events per commit",
                                stored,
                                counted,
                                (stored + counted) / (double) commits));
                store.close();
            }
        } finally {
            Tree.delete(folder);
        }
    }

    private static Histogram run(EventStore store, Kind kind, int first, int rate, int seconds)
            throws InterruptedException {
        Histogram all = new Histogram(1, LONGEST_MICROS, 3);
        if (kind == Kind.STORM && first == 0) {
            for (int i = 0; i < 250; i++) {
                store.accept(event(100_000 + i, "standing" + i, false));
            }
        }
        long start = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(50);
        List<Thread> senders = new ArrayList<>();
        for (int i = 0; i < SENDERS; i++) {
            int sender = i;
            Thread thread = new Thread(() -> {
                Histogram own = new Histogram(1, LONGEST_MICROS, 3);
                for (int n = sender; n < rate * seconds; n += SENDERS) {
                    long due = start + n * TimeUnit.SECONDS.toNanos(1) / rate;
                    for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
                        LockSupport.parkNanos(due - now);
                    }
                    Receipt receipt = store.accept(event(kind, first + n));
                    if (receipt != Receipt.STORED && receipt != Receipt.COUNTED) {
                        throw new IllegalStateException("expected to be stored or counted, seen " + receipt);
                    }
                    own.recordValue(Math.min(LONGEST_MICROS, (System.nanoTime() - due) / 1000));
                }
                synchronized (all) {
                    all.add(own);
                }
            });
            thread.start();
            senders.add(thread);
        }
        for (Thread sender : senders) {
            sender.join();
        }
        if (all.getTotalCount() != (long) rate * seconds) {
            throw new IllegalStateException("a sender failed");
        }
        return all;
    }

    private static HealthEvent event(Kind kind, int number) {
        return switch (kind) {
            // A sender's events raise and clear in turn. Each sender has every fourth number.
            case DISTINCT -> event(number, "code" + number % SENDERS, number / SENDERS % 2 == 1);
            case REPEATED -> event(number, "code" + number % 16, false);
            case STORM ->
                event(
                        number,
                        number % 10 == 0 ? "code" : "standing" + number % 250,
                        number % 10 == 0 && number / 10 % 2 == 1);
        };
    }

    private static HealthEvent event(int number, String code, boolean healthy) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .fatal(!healthy)
                .healthy(healthy)
                .errorCodes(List.of(code))
                .entities(List.of(
                        new Entity(Entity.PCI, "0000:3b:00"), Entity.gpu("GPU-455d8f70-2051-db6c-0430-ffc457bff834")))
                .action(healthy ? RecommendedAction.NONE : RecommendedAction.COMPONENT_RESET)
                .message("NVRM: Xid (PCI:0000:03:00): 48, pid=91237, name=nv-hostengine, Ch 00000076, errorString CTX"
                        + " SWITCH TIMEOUT, Info 0x3c046, event " + number)
                .generated(Instant.ofEpochSecond(1_800_000_000L + number))
                .nodeName("node-7")
                .build();
    }

    /** Measures the disk's own sync. */
    private static Histogram syncs(Path folder) throws IOException {
        Histogram micros = new Histogram(1, LONGEST_MICROS, 3);
        try (FileChannel file =
                FileChannel.open(folder.resolve("sync"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (int i = 0; i < 1000; i++) {
                long start = System.nanoTime();
                file.write(ByteBuffer.allocate(8192), i * 8192L);
                file.force(false);
                micros.recordValue((System.nanoTime() - start) / 1000);
            }
        }
        return micros;
    }

    private static void print(PrintStream out, String what, Histogram micros, String more) {
        out.printf(
                Locale.ROOT,
                "%-48s %s  %s%n",
                what,
                Figures.millis("p50 %6.2f ms  p99 %6.2f ms  p99.9 %6.2f ms  max %6.2f ms", micros, 50, 99, 99.9, 100),
                more);
    }
}
