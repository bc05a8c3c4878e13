package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The share of one owner in one GPU's memory.
 *
 * @param bytes absent where the driver does not report the memory of one of the processes
 * @param processes their number
 */
public record MemoryShare(Owner owner, Reading<Long> bytes, int processes) {

    private static final Owner PODS = new Owner.Unit("(pods)");
    private static final Owner CONTAINERS = new Owner.Unit("(containers)");

    /** Returns shares by pod; processes outside a pod are listed individually. Empty where the processes are unknown. */
    public static List<MemoryShare> byPod(GpuMemoryUse gpu) {
        return group(gpu, MemoryShare::pod);
    }

    /**
     * Returns shares by container, in pods or not; processes outside a container are listed individually. Empty where
     * the processes are unknown.
     */
    public static List<MemoryShare> byContainer(GpuMemoryUse gpu) {
        return group(gpu, owner -> owner);
    }

    /**
     * Returns shares by unit and job; all pods are one share, and all other containers are one. Empty where the
     * processes are unknown.
     */
    public static List<MemoryShare> byUnit(GpuMemoryUse gpu) {
        return group(gpu, owner -> {
            if (owner instanceof Owner.Pod) {
                return PODS;
            }
            return owner instanceof Owner.Container ? CONTAINERS : owner;
        });
    }

    private static Owner pod(Owner owner) {
        if (!(owner instanceof Owner.Pod pod)) {
            return owner;
        }
        Reading<String> all = Reading.absent(Absence.NO_DATA, 0, "all containers");
        return new Owner.Pod(pod.uid(), pod.namespace(), pod.name(), all, all);
    }

    private static List<MemoryShare> group(GpuMemoryUse gpu, Function<Owner, Owner> by) {
        Map<Owner, Sum> sums = new LinkedHashMap<>();
        for (MemoryUse use : gpu.uses().asOptional().orElse(List.of())) {
            sums.computeIfAbsent(by.apply(use.owner()), owner -> new Sum()).add(use.usedBytes());
        }
        List<MemoryShare> shares = new ArrayList<>(sums.size());
        sums.forEach((owner, sum) -> shares.add(new MemoryShare(owner, sum.bytes, sum.processes)));
        return shares;
    }

    private static final class Sum {
        private Reading<Long> bytes = Reading.of(0L);
        private int processes;

        void add(Reading<Long> more) {
            processes++;
            if (bytes instanceof Reading.Present<Long> sofar) {
                bytes = more.map(value -> value + sofar.value());
            }
        }
    }
}
