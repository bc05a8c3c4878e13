package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.core.util.LoopThread;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.decision.WatchdogState;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The audit log of a node's decisions: a record for each decision with another verdict or another tenant than the one
 * before, and one for each attempt to carry a decision out. Thread-safe. Calls never block: a thread of its own writes.
 * A record that cannot be written is lost and counted, and no decision waits for it.
 */
public final class DecisionLog implements AutoCloseable {

    private static final int MOST_WAITING = 64;
    private static final int MOST_GPUS = 64;
    /** A verdict that flaps fills the log no faster than this; recycles are always recorded. */
    private static final int BURST = 30;

    private static final Duration PAUSE = Duration.ofSeconds(10);
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(5);

    private static final System.Logger LOG = System.getLogger(DecisionLog.class.getName());

    private final DecisionFile file;
    private final DecisionRecord.Origin origin;
    private final WatchdogRules rules;
    private final Clock clock;
    private final RateLimit limit = new RateLimit(BURST, PAUSE.toNanos(), MOST_GPUS, System::nanoTime);
    /** The last recorded decision of each GPU in few words. */
    private final Map<String, String> last = new BoundedMap<>(MOST_GPUS, true);

    private final BlockingQueue<Entry> waiting = new LinkedBlockingQueue<>(MOST_WAITING);
    private final AtomicLong lost = new AtomicLong();
    private final AtomicLong written = new AtomicLong();
    private final LoopThread writer = new LoopThread("gpuwarden-vram-records", this::writeAll).atEnd(this::end);
    private volatile boolean closed;
    /** Used by the writer alone. */
    private boolean failing;

    /** A record to write. */
    private record Entry(Optional<DecisionRecord> decision, Optional<ActionRecord> action) {}

    /**
     * Starts the log. Its file is opened with the first record.
     *
     * @param file made if it is missing; a full one becomes FILE.1 in place of the one before
     * @param mostBytes size of a full file
     */
    public DecisionLog(Path file, long mostBytes, DecisionRecord.Origin origin, WatchdogRules rules, Clock clock) {
        this.file = new DecisionFile(file, mostBytes);
        this.origin = origin;
        this.rules = rules;
        this.clock = clock;
        writer.start();
    }

    /**
     * Records a decision if it differs from the last record of its GPU.
     *
     * @param before the watchdog's state before the decision
     */
    public synchronized void decided(Decision decision, WatchdogState before) {
        String gpu = decision.seen().gpu();
        String words = decision.verdict()
                + decision.recycled().map(Tenant::id).map(id -> " " + id).orElse("");
        boolean recycle = decision.verdict() == Verdict.RECYCLE;
        if (!recycle && (words.equals(last.get(gpu)) || !limit.take(gpu))) {
            return;
        }
        last.put(gpu, words);
        add(new Entry(
                Optional.of(new DecisionRecord(clock.instant(), origin, rules, before, decision)), Optional.empty()));
    }

    /** Records the end of an attempt to carry out a decision to recycle. */
    public void acted(Decision decision, String actuator, Actuator.Outcome outcome) {
        GpuObservation seen = decision.seen();
        Instant now = clock.instant();
        decision.recycled()
                .ifPresent(tenant -> add(new Entry(
                        Optional.empty(),
                        Optional.of(new ActionRecord(
                                now,
                                seen.gpu(),
                                seen.sequence(),
                                tenant.id(),
                                actuator,
                                outcome.end().word(),
                                outcome.text())))));
    }

    /** Records the notice to a tenant that it is over its budget. */
    public void notified(Decision decision, Tenant tenant, boolean accepted, String text) {
        GpuObservation seen = decision.seen();
        add(new Entry(
                Optional.empty(),
                Optional.of(new ActionRecord(
                        clock.instant(),
                        seen.gpu(),
                        seen.sequence(),
                        tenant.id(),
                        ActionRecord.NOTIFY,
                        (accepted ? Actuator.End.ACCEPTED : Actuator.End.FAILED).word(),
                        text))));
    }

    private void add(Entry entry) {
        if (closed || !waiting.offer(entry)) {
            lost.incrementAndGet();
        }
        writer.wake();
    }

    /** Returns the number of records that could not be written, since the start. */
    public long lost() {
        return lost.get();
    }

    /** Returns the number of records that were written, since the start. */
    public long written() {
        return written.get();
    }

    private long writeAll() {
        for (Entry entry = waiting.poll(); entry != null; entry = waiting.poll()) {
            write(entry);
        }
        return LoopThread.UNTIL_WOKEN;
    }

    private void end() {
        var unused = writeAll();
        file.close();
    }

    private void write(Entry entry) {
        try {
            if (entry.decision().isPresent()) {
                DecisionRecord record = entry.decision().get();
                file.write(line(record.tree()), record.decision().seen().gpu());
            } else {
                file.write(line(entry.action().orElseThrow().tree()));
            }
            written.incrementAndGet();
            failing = false;
        } catch (IOException | RuntimeException e) {
            lost.incrementAndGet();
            if (!failing) {
                LOG.log(System.Logger.Level.WARNING, "records of VRAM decisions are lost: " + e);
            }
            failing = true;
        }
    }

    private static byte[] line(Map<String, Object> tree) {
        return (Output.jsonLine(tree) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Writes the waiting records and ends the writer, within five seconds. */
    @Override
    public void close() {
        closed = true;
        writer.close(LONGEST_CLOSE);
    }
}
