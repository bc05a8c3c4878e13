package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.HealthEvent;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A process that stores events until it is killed. Each source numbers its events and continues at its position. Each
 * acknowledgement goes to standard output as a line `source first last`, in one write that a kill cannot cut in two.
 */
final class KilledStore {

    static final int SOURCES = 4;

    private KilledStore() {}

    public static void main(String... args) throws InterruptedException {
        StoreSettings settings = StoreSettings.at(Path.of(args[0]));
        settings.maxSizeBytes = Long.parseLong(args[1]);
        EventStore store = EventStore.open(settings, Clock.systemUTC());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < SOURCES; i++) {
            String source = "source" + i;
            Thread thread = new Thread(() -> tell(store, source));
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void tell(EventStore store, String source) {
        // Everything goes to the pipe in one call: what is in a buffer of this process would die with it.
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        long next = store.position(source).map(p -> Long.parseLong(p.cursor())).orElse(0L) + 1;
        while (true) {
            int count = (int) (1 + next % 3);
            List<HealthEvent> events = new ArrayList<>();
            for (long number = next; number < next + count; number++) {
                events.add(event(source, number));
            }
            long last = next + count - 1;
            List<Receipt> receipts =
                    store.accept(events, Optional.of(new Position(source, "boot", String.valueOf(last))));
            if (receipts.contains(Receipt.HELD) || receipts.contains(Receipt.REFUSED)) {
                throw new IllegalStateException("not stored: " + receipts);
            }
            String line =
                    source + " " + next + " " + last + (receipts.contains(Receipt.DUPLICATE) ? " again" : "") + "\n";
            try {
                out.write(line.getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            next += count;
        }
    }

    /** New faults, repeated ones, clears, and health without a fault. */
    static HealthEvent event(String source, long number) {
        HealthEvent.Builder event = HealthEvent.of(source, "GPU", "check")
                .entities(List.of(Entity.gpu("GPU-" + number % 8)))
                .metadata(Map.of("number", String.valueOf(number)))
                .message("number " + number)
                .generated(Instant.ofEpochSecond(number));
        String code = "code" + number / 10 % 16;
        return switch ((int) (number % 10)) {
            case 0 -> event.errorCodes(List.of("standing")).entities(List.of()).build();
            case 1, 2, 3, 4 -> event.errorCodes(List.of(code)).fatal(true).build();
            case 5, 6 -> event.healthy(true).entities(List.of()).build();
            default -> event.errorCodes(List.of(code)).healthy(true).build();
        };
    }
}
