package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.part.Counts;
import java.util.concurrent.atomic.LongAdder;

/** Counts since the start, for metrics. Thread-safe. */
public final class VramMetrics {

    /** The reconciles of an advertised value, by outcome. */
    public final Counts<String> advertised = new Counts<>();

    /** The requests to end a pod, by outcome. */
    final Counts<String> removals = new Counts<>();

    /** The Events of pods that wait, by outcome. */
    public final Counts<String> waiting = new Counts<>();

    /** The lists of budgets that were sent to nodes. */
    final LongAdder lists = new LongAdder();
}
