package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.Json.PlainTree;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.objectmonitor.CompiledPolicy.Outcome;
import dev.gpuwarden.aggregator.objectmonitor.MatchIndex.Match;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import dev.gpuwarden.aggregator.objectmonitor.NodeFaults.ObjectNames;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The evaluation of all policies of a kind on each object. It runs when the object changes, and when time alone changes the
 * result. An object is kept only if time can change its result. After the first complete list, a match that was not seen is
 * removed. Thread-safe.
 */
final class PolicyEvaluator implements ResourceInformer.Listener, AutoCloseable {

    private record Kept(
            Json.Compressed object,
            Optional<Instant> due,
            @Nullable ScheduledFuture<?> timer) {}

    private final ResourceType type;
    private final List<PolicyStats> policies;
    private final MatchIndex book;
    private final ScheduledExecutorService timers;
    private final Clock clock;
    private final MonitorMetrics metrics;
    private final Runnable completed;
    private final Map<String, Kept> kept = new HashMap<>();
    /** The time since which an object gives the opposite of the reported result. Those objects are kept too. */
    private final Map<Match.Key, Instant> turning = new HashMap<>();

    /** Held during evaluations, so that the changes of one object come in order. Reads never take it. */
    private final ReentrantLock asking = new ReentrantLock();

    private boolean complete;
    private boolean closed;

    /** @param completed called after all objects have arrived; must be quick */
    PolicyEvaluator(
            ResourceType type,
            List<PolicyStats> policies,
            MatchIndex book,
            ScheduledExecutorService timers,
            Clock clock,
            MonitorMetrics metrics,
            Runnable completed) {
        this.type = type;
        this.policies = List.copyOf(policies);
        this.book = book;
        this.timers = timers;
        this.clock = clock;
        this.metrics = metrics;
        this.completed = completed;
        for (PolicyStats run : policies) {
            run.begin();
            book.unconfirm(run.name());
        }
    }

    @Override
    public void onUpsert(String name, Map<String, Object> tree) {
        long receivedNanos = System.nanoTime();
        metrics.received.increment();
        Map<String, Object> object = NodeCache.Trim.other(tree);
        evaluate(ObjectNames.shortened(name), object, Optional.empty(), receivedNanos);
    }

    /** Evaluates an object in the form of {@link PlainTree}, like {@link #onUpsert}. */
    void evaluate(String name, Map<String, Object> object) {
        evaluate(name, object, Optional.empty(), System.nanoTime());
    }

    @Override
    public void onDelete(String name) {
        metrics.received.increment();
        String object = ObjectNames.shortened(name);
        inOrder(() -> {
            forget(object);
            for (PolicyStats run : policies) {
                run.gone(object);
                turning.remove(new Match.Key(run.name(), object));
                book.remove(run.name(), object);
            }
        });
    }

    @Override
    public void onSynced() {
        boolean open = inOrder(() -> {
            complete = true;
            policies.stream()
                    .filter(run -> run.stopped().isEmpty())
                    .forEach(run -> book.removeIf(run.name(), match -> !match.confirmed()));
        });
        if (open) {
            completed.run();
        }
    }

    /** Runs a change after the current evaluation, unless this evaluator is closed. */
    private boolean inOrder(Runnable change) {
        asking.lock();
        try {
            return unlessClosed(change);
        } finally {
            asking.unlock();
        }
    }

    private synchronized boolean unlessClosed(Runnable change) {
        if (!closed) {
            change.run();
        }
        return !closed;
    }

    /** Returns whether all objects of one moment have arrived. */
    synchronized boolean isComplete() {
        return complete;
    }

    /** Returns the number of objects whose result time can change. */
    synchronized int timed() {
        return kept.size();
    }

    /** Evaluates all kept objects again. */
    void resync() {
        List<String> all;
        synchronized (this) {
            all = List.copyOf(kept.keySet());
        }
        all.forEach(object -> again(object, System.nanoTime()));
    }

    private void due(String object, Instant when) {
        Duration late = Duration.between(when, clock.instant());
        again(object, System.nanoTime() - Math.max(0, late.toNanos()));
    }

    private void again(String object, long receivedNanos) {
        Optional<Json.Compressed> packed;
        synchronized (this) {
            packed = Optional.ofNullable(kept.get(object)).map(Kept::object);
        }
        packed.ifPresent(same -> evaluate(object, same.tree(), packed, receivedNanos));
    }

    private void evaluate(
            String name, Map<String, Object> object, Optional<Json.Compressed> packed, long receivedNanos) {
        asking.lock();
        try {
            if (isOld(name, packed)) {
                return;
            }
            Instant now = clock.instant();
            Map<PolicyStats, Outcome> outcomes = new LinkedHashMap<>();
            for (PolicyStats run : policies) {
                if (run.stopped().isEmpty()) {
                    outcomes.put(run, run.ask(name, object, now, metrics));
                }
            }
            var unused = unlessClosed(() -> settle(outcomes, name, object, packed, now, receivedNanos));
        } finally {
            asking.unlock();
        }
    }

    /** Returns whether a kept object has changed, or is gone, since it was unpacked. It was evaluated again then. */
    private synchronized boolean isOld(String name, Optional<Json.Compressed> packed) {
        return closed
                || packed.isPresent()
                        && Optional.ofNullable(kept.get(name))
                                .filter(there -> there.object() == packed.get())
                                .isEmpty();
    }

    private void settle(
            Map<PolicyStats, Outcome> outcomes,
            String name,
            Map<String, Object> object,
            Optional<Json.Compressed> packed,
            Instant now,
            long receivedNanos) {
        boolean timed = false;
        Optional<Instant> next = Optional.empty();
        for (Map.Entry<PolicyStats, Outcome> asked : outcomes.entrySet()) {
            Optional<Instant> well = settle(asked.getKey(), name, object, asked.getValue(), now, receivedNanos);
            timed |= asked.getValue().timed() || well.isPresent();
            next = earlier(earlier(next, asked.getValue().changes()), well);
        }
        forget(name);
        if (timed) {
            kept.put(name, new Kept(packed.orElseGet(() -> Json.Compressed.of(object)), next, timer(name, next, now)));
        }
    }

    /** @return the time of the next evaluation, because the reported result changes then unless the object changes before */
    private Optional<Instant> settle(
            PolicyStats run,
            String name,
            Map<String, Object> object,
            Outcome outcome,
            Instant now,
            long receivedNanos) {
        Match.Key key = new Match.Key(run.name(), name);
        Optional<Match> before = book.get(run.name(), name);
        Instant since = turning.getOrDefault(key, now);
        Optional<Instant> due = Optional.empty();
        if (outcome.matches() && !outcome.node().isEmpty()) {
            Match match = new Match(
                    outcome.node(),
                    (before.isEmpty() ? since : now).truncatedTo(ChronoUnit.SECONDS),
                    run.digest(),
                    true,
                    receivedNanos);
            Instant raises = run.source().damping().raises(since);
            if (before.isEmpty() && raises.isAfter(now)) {
                due = Optional.of(raises);
            } else {
                book.put(run.name(), name, before.map(match::after).orElse(match));
            }
        } else if (before.isPresent()) {
            Optional<Instant> clears = clears(run, before.get(), object, outcome, since);
            if (clears.isPresent() && !clears.get().isAfter(now)) {
                book.remove(run.name(), name);
            } else {
                book.put(run.name(), name, before.get().seen());
                due = clears;
            }
        }
        if (due.isPresent()) {
            turning.put(key, since);
        } else {
            turning.remove(key);
        }
        return due;
    }

    /**
     * Returns the time at which the fault of an object clears that does not match; empty if something else must happen first.
     */
    private Optional<Instant> clears(
            PolicyStats run, Match before, Map<String, Object> object, Outcome outcome, Instant since) {
        boolean shows = type.isPod() && !run.source().counts();
        if (outcome.problem().isPresent() && (outcome.matches() || !shows)) {
            // An object that names no node any more, or cannot be evaluated, has not recovered. Pods show by themselves
            // that they have.
            return Optional.empty();
        }
        Optional<Instant> well = shows ? RecoveryRule.from(type, object) : Optional.of(Instant.EPOCH);
        return before.digest().equals(run.digest())
                ? run.source().damping().clears(since, well)
                : Optional.of(Instant.EPOCH);
    }

    private static Optional<Instant> earlier(Optional<Instant> one, Optional<Instant> other) {
        return one.isPresent() && (other.isEmpty() || one.get().isBefore(other.get())) ? one : other;
    }

    private @Nullable ScheduledFuture<?> timer(String name, Optional<Instant> next, Instant now) {
        if (next.isEmpty()) {
            return null;
        }
        Instant when = next.get();
        try {
            return timers.schedule(
                    () -> due(name, when), Duration.between(now, when).toNanos() + 1, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            // The program stops; the next one begins with all objects.
            return null;
        }
    }

    private void forget(String name) {
        Kept before = kept.remove(name);
        if (before != null && before.timer() != null) {
            before.timer().cancel(false);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        List.copyOf(kept.keySet()).forEach(this::forget);
    }
}
