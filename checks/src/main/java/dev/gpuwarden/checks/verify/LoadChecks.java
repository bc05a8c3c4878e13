package dev.gpuwarden.checks.verify;

import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.Sources;
import dev.gpuwarden.checks.access.LimitedAccess;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The checks with a load on GPUs that run for a verification alone, as they run after a reset.
 *
 * @param plan those that the daemon does not run by itself; may be empty
 * @param refusal why no GPU may get work now; empty if it may
 */
public record LoadChecks(CheckPlan plan, CheckEnvironment around, Supplier<Optional<Refusal>> refusal) {

    private static final Refusal OTHERS = new Refusal("not-repaired", "the GPU was not repaired, so it gets no work");

    /** Returns the checks. */
    List<CheckInfo> checks() {
        return plan.planned().stream().map(CheckPlan.Planned::info).toList();
    }

    /** Runs each of these checks once, on these GPUs alone. Blocks, up to some minutes. */
    List<CheckResult> run(Set<String> ids, Predicate<GpuSnapshot> gpus) {
        GpuAccess usual = refusal.get()
                .<GpuAccess>map(why -> (check, load, asked) ->
                        asked.stream().<GpuAccess.Answer>map(gpu -> why).toList())
                .orElseGet(() -> GpuAccess.of(around.sources().get(GpuAccess.class)));
        GpuAccess limited = new LimitedAccess(usual, gpus, OTHERS);
        Sources sources = around.sources().with(GpuAccess.class, () -> Reading.of(limited));
        return CheckRunner.once(plan.only(ids::contains), around.with(sources), RunListener.NONE);
    }
}
