package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiPredicate;

/** A matcher of the GPUs of a new listing with the known ones. Indexes shift when a GPU falls off the bus; UUIDs do not. */
final class GpuMatcher {

    private GpuMatcher() {}

    /**
     * Returns for each listed GPU its position among the known ones, or -1 for a new one. It compares UUIDs first, then
     * PCI addresses if one side has no UUID (a lost GPU may not report it), then indexes if one side has neither.
     */
    static int[] match(List<GpuIdentity> known, List<GpuIdentity> listed) {
        int[] result = new int[listed.size()];
        Arrays.fill(result, -1);
        boolean[] taken = new boolean[known.size()];
        List<BiPredicate<GpuIdentity, GpuIdentity>> rules = List.of(
                (a, b) -> same(a.uuid(), b.uuid()),
                (a, b) -> !bothPresent(a.uuid(), b.uuid()) && same(a.pci(), b.pci()),
                (a, b) -> !bothPresent(a.uuid(), b.uuid()) && !bothPresent(a.pci(), b.pci()) && a.index() == b.index());
        for (BiPredicate<GpuIdentity, GpuIdentity> rule : rules) {
            for (int i = 0; i < result.length; i++) {
                for (int j = 0; result[i] < 0 && j < taken.length; j++) {
                    if (!taken[j] && rule.test(known.get(j), listed.get(i))) {
                        result[i] = j;
                        taken[j] = true;
                    }
                }
            }
        }
        return result;
    }

    private static <T> boolean same(Reading<T> a, Reading<T> b) {
        return bothPresent(a, b) && a.equals(b);
    }

    private static <T> boolean bothPresent(Reading<T> a, Reading<T> b) {
        return a instanceof Reading.Present<?> && b instanceof Reading.Present<?>;
    }

    /** Returns the listed identity, completed with earlier values that the GPU no longer reports. */
    static GpuIdentity merge(GpuIdentity before, GpuIdentity now) {
        return new GpuIdentity(
                now.index(),
                better(before.uuid(), now.uuid()),
                better(before.pci(), now.pci()),
                better(before.minor(), now.minor()),
                better(before.name(), now.name()),
                better(before.serial(), now.serial()),
                better(before.vbios(), now.vbios()),
                better(before.boardPart(), now.boardPart()),
                better(before.computeCapability(), now.computeCapability()),
                better(before.numaNode(), now.numaNode()),
                better(before.migMode(), now.migMode()),
                // A GPU that no longer reports its MIG mode keeps its partitions.
                now.migMode() instanceof Reading.Present<?> ? now.mig() : new ArrayList<>(before.mig()),
                better(before.nvlinks(), now.nvlinks()));
    }

    private static <T> Reading<T> better(Reading<T> before, Reading<T> now) {
        return now instanceof Reading.Present<T> ? now : before instanceof Reading.Present<T> ? before : now;
    }
}
