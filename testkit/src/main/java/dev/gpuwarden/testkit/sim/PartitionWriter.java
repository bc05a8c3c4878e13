package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.scenario.Identity;
import dev.gpuwarden.testkit.scenario.MigProfile;
import dev.gpuwarden.testkit.scenario.SimGpu;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Writes a board's partition profiles and a scenario's partitions. Call within {@link SimTable#change}. */
record PartitionWriter(SimTable table) {

    /**
     * Writes profiles and partitions of a GPU whose other values are in the table.
     *
     * @param row of the GPU, for example "gpu[0]"
     * @param seed of the partitions' UUIDs
     */
    void write(String row, String seed, SimGpu gpu) {
        gpu.board().mig().values().forEach(profile -> writeProfile(row, profile));
        writePartitions(row, seed, gpu.partitions());
    }

    private void writeProfile(String row, MigProfile profile) {
        String at = row + ".mig_profile[" + profile.number() + "]";
        table.set(at + ".id", profile.id());
        table.set(at + ".slices", profile.slices());
        table.set(at + ".instances", profile.instances());
        table.set(at + ".multiprocessors", profile.multiprocessors());
        table.set(at + ".copy_engines", profile.copyEngines());
        table.set(at + ".decoders", profile.decoders());
        table.set(at + ".jpegs", profile.jpegs());
        table.set(at + ".ofas", profile.ofas());
        table.set(at + ".mem_mb", profile.memoryBytes() >> 20);
        table.set(at + ".name", profile.name());
    }

    private void writePartitions(String row, String seed, List<MigProfile> partitions) {
        if (partitions.isEmpty()) {
            return;
        }
        table.set(row + ".mig_current", 1);
        table.set(row + ".mig_pending", 1);
        Map<Integer, Integer> nextInstance = new HashMap<>();
        int start = 0;
        for (int i = 0; i < partitions.size(); i++) {
            MigProfile profile = partitions.get(i);
            int first = firstInstance(profile.slices());
            int instance = first + nextInstance.merge(first, 1, Integer::sum) - 1;
            writePartition(row + ".mig[" + i + "]", profile, instance, start);
            // The share of the aperture is that of the memory.
            table.set(
                    row + ".mig[" + i + "].bar1_total", table.number(row + ".bar1_total") / 8 * profile.memorySlices());
            table.set(row + ".mig[" + i + "].uuid", "MIG-" + Identity.uuid(seed + "/mig/" + i));
            table.set(row + ".mig[" + i + "].name", table.text(row + ".name") + " MIG " + profile.name());
            start += profile.memorySlices();
        }
    }

    /** Returns the driver's first id of instances of a size: 0 the whole, 1 halves, 3 quarters, 7 eighths. */
    private static int firstInstance(int slices) {
        return switch (slices) {
            case 7 -> 0;
            case 3, 4 -> 1;
            case 2 -> 3;
            default -> 7;
        };
    }

    private void writePartition(String mig, MigProfile profile, int instance, int start) {
        table.set(mig + ".present", 1);
        table.set(mig + ".gi", instance);
        table.set(mig + ".ci", 0);
        table.set(mig + ".profile", profile.id());
        table.set(mig + ".ci_profile", profile.computeNumber());
        table.set(mig + ".placement_start", start);
        table.set(mig + ".placement_size", profile.memorySlices());
        table.set(mig + ".mem_total", profile.memoryBytes());
        table.set(mig + ".multiprocessors", profile.multiprocessors());
        table.set(mig + ".copy_engines", profile.copyEngines());
        table.set(mig + ".decoders", profile.decoders());
        table.set(mig + ".jpegs", profile.jpegs());
        table.set(mig + ".ofas", profile.ofas());
        table.set(mig + ".gi_slices", profile.slices());
        table.set(mig + ".ci_slices", profile.slices());
        table.set(mig + ".attribute_mem_mb", profile.memoryBytes() >> 20);
    }
}
