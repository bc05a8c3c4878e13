package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.drain.PodPlan.Step;
import dev.gpuwarden.aggregator.drain.PodRemoval.Outcome;
import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Has pods asked to end, many at once, each recorded before and after; none of a node that was released meanwhile. Thread-safe. */
final class Removals implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Removals.class.getName());

    /** Each waits for one answer. */
    private static final int THREADS = 32;

    private final PodRemoval removal;
    private final Fleet fleet;
    private final Clock clock;
    private final Consumer<DrainAudit> audits;
    private final DrainTally tally;
    private final Consumer<String> again;
    private final BooleanSupplier open;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS, task -> {
        Thread thread = new Thread(task, "gpuwarden-drain-pod");
        thread.setDaemon(true);
        return thread;
    });

    /** @param open whether this replica is the one that acts */
    Removals(
            PodRemoval removal,
            Fleet fleet,
            Clock clock,
            Consumer<DrainAudit> audits,
            DrainTally tally,
            Consumer<String> again,
            BooleanSupplier open) {
        this.removal = removal;
        this.fleet = fleet;
        this.clock = clock;
        this.audits = audits;
        this.tally = tally;
        this.again = again;
        this.open = open;
    }

    /** Does not wait. */
    void submit(NodeRead node, NodeDrain drain, PodPlan plan) {
        try {
            threads.execute(() -> remove(node, drain, plan));
        } catch (RejectedExecutionException e) {
            drain.givenUp(plan.pod().uid());
        }
    }

    private void remove(NodeRead decided, NodeDrain drain, PodPlan plan) {
        PodRead pod = plan.pod();
        try {
            Optional<NodeRead> node = fleet.node(decided.name())
                    .filter(now -> now.uid().equals(decided.uid()))
                    // It may have been released since it was decided.
                    .filter(DrainAsk::drainable);
            if (!open.getAsBoolean() || drain.isClosed() || node.isEmpty()) {
                drain.givenUp(pod.uid());
                return;
            }
            boolean deletes = plan.step() == Step.DELETE;
            audit(node.get(), deletes ? "delete" : "evict", "", pod);
            Outcome outcome = deletes ? removal.delete(pod) : removal.evict(pod);
            tally.asked(outcome.kind());
            if (outcome instanceof Outcome.Refused refused) {
                audit(node.get(), "refused", refused.why(), pod);
            } else {
                audit(node.get(), outcome.kind(), "", pod);
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

    private void audit(NodeRead node, String what, String why, PodRead pod) {
        audits.accept(new DrainAudit(
                clock.instant(),
                node.name(),
                node.uid(),
                node.resourceVersion(),
                false,
                what,
                why,
                List.of(pod.path() + " " + pod.uid()),
                List.of()));
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
