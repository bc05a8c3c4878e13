package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.objectmonitor.CompiledPolicy.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/** A policy in use: it evaluates one object after the other, and counts errors and overruns. Thread-safe. */
final class PolicyStats {

    /**
     * The longest processor time of an evaluation, which usually takes microseconds. It bounds the work that no count of steps
     * bounds.
     */
    static final Duration LONGEST = Duration.ofMillis(100);

    /** More than one overrun is permitted, since the first evaluations also load and compile classes. */
    private static final int MOST_OVERRUNS = 5;

    /** The number of quick evaluations after which one overrun is forgotten. */
    private static final int FORGIVEN_AFTER = 1000;

    /** The most objects that are kept by name; a cluster can have any number. */
    private static final int MOST_NAMED = 1000;

    private final CompiledPolicy policy;
    private final String digest;
    private final LongAdder evaluations = new LongAdder();
    private final LongAdder errors = new LongAdder();
    private final Map<String, String> erring = new LinkedHashMap<>();
    private final Map<String, String> withoutNode = new LinkedHashMap<>();
    private long erringSinceNanos;
    private int overruns;
    private int quick;
    private volatile Optional<String> stopped = Optional.empty();
    private volatile boolean selectedOne;

    PolicyStats(CompiledPolicy policy) {
        this.policy = policy;
        this.digest = policy.source().digest();
    }

    /** Returns the digest of the policy's expressions. */
    String digest() {
        return digest;
    }

    String name() {
        return policy.source().name();
    }

    MonitorPolicy source() {
        return policy.source();
    }

    /** Returns the reason why the policy is not evaluated any more; empty while it is. */
    Optional<String> stopped() {
        return stopped;
    }

    /** Evaluates an object, and records the duration in the metrics. */
    Outcome ask(String object, Map<String, Object> tree, Instant now, MonitorMetrics metrics) {
        long start = System.nanoTime();
        Outcome outcome = policy.evaluate(tree, now);
        evaluations.increment();
        selectedOne = selectedOne || outcome.matches() || policy.selects(tree);
        metrics.evaluations.add(System.nanoTime() - start);
        note(object, outcome);
        return outcome;
    }

    private synchronized void note(String object, Outcome outcome) {
        if (outcome.problem().isPresent()) {
            errors.increment();
        }
        boolean nowhere = outcome.matches() && outcome.node().isEmpty();
        boolean none = erring.isEmpty();
        note(erring, object, outcome.matches() ? Optional.empty() : outcome.problem());
        if (none) {
            erringSinceNanos = System.nanoTime();
        }
        note(withoutNode, object, nowhere ? outcome.problem() : Optional.empty());
        if (outcome.nanos() > LONGEST.toNanos() || outcome.tooCostly()) {
            quick = 0;
            overruns++;
            if (overruns >= MOST_OVERRUNS) {
                stopped = Optional.of("it is stopped until it is changed: " + overruns + " evaluations cost too much: "
                        + (outcome.tooCostly()
                                ? outcome.problem().orElse("")
                                : "more than " + LONGEST.toMillis() + " ms of processor time")
                        + ", last for " + object);
            }
        } else if (++quick == FORGIVEN_AFTER) {
            quick = 0;
            overruns = Math.max(0, overruns - 1);
        }
    }

    private static void note(Map<String, String> named, String object, Optional<String> why) {
        if (why.isEmpty()) {
            named.remove(object);
        } else if (named.size() < MOST_NAMED) {
            named.put(object, why.get());
        }
    }

    synchronized void gone(String object) {
        erring.remove(object);
        withoutNode.remove(object);
    }

    /** Forgets the errors and the selection, since all objects arrive again. */
    synchronized void begin() {
        selectedOne = false;
        erring.clear();
        withoutNode.clear();
    }

    /** Returns whether the policy selected at least one object since they are watched, also one that is deleted now. */
    boolean selectedOne() {
        return selectedOne;
    }

    long evaluations() {
        return evaluations.sum();
    }

    long errors() {
        return errors.sum();
    }

    synchronized int erring() {
        return erring.size();
    }

    /** Returns whether at least one object has failed throughout this time, not always the same one. */
    synchronized boolean erringFor(Duration time) {
        return !erring.isEmpty() && System.nanoTime() - erringSinceNanos >= time.toNanos();
    }

    synchronized int withoutNode() {
        return withoutNode.size();
    }

    /** Returns one of the objects that failed, with the reason. */
    synchronized String anError() {
        return one(erring);
    }

    synchronized String aNodelessObject() {
        return one(withoutNode);
    }

    private static String one(Map<String, String> named) {
        return named.entrySet().stream()
                .findFirst()
                .map(entry -> entry.getKey() + ": " + entry.getValue())
                .orElse("");
    }
}
