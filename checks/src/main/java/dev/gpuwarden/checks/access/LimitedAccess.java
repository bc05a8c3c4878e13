package dev.gpuwarden.checks.access;

import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;

/**
 * The permission to give work to some GPUs alone. Others may have tenants, and are not even requested.
 *
 * @param others the answer for the others
 */
public record LimitedAccess(GpuAccess usual, Predicate<GpuSnapshot> wanted, Refusal others) implements GpuAccess {

    @Override
    public List<Answer> request(String check, GpuLoad load, List<GpuSnapshot> gpus) {
        List<GpuSnapshot> mine = gpus.stream().filter(wanted).toList();
        Iterator<Answer> answers = usual.request(check, load, mine).iterator();
        return gpus.stream()
                .map(gpu -> mine.contains(gpu) ? answers.next() : others)
                .toList();
    }

    @Override
    public void failed(int code) {
        usual.failed(code);
    }
}
