package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests;
import dev.gpuwarden.aggregator.pods.PodEviction;
import dev.gpuwarden.aggregator.pods.PodEviction.Outcome;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.aggregator.pods.PodView.Checkpoint;
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

/**
 * The executor of evictions, deletions and signal requests, many at the same time. Each has an audit record before and after.
 * Pods of a node that was released after the decision stay. Thread-safe.
 */
final class PodEvictor implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(PodEvictor.class.getName());

    /** The number of threads, each of which waits for one answer. */
    private static final int THREADS = 32;

    /** The last check of a node before an act on one of its pods. Blocks. */
    interface Recheck {
        /** Returns the Node as it is now; empty if its pods need not leave any more. */
        Optional<CachedNode> again(CachedNode decided) throws ApiException, InterruptedException;
    }

    private final PodEviction removal;
    private final SignalRequests signals;
    private final Clock clock;
    private final DrainAuditLog log;
    private final DrainMetrics metrics;
    private final Consumer<String> again;
    private final BooleanSupplier open;
    private final Recheck recheck;
    private final ExecutorService threads =
            Executors.newFixedThreadPool(THREADS, Threads.daemon("gpuwarden-drain-pod"));

    /**
     * @param open true while this replica leads
     * @param recheck last check before each act
     */
    PodEvictor(
            PodEviction removal,
            SignalRequests signals,
            Clock clock,
            DrainAuditLog log,
            DrainMetrics metrics,
            Consumer<String> again,
            BooleanSupplier open,
            Recheck recheck) {
        this.removal = removal;
        this.signals = signals;
        this.clock = clock;
        this.log = log;
        this.metrics = metrics;
        this.again = again;
        this.open = open;
        this.recheck = recheck;
    }

    /** Submits the step of a pod. Does not block. */
    void submit(CachedNode node, DrainState drain, PodPlan plan) {
        try {
            threads.execute(() -> remove(node, drain, plan));
        } catch (RejectedExecutionException e) {
            drain.givenUp(plan.pod().uid());
        }
    }

    /** Removes the signal requests of a node's pods. Does not block. */
    void withdrawSignals(String node) {
        try {
            threads.execute(() -> {
                try {
                    signals.forget(node);
                } catch (ApiException e) {
                    // A later drain ignores requests of this one.
                    LOG.log(Level.INFO, "signals for pods of " + node + " stay in its NodeHealth: " + e.getMessage());
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        } catch (RejectedExecutionException e) {
            // The program stops; the end of the next drain removes the requests.
        }
    }

    private void remove(CachedNode decided, DrainState drain, PodPlan plan) {
        PodView pod = plan.pod();
        try {
            // The node may have been released since the decision, or the reason may be over.
            Optional<CachedNode> node = recheck.again(decided);
            if (!open.getAsBoolean() || drain.isClosed() || node.isEmpty()) {
                drain.givenUp(pod.uid());
                return;
            }
            if (!plan.isDue(clock.instant())) {
                // The read has shown that the clock of the decision was ahead.
                drain.givenUp(pod.uid());
                again.accept(decided.name());
                return;
            }
            if (plan.step() == Step.SIGNAL) {
                requestSignal(node.get(), drain, plan);
                again.accept(decided.name());
                return;
            }
            boolean deletes = plan.step() == Step.DELETE;
            log.pod(node.get(), deletes ? "delete" : "evict", plan.reason(), pod, clock.instant());
            Outcome outcome = deletes ? removal.delete(pod) : removal.evict(pod);
            metrics.pods.add(outcome.kind());
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
        } catch (ApiException e) {
            Outcome unknown = new Outcome.Refused("error", "the node cannot be read: " + e.getMessage(), Duration.ZERO);
            drain.answered(pod.uid(), unknown, clock.instant());
            again.accept(decided.name());
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "pod " + pod.path() + " of node " + decided.name() + ": the request for it failed", e);
            drain.answered(pod.uid(), new Outcome.Refused("error", e.toString(), Duration.ZERO), clock.instant());
            again.accept(decided.name());
        }
    }

    private void requestSignal(CachedNode node, DrainState drain, PodPlan plan) throws InterruptedException {
        PodView pod = plan.pod();
        String signal = pod.checkpoint().map(Checkpoint::signal).orElse("");
        try {
            log.pod(node, "signal", plan.reason(), pod, clock.instant());
            var unused = signals.ask(node.name(), pod.uid(), signal);
            metrics.pods.add("signalled");
            drain.requested(pod.uid());
            log.pod(node, "signalled", "", pod, clock.instant());
        } catch (ApiException e) {
            metrics.pods.add("unsignalled");
            // The node has no NodeHealth, or the signal is not valid.
            boolean never = e.notFound() || e.invalid();
            Duration least = Duration.ofSeconds(Math.min(e.retryAfterSeconds(), 60));
            drain.unsent(pod.uid(), signal + " cannot be sent: " + e.answer(), never, least, clock.instant());
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
