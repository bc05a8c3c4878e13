package dev.gpuwarden.testkit.scenario;

/**
 * A way to partition a board.
 *
 * @param id as `nvidia-smi mig -lgip` numbers it
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
        long memoryBytes) {}
