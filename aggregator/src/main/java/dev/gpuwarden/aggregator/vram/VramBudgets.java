package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.cli.run.Closer;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;

/** All parts of VRAM budgets on this replica. None of them needs a leader. Thread-safe. */
public final class VramBudgets implements AutoCloseable {

    /**
     * Long waits.
     *
     * @param first time for which a pod waits before its first Event
     * @param again time between two Events of a pod
     * @param settle time after a change of a node before the largest card is compared, and for which an Event waits for a replica
     *     with more reports
     */
    public record Times(Duration first, Duration again, Duration settle) {
        public static final Times DEFAULT =
                new Times(Duration.ofSeconds(30), Duration.ofMinutes(10), Duration.ofSeconds(5));
    }

    private final Closer parts = new Closer();
    private final VramMetrics metrics = new VramMetrics();
    private final VramNodes nodes;
    private final Optional<WaitingPods> waiting;
    private final LargestCard card;

    private VramBudgets(KubeClient api, NodeCache cache, VramSettings settings, Clock clock, Times times) {
        VramEvents events = new VramEvents(api, clock);
        this.nodes = parts.add(new VramNodes(api, cache, settings, events, metrics));
        BudgetedNodes budgeted = new BudgetedNodes(settings.resource(), this::nodesChanged);
        // Without --vram.capacity this program may lack the right to Events.
        this.waiting = settings.waiting() && settings.advertises()
                ? Optional.of(parts.add(new WaitingPods(
                        api,
                        settings.resource(),
                        budgeted::all,
                        nodes::overBudget,
                        events,
                        metrics,
                        clock,
                        System::nanoTime,
                        times)))
                : Optional.empty();
        this.card = parts.add(new LargestCard(api, settings, budgeted::all, clock, times.settle()));
        budgeted.follow(cache);
    }

    /** Starts all parts. Does not block. */
    public static VramBudgets start(KubeClient api, NodeCache cache, VramSettings settings, Clock clock) {
        return start(api, cache, settings, clock, Times.DEFAULT);
    }

    /** Starts all parts with other times than the program's. */
    public static VramBudgets start(KubeClient api, NodeCache cache, VramSettings settings, Clock clock, Times times) {
        return new VramBudgets(api, cache, settings, clock, times);
    }

    private void nodesChanged() {
        waiting.ifPresent(WaitingPods::follow);
        card.nodesChanged();
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
