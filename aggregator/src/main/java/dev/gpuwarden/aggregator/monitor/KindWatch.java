package dev.gpuwarden.aggregator.monitor;

import dev.gpuwarden.aggregator.cluster.Mirror;
import dev.gpuwarden.aggregator.fleet.Packed;
import dev.gpuwarden.aggregator.json.Trees;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Asks all policies of a kind about each object, whenever it changes and whenever time alone changes what they say. Of an object
 * it keeps nothing, unless that can happen. Once it is told all, what it has not seen is gone. Thread-safe.
 */
final class KindWatch implements Mirror.Listener, AutoCloseable {

    private record Kept(
            Packed object, Optional<Instant> due, @Nullable ScheduledFuture<?> timer) {}

    private final ResourceType type;
    private final List<PolicyRun> policies;
    private final MatchBook book;
    private final ScheduledExecutorService timers;
    private final Clock clock;
    private final MonitorTally tally;
    private final Runnable completed;
    private final Map<String, Kept> kept = new HashMap<>();
    private boolean complete;
    private boolean closed;

    /** @param completed told when all objects have been told; must be quick */
    KindWatch(
            ResourceType type,
            List<PolicyRun> policies,
            MatchBook book,
            ScheduledExecutorService timers,
            Clock clock,
            MonitorTally tally,
            Runnable completed) {
        this.type = type;
        this.policies = List.copyOf(policies);
        this.book = book;
        this.timers = timers;
        this.clock = clock;
        this.tally = tally;
        this.completed = completed;
        for (PolicyRun run : policies) {
            run.begin();
            book.unconfirm(run.name());
        }
    }

    @Override
    public void there(String name, Map<String, Object> tree) {
        long heard = System.nanoTime();
        tally.heard();
        Map<String, Object> object = PlainTree.of(tree);
        Map<String, Object> metadata = Trees.copy(Trees.object(object, "metadata"));
        metadata.remove("managedFields");
        object.put("metadata", metadata);
        look(ObjectNames.shortened(name), object, Optional.empty(), heard);
    }

    @Override
    public synchronized void gone(String name) {
        if (closed) {
            return;
        }
        tally.heard();
        String object = ObjectNames.shortened(name);
        forget(object);
        for (PolicyRun run : policies) {
            run.gone(object);
            if (run.stopped().isEmpty()) {
                book.remove(run.name(), object);
            }
        }
    }

    @Override
    public void complete() {
        synchronized (this) {
            if (closed) {
                return;
            }
            complete = true;
            policies.stream()
                    .filter(run -> run.stopped().isEmpty())
                    .forEach(run -> book.removeIf(run.name(), match -> !match.confirmed()));
        }
        completed.run();
    }

    /** Whether all objects that there were at one moment have been told. */
    synchronized boolean isComplete() {
        return complete;
    }

    /** Of how many objects time can change what is said of them. */
    synchronized int timed() {
        return kept.size();
    }

    /** Asks anew about all objects that are kept. */
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

    private void again(String object, long heard) {
        Optional<Packed> packed;
        synchronized (this) {
            packed = Optional.ofNullable(kept.get(object)).map(Kept::object);
        }
        packed.ifPresent(same -> look(object, same.tree(), packed, heard));
    }

    private synchronized void look(String name, Map<String, Object> object, Optional<Packed> packed, long heard) {
        // One that has changed, or gone, since it was unpacked has been looked at since.
        boolean old = packed.isPresent()
                && Optional.ofNullable(kept.get(name))
                        .filter(there -> there.object() == packed.get())
                        .isEmpty();
        if (closed || old) {
            return;
        }
        Instant now = clock.instant();
        boolean timed = false;
        Optional<Instant> next = Optional.empty();
        for (PolicyRun run : policies) {
            if (run.stopped().isPresent()) {
                continue;
            }
            Outcome outcome = run.ask(name, object, now, tally);
            Optional<Instant> well = settle(run, name, object, outcome, now, heard);
            timed |= outcome.timed() || well.isPresent();
            next = earlier(earlier(next, outcome.changes()), well);
        }
        forget(name);
        if (timed) {
            kept.put(name, new Kept(packed.orElseGet(() -> Packed.of(object)), next, timer(name, next, now)));
        }
    }

    /** Tells when it is to be looked at since what stands until then is over if nothing else happens. */
    private Optional<Instant> settle(
            PolicyRun run, String name, Map<String, Object> object, Outcome outcome, Instant now, long heard) {
        Optional<Match> before = book.get(run.name(), name);
        String digest = run.digest();
        if (outcome.matches() && !outcome.node().isEmpty()) {
            boolean known = before.isPresent() && before.get().node().equals(outcome.node());
            book.put(
                    run.name(),
                    name,
                    new Match(
                            outcome.node(),
                            known ? before.get().since() : now.truncatedTo(ChronoUnit.SECONDS),
                            digest,
                            true,
                            known ? before.get().heardNanos() : heard));
        } else if (before.isPresent()) {
            Optional<Instant> well = Wellness.from(type, object);
            boolean recovered = well.isPresent() && !well.get().isAfter(now);
            if (!outcome.matches() && before.get().digest().equals(digest) && !recovered) {
                book.put(run.name(), name, before.get().seen());
                return well;
            }
            book.remove(run.name(), name);
        }
        return Optional.empty();
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
            // The program stops; the next one begins with all there is.
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
