package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.health.NodeState;
import dev.gpuwarden.aggregator.ingest.Step.Happened;
import dev.gpuwarden.aggregator.ingest.Step.Refused;
import dev.gpuwarden.aggregator.ingest.Step.Told;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.core.event.FaultTable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What one node has told, and how much of it is kept for good. Lives from the node's first stream until its last has ended and
 * all is kept. Thread-safe.
 */
final class NodeRecord {

    /** How often a node of which there is nothing new is written, so that one sees that it reports. */
    static final Duration CONFIRM = Duration.ofMinutes(5);

    private final String node;
    private FaultTable faults = new FaultTable();
    private Instant reported = Instant.EPOCH;
    private String bootId = "";
    private String version = "";
    private long dropped;
    private long generation;
    private long sequence;
    private boolean told;

    private @Nullable Stream stream;
    private long streams;
    /** Refused, and the node does not know yet. */
    private final Deque<Refused> refused = new ArrayDeque<>();

    /** Taken and not acknowledged, and how many of them the write that is under way has. */
    private int events;

    private int eventsInDraft;
    private boolean generationOpen;

    private boolean dirty;
    private boolean writing;
    private long dirtyNanos;
    private Instant confirmed = Instant.EPOCH;

    NodeRecord(String node) {
        this.node = node;
    }

    /**
     * What is to be written.
     *
     * @param stream which of the node's streams told it
     * @param sinceNanos when the first news in it came
     */
    record Draft(long stream, long sinceNanos, NodeState state) {}

    /**
     * What a stream may tell its node now.
     *
     * @param refused in order; each acknowledges all before it
     */
    record Kept(Stream stream, long generation, long sequence, List<Refused> refused) {}

    String node() {
        return node;
    }

    // ---- the stream ----

    /** Returns the older of two streams, which is over with this: it may have greeted last, when the API server was slow. */
    synchronized Optional<Stream> attach(Stream other) {
        if (stream != null && stream.newerThan(other)) {
            return Optional.of(other);
        }
        Optional<Stream> older = Optional.ofNullable(stream);
        stream = other;
        streams++;
        refused.clear();
        events = 0;
        generationOpen = false;
        return older;
    }

    /** Nothing where a newer one has taken its place. */
    synchronized void detach(Stream old) {
        if (stream == old) {
            stream = null;
        }
    }

    synchronized boolean isOver() {
        return stream == null && !dirty && !writing;
    }

    /** @param kept the last event that the cluster has of this node, where this record is new */
    synchronized void greet(Hello hello, long kept) {
        bootId = hello.getBootId();
        version = hello.getVersion();
        dropped = hello.getDroppedEvents();
        if (!told) {
            sequence = kept;
        }
    }

    // ---- what it tells; each returns whether somebody must write ----

    synchronized boolean told(Told all, Instant now) {
        faults = new FaultTable();
        all.faults().forEach(faults::restore);
        generation = all.generation();
        generationOpen = true;
        told = true;
        return news(now);
    }

    synchronized boolean happened(Happened event, Instant now) {
        if (!event.history()) {
            var unused = faults.apply(event.event(), event.sequence(), event.seen());
        }
        sequence = event.sequence();
        events++;
        return news(now);
    }

    synchronized boolean refused(Refused event, Instant now) {
        refused.add(event);
        sequence = event.sequence();
        events++;
        return news(now);
    }

    synchronized boolean alive(Instant now) {
        if (told && confirmed.plus(CONFIRM).isBefore(now)) {
            return news(now);
        }
        reported = now;
        return false;
    }

    /** Whether the node must wait before it says more. */
    synchronized boolean full(int window) {
        return generationOpen || events >= window;
    }

    private boolean news(Instant now) {
        reported = now;
        if (dirty) {
            return false;
        }
        dirty = true;
        dirtyNanos = System.nanoTime();
        return !writing;
    }

    // ---- writing ----

    synchronized Draft begin() {
        dirty = false;
        writing = true;
        eventsInDraft = events;
        return new Draft(
                streams,
                dirtyNanos,
                new NodeState(node, bootId, version, reported, generation, sequence, dropped, faults.faults()));
    }

    /** The draft is kept. Returns what may be told of that, if the stream is still there. */
    synchronized Optional<Kept> kept(Draft draft) {
        confirmed = draft.state().reported();
        if (stream == null || draft.stream() != streams) {
            return Optional.empty();
        }
        long upTo = draft.state().sequence();
        List<Refused> known = new ArrayList<>();
        while (!refused.isEmpty() && refused.peek().sequence() <= upTo) {
            known.add(refused.remove());
        }
        boolean current = draft.state().generation() == generation;
        boolean answers = generationOpen && current;
        generationOpen &= !current;
        events -= eventsInDraft;
        return Optional.of(new Kept(stream, answers ? generation : 0, upTo, known));
    }

    /** It is not kept: all of it is still to be written. */
    synchronized void notKept(Draft draft) {
        dirty = true;
        dirtyNanos = draft.sinceNanos();
    }

    /** Writing is over for now. Returns whether there is more to write. */
    synchronized boolean end() {
        writing = false;
        return dirty;
    }

    synchronized Optional<Stream> stream() {
        return Optional.ofNullable(stream);
    }

    /** Nothing of this is wanted any more. */
    synchronized void forget() {
        dirty = false;
    }
}
