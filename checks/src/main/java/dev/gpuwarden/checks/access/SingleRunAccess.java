package dev.gpuwarden.checks.access;

import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * The permission of a command that runs checks once: invasive ones get GPUs that were free at the start. The command does
 * not follow their holders; a user who starts it stops it.
 *
 * @param pods the pods that hold GPUs; may block for seconds
 * @param names returns the name of a process for operators
 */
public record SingleRunAccess(Supplier<Reading<GpuHolders>> pods, IntFunction<String> names) implements GpuAccess {

    @Override
    public List<Answer> request(String check, GpuLoad load, List<GpuSnapshot> gpus) {
        if (load != GpuLoad.INVASIVE) {
            return OPEN.request(check, load, gpus);
        }
        Reading<GpuHolders> holders = pods.get();
        long own = ProcessHandle.current().pid();
        return gpus.stream()
                .map(gpu -> Occupancy.of(gpu, holders, pid -> pid == own, names)
                        .<Answer>map(why -> why)
                        .orElseGet(OpenGrant::new))
                .toList();
    }
}
