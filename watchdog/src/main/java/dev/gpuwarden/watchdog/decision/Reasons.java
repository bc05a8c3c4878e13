package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.pressure.Pressure;
import dev.gpuwarden.watchdog.pressure.Trigger;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The reasons for pressure in words. */
final class Reasons {

    private Reasons() {}

    /** @param failing workloads whose allocations fail; the other starved ones wait with reservations */
    static String text(GpuBytes memory, Pressure pressure, List<String> failing) {
        return pressure.triggers().stream()
                .sorted()
                .map(trigger -> text(trigger, memory, pressure, failing))
                .collect(Collectors.joining("; "));
    }

    private static String text(Trigger trigger, GpuBytes memory, Pressure pressure, List<String> failing) {
        return switch (trigger) {
            case FLOOR -> Mib.text(memory.free()) + " free, floor " + Mib.text(pressure.floorBytes());
            case DEFICIT ->
                Mib.text(memory.free()) + " free, budgets promise " + Mib.text(pressure.promisedBytes()) + " more";
            case DEMAND -> demand(pressure.starved(), failing);
        };
    }

    private static String demand(List<String> starved, List<String> failing) {
        List<String> waiting =
                starved.stream().filter(workload -> !failing.contains(workload)).toList();
        return Stream.of(
                        failing.isEmpty() ? "" : "failed allocations of " + String.join(", ", failing),
                        waiting.isEmpty() ? "" : "no room for reservations of " + String.join(", ", waiting))
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining("; "));
    }
}
