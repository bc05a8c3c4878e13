package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;

/** The attribution of a GPU's memory to owners, and the rest without an owner. Linear in the number of processes. */
public final class MemoryAttribution {

    private MemoryAttribution() {}

    /**
     * Returns the owners of the memory.
     *
     * @param memory of the whole GPU
     * @param processes as the driver lists them, over all partitions and kinds of use; one process may occur twice
     * @param facts by pid
     */
    public static GpuMemoryUse attribute(
            GpuIdentity gpu, GpuMemory memory, Reading<List<GpuProcess>> processes, IntFunction<ProcessFacts> facts) {
        if (processes instanceof Reading.Absent<List<GpuProcess>> none) {
            Reading<Long> unknown = none.map(list -> 0L);
            return new GpuMemoryUse(gpu, none.map(list -> List.of()), memory.used(), unknown, unknown);
        }
        Collection<GpuProcess> distinct =
                distinct(processes.asOptional().orElseThrow()).values();
        List<MemoryUse> uses = new ArrayList<>(distinct.size());
        for (GpuProcess process : distinct) {
            ProcessFacts known = facts.apply(process.pid());
            uses.add(new MemoryUse(process, known.startTicks(), known.command(), known.owner()));
        }
        Reading<Long> difference = difference(memory.clients(), distinct);
        return new GpuMemoryUse(
                gpu,
                Reading.of(List.copyOf(uses)),
                memory.used(),
                difference.map(bytes -> Math.max(0, bytes)),
                difference.map(bytes -> Math.max(0, -bytes)));
    }

    private static Reading<Long> difference(Reading<Long> clientBytes, Collection<GpuProcess> processes) {
        long sum = 0;
        int silent = 0;
        Optional<Reading.Absent<Long>> first = Optional.empty();
        for (GpuProcess process : processes) {
            if (process.usedBytes() instanceof Reading.Present<Long> bytes) {
                sum += bytes.value();
            } else if (process.usedBytes() instanceof Reading.Absent<Long> absent) {
                first = first.isEmpty() ? Optional.of(absent) : first;
                silent++;
            }
        }
        if (first.isPresent() && clientBytes instanceof Reading.Present<Long>) {
            String detail = "memory of " + silent + " of " + processes.size() + " processes";
            return Reading.absent(first.get().cause(), first.get().code(), detail);
        }
        long claimed = sum;
        return clientBytes.map(bytes -> bytes - claimed);
    }

    /**
     * Returns one row per process and partition. The driver lists a process that computes and draws twice, with the
     * same memory.
     */
    private static Map<Key, GpuProcess> distinct(List<GpuProcess> processes) {
        Map<Key, GpuProcess> rows = new LinkedHashMap<>();
        for (GpuProcess process : processes) {
            rows.merge(Key.of(process), process, MemoryAttribution::merge);
        }
        // A partitioned GPU may list a process a second time for the whole board, without a partition.
        for (GpuProcess process : processes) {
            if (process.gpuInstance() instanceof Reading.Present<Integer>) {
                rows.remove(new Key(process.pid(), WHOLE, WHOLE));
            }
        }
        return rows;
    }

    private static GpuProcess merge(GpuProcess a, GpuProcess b) {
        GpuProcess.Type type = a.type() == GpuProcess.Type.GRAPHICS ? b.type() : a.type();
        return new GpuProcess(
                a.pid(), type, larger(a.usedBytes(), b.usedBytes()), a.gpuInstance(), a.computeInstance());
    }

    private static Reading<Long> larger(Reading<Long> a, Reading<Long> b) {
        if (a instanceof Reading.Present<Long> x && b instanceof Reading.Present<Long> y) {
            return x.value() >= y.value() ? a : b;
        }
        return a instanceof Reading.Present<Long> ? a : b;
    }

    private static final int WHOLE = -1;

    private record Key(int pid, int gpuInstance, int computeInstance) {
        static Key of(GpuProcess process) {
            return new Key(
                    process.pid(),
                    process.gpuInstance().asOptional().orElse(WHOLE),
                    process.computeInstance().asOptional().orElse(WHOLE));
        }
    }

    /** Returns the facts of a process that was not looked up. */
    public static ProcessFacts unknown(String cause) {
        return new ProcessFacts(
                Reading.absent(Absence.NO_DATA, 0, cause),
                Reading.absent(Absence.NO_DATA, 0, cause),
                new Owner.Unknown(cause));
    }
}
