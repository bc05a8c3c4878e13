package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import dev.gpuwarden.aggregator.drain.PodEviction.Outcome;
import dev.gpuwarden.aggregator.drain.PodView.Checkpoint;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Has pods asked to end, or told that they will be, many at once, each recorded before and after; none of a node that was released
 * meanwhile. Thread-safe.
 */
final class PodEvictor implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(PodEvictor.class.getName());

    /** Each waits for one answer. */
    private static final int THREADS = 32;

    private final PodEviction removal;
    private final SignalRequests signals;
    private final NodeCache fleet;
    private final Clock clock;
    private final DrainAuditLog log;
    private final DrainMetrics tally;
    private final Consumer<String> again;
    private final BooleanSupplier open;
    private final Predicate<CachedNode> drainable;
    private final ExecutorService threads =
            Executors.newFixedThreadPool(THREADS, Threads.daemon("gpuwarden-drain-pod"));

    /**
     * @param open whether this replica is the one that acts
     * @param drainable whether a node's pods are to go still
     */
    PodEvictor(
            PodEviction removal,
            SignalRequests signals,
            NodeCache fleet,
            Clock clock,
            DrainAuditLog log,
            DrainMetrics tally,
            Consumer<String> again,
            BooleanSupplier open,
            Predicate<CachedNode> drainable) {
        this.removal = removal;
        this.signals = signals;
        this.fleet = fleet;
        this.clock = clock;
        this.log = log;
        this.tally = tally;
        this.again = again;
        this.open = open;
        this.drainable = drainable;
    }

    /** Does not wait. */
    void submit(CachedNode node, DrainState drain, PodPlan plan) {
        try {
            threads.execute(() -> remove(node, drain, plan));
        } catch (RejectedExecutionException e) {
            drain.givenUp(plan.pod().uid());
        }
    }

    /** Its pods are not to be told anything any more. Does not wait. */
    void untell(String node) {
        try {
            threads.execute(() -> {
                try {
                    signals.forget(node);
                } catch (ApiException e) {
                    // Only what was asked for in this drain counts in the next one.
                    LOG.log(Level.INFO, "signals for pods of " + node + " stay in its NodeHealth: " + e.getMessage());
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        } catch (RejectedExecutionException e) {
            // The program stops; the next drain's end takes them away.
        }
    }

    private void remove(CachedNode decided, DrainState drain, PodPlan plan) {
        PodView pod = plan.pod();
        try {
            Optional<CachedNode> node = fleet.node(decided.name())
                    .filter(now -> now.uid().equals(decided.uid()))
                    // It may have been released since it was decided.
                    .filter(drainable);
            if (!open.getAsBoolean() || drain.isClosed() || node.isEmpty()) {
                drain.givenUp(pod.uid());
                return;
            }
            if (plan.step() == Step.SIGNAL) {
                tell(node.get(), drain, plan);
                again.accept(decided.name());
                return;
            }
            boolean deletes = plan.step() == Step.DELETE;
            log.pod(node.get(), deletes ? "delete" : "evict", plan.reason(), pod, clock.instant());
            Outcome outcome = deletes ? removal.delete(pod) : removal.evict(pod);
            tally.asked(outcome.kind());
            if (outcome instanceof Outcome.Refused refused) {
                log.pod(node.get(), "refused", refused.why(), pod, clock.instant());
            } else {
                log.pod(node.get(), outcome.kind(), "", pod, clock.instant());
            }
            drain.answered(pod.uid(), outcome, clock.instant());
            again.accept(decided.name());
        } catch (InterruptedException e) {
            drain.givenUp(pod.uid());
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "pod " + pod.path() + " of node " + decided.name() + " was not asked for", e);
            drain.answered(pod.uid(), new Outcome.Refused("error", e.toString(), Duration.ZERO), clock.instant());
            again.accept(decided.name());
        }
    }

    private void tell(CachedNode node, DrainState drain, PodPlan plan) throws InterruptedException {
        PodView pod = plan.pod();
        String signal = pod.checkpoint().map(Checkpoint::signal).orElse("");
        try {
            log.pod(node, "signal", plan.reason(), pod, clock.instant());
            var unused = signals.ask(node.name(), pod.uid(), signal);
            tally.asked("signalled");
            drain.told(pod.uid());
            log.pod(node, "signalled", "", pod, clock.instant());
        } catch (ApiException e) {
            tally.asked("unsignalled");
            // Nobody reports of this node, or it is no signal.
            boolean never = e.notFound() || e.invalid();
            Duration least = Duration.ofSeconds(Math.min(e.retryAfterSeconds(), 60));
            drain.untold(pod.uid(), signal + " cannot be sent: " + e.answer(), never, least, clock.instant());
            log.pod(node, "refused", signal + ": " + e.answer(), pod, clock.instant());
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        try {
            var unused = threads.awaitTermination(2, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
