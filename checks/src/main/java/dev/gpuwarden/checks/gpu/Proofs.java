package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The proofs of one measurement of some GPUs before its check ends, and its wrong results that were counted. A check that measures once
 * more begins with others: a second measurement replaces the first, but not what the first has proven. For the thread of the check alone.
 */
final class Proofs {

    private final CheckContext context;
    private final Map<GpuSnapshot, Map<String, Integer>> counted = new HashMap<>();
    private final Map<GpuSnapshot, Finding> proven = new HashMap<>();

    Proofs(CheckContext context) {
        this.context = context;
    }

    /** Returns a builder of the GPU's finding, which counts no wrong result of this measurement again. */
    FindingBuilder builder(GpuSnapshot gpu) {
        return new FindingBuilder(gpu, context, counted.computeIfAbsent(gpu, any -> new HashMap<>()));
    }

    /**
     * Reports what the rest of the check cannot change for a GPU. A fault is reported once, however often it is seen.
     *
     * @param judge adds the parts that stand; none if there are none
     */
    void add(GpuSnapshot gpu, Consumer<FindingBuilder> judge) {
        FindingBuilder builder = builder(gpu);
        judge.accept(builder);
        if (!builder.isEmpty()) {
            Finding proof = builder.finding();
            Finding before = proven.put(gpu, proof);
            if (before == null || before.outcome() != proof.outcome()) {
                context.proven(proof);
            }
        }
    }
}
