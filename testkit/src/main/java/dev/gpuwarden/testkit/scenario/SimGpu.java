package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.testkit.scenario.YamlNode.Fields;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * One GPU of a scenario.
 *
 * @param settings beyond the board's own, in order
 * @param partitions empty when not in MIG mode
 */
public record SimGpu(Board board, List<Setting> settings, List<MigProfile> partitions) {
    /** The largest number of GPUs that the simulator's table holds. */
    static final int MAX_GPUS = 64;

    private static final int COMPUTE_SLICES = 7;
    private static final int MEMORY_SLICES = 8;

    /** Reads a group of equal GPUs. */
    static List<SimGpu> read(YamlNode group) {
        Fields f = group.fields("profile", "count", "set", "mig");
        YamlNode profile = f.require("profile");
        Board board = Boards.find(profile.text()).orElseThrow(() -> profile.unknown("a board", Boards.names()));
        List<Setting> settings = f.read("set", List.of(), Keys.GPU::settings);
        List<MigProfile> partitions = f.read("mig", List.of(), mig -> partitions(mig, board));
        return Collections.nCopies(f.integer("count", 1, 1, MAX_GPUS), new SimGpu(board, settings, partitions));
    }

    /** Reads the index of a GPU that the scenario has. */
    static int index(YamlNode node, int gpuCount) {
        if (gpuCount == 0) {
            throw node.problem("no GPU, since the scenario has none");
        }
        return node.integer(0, gpuCount - 1);
    }

    private static List<MigProfile> partitions(YamlNode mig, Board board) {
        List<MigProfile> partitions = new ArrayList<>();
        int slices = 0;
        int memorySlices = 0;
        for (YamlNode item : mig.items()) {
            MigProfile profile = board.mig().get(item.text());
            if (profile == null) {
                throw item.unknown("a partition of " + board.name(), board.mig().keySet());
            }
            slices += profile.slices();
            memorySlices += profile.memorySlices();
            if (slices > COMPUTE_SLICES || memorySlices > MEMORY_SLICES) {
                throw item.problem(
                        "partitions of " + COMPUTE_SLICES + " compute and " + MEMORY_SLICES + " memory slices in all");
            }
            partitions.add(profile);
        }
        return partitions;
    }
}
