package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.checks.LastingState;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.GpuAnswers;
import dev.gpuwarden.core.health.GpuAnswers.Earlier;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Checks that GPUs answer. A GPU of which every call fails has a fault after a minute. One that never answered in this boot has
 * it when the node is no longer young.
 */
@AutoService(HealthCheck.class)
public final class GpuStateCheck implements HealthCheck {

    /** Other causes of errors, such as a driver that is being replaced, are over in less. */
    static final Duration UNREADABLE = Duration.ofMinutes(1);

    @Override
    public CheckInfo info() {
        return CheckInfo.of(
                "gpu-state", "GPU", "Each GPU answers: it is not hung, lost, unreadable, gone or in need of a reset.");
    }

    @Override
    public List<Finding> run(CheckContext context) {
        PartNames names = PartNames.of(context.node());
        return context.node().gpus().stream()
                .map(gpu -> GpuAnswers.judge(gpu, earlier(gpu, context), names))
                .toList();
    }

    /** Keeps, by GPU, the state of its fault and whether it answered, until the node boots; and since when it is unreadable. */
    private Earlier earlier(GpuSnapshot gpu, CheckContext context) {
        String label = gpu.identity().label();
        Map<String, Long> boot = context.bootNotes();
        String fault = "fault " + label;
        String answered = "answered " + label;
        String unreadable = "unreadable " + label;
        if (GpuAnswers.answers(gpu)) {
            boot.remove(fault);
            boot.put(answered, 1L);
        } else if (gpu.state() == GpuState.LOST || gpu.state() == GpuState.HUNG) {
            boot.put(fault, gpu.state() == GpuState.LOST ? 1L : 0L);
        }
        if (gpu.state() != GpuState.UNREADABLE) {
            LastingState.over(context.notes(), unreadable);
            return Earlier.NONE;
        }
        Duration lasted = LastingState.seen(context.notes(), unreadable, context.now(), info().every());
        boolean waits = !boot.containsKey(answered) && context.young().isPresent();
        Long before = boot.get(fault);
        GpuState last = before == null ? GpuState.STARTING : before == 1 ? GpuState.LOST : GpuState.HUNG;
        return new Earlier(last, !waits && lasted.compareTo(UNREADABLE) >= 0);
    }
}
