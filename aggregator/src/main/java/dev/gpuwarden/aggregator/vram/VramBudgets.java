package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.cli.run.Closer;
import java.time.Clock;
import java.util.Optional;

/** All parts of VRAM budgets on this replica. None of them needs a leader. Thread-safe. */
public final class VramBudgets implements AutoCloseable {

    private final Closer parts = new Closer();
    private final VramMetrics metrics = new VramMetrics();
    private final VramNodes nodes;
    private final Optional<WaitingPods> waiting;

    private VramBudgets(KubeClient api, NodeCache cache, VramSettings settings, Clock clock, WaitingPods.Times times) {
        VramEvents events = new VramEvents(api, clock);
        this.nodes = parts.add(new VramNodes(api, cache, settings, events, metrics));
        BudgetedNodes budgeted = new BudgetedNodes(settings.resource(), this::nodesChanged);
        // Without --vram.capacity this program may lack the right to Events.
        this.waiting = settings.waiting() && settings.advertises()
                ? Optional.of(parts.add(new WaitingPods(
                        api, settings.resource(), budgeted::all, events, metrics, clock, System::nanoTime, times)))
                : Optional.empty();
        budgeted.follow(cache);
    }

    /** Starts all parts. Does not block. */
    public static VramBudgets start(KubeClient api, NodeCache cache, VramSettings settings, Clock clock) {
        return start(api, cache, settings, clock, WaitingPods.Times.DEFAULT);
    }

    /** @param times times of the Events of pods that wait */
    public static VramBudgets start(
            KubeClient api, NodeCache cache, VramSettings settings, Clock clock, WaitingPods.Times times) {
        return new VramBudgets(api, cache, settings, clock, times);
    }

    private void nodesChanged() {
        waiting.ifPresent(WaitingPods::follow);
    }

    /** Returns the part that serves the nodes which report here. */
    public VramNodes nodes() {
        return nodes;
    }

    public VramMetrics metrics() {
        return metrics;
    }

    /** Returns the number of pods that wait for VRAM; empty if they are not followed. */
    public Optional<Integer> waiting() {
        return waiting.map(WaitingPods::size);
    }

    @Override
    public void close() {
        parts.close();
    }
}
