package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.EachGpu;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;

/** A check that evaluates each GPU that answers, one at a time. */
abstract class GpuCheck implements HealthCheck {

    @Override
    public final List<Finding> run(CheckContext context) {
        return EachGpu.answering(context.node(), gpu -> finding(gpu, context));
    }

    final Finding finding(GpuSnapshot gpu, CheckContext context) {
        FindingBuilder builder = new FindingBuilder(gpu, context);
        evaluate(builder);
        return builder.finding();
    }

    /** Adds the parts of one GPU's finding. */
    abstract void evaluate(FindingBuilder builder);
}
