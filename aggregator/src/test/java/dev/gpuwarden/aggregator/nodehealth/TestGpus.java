package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.core.node.ReportedGpus;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;

/** Lists of a node's GPUs, by index, from the UUIDs of its reset units. */
public final class TestGpus {

    private TestGpus() {}

    /** Returns the list of a node with these reset units, and no other GPU. */
    @SafeVarargs
    public static ReportedGpus units(List<String>... units) {
        List<ReportedGpus.Gpu> all = new ArrayList<>();
        for (List<String> unit : units) {
            for (String uuid : unit) {
                SortedSet<String> others = new TreeSet<>(unit);
                others.remove(uuid);
                all.add(new ReportedGpus.Gpu(all.size(), Optional.empty(), Optional.of(uuid), Optional.of(others)));
            }
        }
        return new ReportedGpus(all);
    }

    /** Returns the list of a node with these GPUs, whose reset units are unknown. */
    public static ReportedGpus ofUnknownUnits(String... uuids) {
        List<ReportedGpus.Gpu> all = new ArrayList<>();
        for (String uuid : uuids) {
            all.add(new ReportedGpus.Gpu(all.size(), Optional.empty(), Optional.of(uuid), Optional.empty()));
        }
        return new ReportedGpus(all);
    }

    /** Returns the same list, which has no room for one GPU more. */
    public static ReportedGpus cut(ReportedGpus list) {
        return new ReportedGpus(list.gpus(), OptionalLong.of(1));
    }
}
