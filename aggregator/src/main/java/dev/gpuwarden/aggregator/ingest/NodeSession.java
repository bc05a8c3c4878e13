package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.ingest.UplinkStep.AllFaults;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Happened;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Refused;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth.ReportedState;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.node.ReportedGpus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The reports of a node on one stream, and the part of them that is stored. It lives until the stream has ended and all is
 * stored, or until the node opens a newer stream and repeats all. Thread-safe.
 */
final class NodeSession {

    /** Events of one write that more would follow immediately. */
    private static final int MANY_EVENTS = 32;
    /** Interval of the writes of a node without news, which show that it still reports. */
    static final Duration CONFIRM = Duration.ofMinutes(5);

    private final String node;
    private final String bootId;
    private final String version;
    private final long dropped;
    private final StreamEpoch claim;
    private FaultTable faults = new FaultTable();
    /** Fatal faults whose events have not arrived yet. */
    private final Map<FaultKey, Fault> ahead = new HashMap<>();

    private ReportedGpus gpus = ReportedGpus.NONE;

    private Instant reported = Instant.EPOCH;
    private long generation;
    private long sequence;
    private boolean complete;

    private StoredHealth held;
    private @Nullable NodeStream stream;
    /** Refused events of which the node has no answer yet. */
    private final Deque<Refused> refused = new ArrayDeque<>();

    /** Accepted events without acknowledgement; eventsInDraft counts those in the present write. */
    private int events;

    private int eventsInDraft;
    private boolean generationOpen;

    private boolean dirty;
    /** True if the next write must not wait for further news. */
    private boolean urgent;

    private boolean writing;
    /** True if a write is over and only urgent news starts another one. It is a part of `writing`. */
    private boolean resting;

    private boolean forgotten;
    private long dirtyNanos;
    private Instant confirmed = Instant.EPOCH;

    /** @param held the stored health of the node when it connected */
    NodeSession(Hello hello, StreamEpoch claim, StoredHealth held) {
        this.node = hello.getNodeName();
        this.bootId = hello.getBootId();
        this.version = hello.getVersion();
        this.dropped = hello.getDroppedEvents();
        this.claim = claim;
        this.held = held;
        this.sequence = held.acknowledged();
    }

    /**
     * The content of one write.
     *
     * @param sinceNanos time of the first report in it
     * @param held the present content of the cluster, as far as it is known
     */
    record Draft(long sinceNanos, ReportedState state, StoredHealth held) {}

    /**
     * Acknowledgements that a stream may send to its node now.
     *
     * @param refused refused events in order; each acknowledges all before it
     */
    record Kept(NodeStream stream, long generation, long sequence, List<Refused> refused) {}

    String node() {
        return node;
    }

    // ---- the stream ----

    synchronized void attach(NodeStream own) {
        stream = own;
    }

    synchronized void detach() {
        stream = null;
    }

    synchronized Optional<NodeStream> stream() {
        return Optional.ofNullable(stream);
    }

    synchronized boolean isOver() {
        return stream == null && !dirty && !writing;
    }

    // ---- its reports; each method returns true if the caller must start a write ----

    synchronized boolean reported(AllFaults all, Instant now) {
        faults = new FaultTable();
        all.faults().forEach(faults::restore);
        ahead.clear();
        generation = all.generation();
        generationOpen = true;
        complete = true;
        return urgent(now);
    }

    synchronized boolean happened(Happened event, Instant now) {
        if (!event.history()) {
            var unused = faults.apply(event.event(), event.sequence(), event.seen());
        }
        boolean waits =
                event.history() || !event.event().fatal() && !event.event().healthy();
        return came(event.sequence(), now, !waits);
    }

    synchronized boolean refused(Refused event, Instant now) {
        refused.add(event);
        return came(event.sequence(), now, false);
    }

    private boolean came(long number, Instant now, boolean matters) {
        sequence = number;
        ahead.values().removeIf(fault -> fault.sequence() <= number);
        events++;
        return matters || events >= MANY_EVENTS ? urgent(now) : news(now);
    }

    /** Adds a fault whose event will follow. */
    synchronized boolean ahead(Fault fault, Instant now) {
        ahead.put(fault.key(), fault);
        return urgent(now);
    }

    /** Sets its GPUs, which are written with its faults. */
    synchronized boolean named(ReportedGpus now, Instant at) {
        boolean other = !now.equals(gpus);
        gpus = now;
        return complete && other ? news(at) : alive(at);
    }

    synchronized boolean alive(Instant now) {
        if (complete && confirmed.plus(CONFIRM).isBefore(now)) {
            return news(now);
        }
        reported = now;
        return false;
    }

    /**
     * Returns true if the node must wait before it sends more. A node that has sent its window of events may still send a fault
     * ahead.
     */
    synchronized boolean full(int window) {
        return generationOpen || events > window;
    }

    /** Returns true if the caller must start a write: a fault that is fatal or over, all faults, or many events. */
    private boolean urgent(Instant now) {
        urgent = true;
        return news(now);
    }

    private boolean news(Instant now) {
        reported = now;
        if (forgotten) {
            return false;
        }
        boolean first = !dirty;
        if (first) {
            dirty = true;
            dirtyNanos = System.nanoTime();
        }
        if (resting && urgent) {
            resting = false;
            return true;
        }
        return first && !writing;
    }

    // ---- writing ----

    synchronized Draft begin() {
        dirty = false;
        urgent = false;
        resting = false;
        writing = true;
        eventsInDraft = events;
        return new Draft(
                dirtyNanos,
                new ReportedState(
                        node, bootId, version, reported, claim, generation, sequence, dropped, faults(), gpus),
                held);
    }

    private List<Fault> faults() {
        if (ahead.isEmpty()) {
            return faults.faults();
        }
        Map<FaultKey, Fault> all = new LinkedHashMap<>();
        faults.faults().forEach(fault -> all.put(fault.key(), fault));
        all.putAll(ahead);
        return List.copyOf(all.values());
    }

    /** Stores the result of a draft's write. Returns the acknowledgements for the stream, if it still exists. */
    synchronized Optional<Kept> kept(Draft draft, StoredHealth now) {
        held = now;
        confirmed = draft.state().reported();
        if (stream == null) {
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

    /** Marks the draft's content for another write, because the write failed. */
    synchronized void notKept(Draft draft) {
        dirty = !forgotten;
        dirtyNanos = draft.sinceNanos();
    }

    /** Ends a write that failed, after its pause. Returns true if there is more to write. */
    synchronized boolean end() {
        writing = false;
        return dirty;
    }

    /** Begins the rest after a write. Returns true if there is urgent news instead. */
    synchronized boolean rest() {
        resting = !(dirty && urgent);
        return !resting;
    }

    /** The end of a rest: urgent news has ended it already, there is news to write, or there is none. */
    enum Rested {
        BEFORE,
        NEWS,
        NOTHING
    }

    synchronized Rested rested() {
        if (!resting) {
            return Rested.BEFORE;
        }
        resting = false;
        writing = dirty;
        return dirty ? Rested.NEWS : Rested.NOTHING;
    }

    /** Discards this session: none of it is written any more. */
    synchronized void forget() {
        forgotten = true;
        dirty = false;
    }
}
