package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.testkit.scenario.YamlNode.Fields;

/**
 * A kind of partition of a board.
 *
 * @param id number in `nvidia-smi mig -lgip`
 * @param slices compute slices
 * @param memoryBytes frame buffer of the partition
 */
public record MigProfile(
        String name,
        int id,
        int slices,
        int memorySlices,
        int multiprocessors,
        int copyEngines,
        int decoders,
        int jpegs,
        int ofas,
        long memoryBytes) {

    /** Returns the NVML_GPU_INSTANCE_PROFILE number: REV1 has the media engines, REV2 the memory of two. */
    public int number() {
        if (slices == 1) {
            return withMedia() ? 7 : memorySlices == 2 ? 9 : 0;
        }
        return computeNumber();
    }

    /** Returns the NVML_COMPUTE_INSTANCE_PROFILE number, also the id of the compute instance that takes all of the partition. */
    public int computeNumber() {
        return slices == 7 ? 4 : slices - 1;
    }

    /** Returns the number of such partitions that an empty board can hold, as `nvidia-smi mig -lgip` counts them. */
    public int instances() {
        return withMedia() ? 1 : Math.min(7 / slices, 8 / memorySlices);
    }

    private boolean withMedia() {
        return name.endsWith("+me");
    }

    static MigProfile read(String name, YamlNode node) {
        Fields f = node.fields(
                "id",
                "slices",
                "memory-slices",
                "multiprocessors",
                "copy-engines",
                "decoders",
                "jpegs",
                "ofas",
                "memory");
        return new MigProfile(
                name,
                f.integer("id", 0, 0, 99),
                f.integer("slices", 1, 1, 8),
                f.integer("memory-slices", 1, 1, 8),
                f.integer("multiprocessors", 0, 1, 999),
                f.integer("copy-engines", 0, 0, 99),
                f.integer("decoders", 0, 0, 99),
                f.integer("jpegs", 0, 0, 99),
                f.integer("ofas", 0, 0, 99),
                f.require("memory").numbers(Form.of("bytes")).get(0));
    }
}
