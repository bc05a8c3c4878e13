package dev.gpuwarden.testkit.scenario;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Reads groups of like GPUs. */
final class GpuReader {

    /** As many as the simulator's table holds. */
    static final int MAX_GPUS = 64;

    private GpuReader() {}

    static List<SimGpu> read(Yaml group, String subject) {
        Fields f = new Fields(group, subject, "profile", "count", "set", "mig");
        Yaml profile = f.require("profile");
        String name = profile.text(f.subject("profile"));
        Board board = Boards.find(name)
                .orElseThrow(
                        () -> Problem.unknown(profile.place(), f.subject("profile"), "a board", name, Boards.names()));
        List<Setting> settings =
                f.map("set", y -> Settings.read(Keys.GPU, y, f.subject("set"))).orElse(List.of());
        List<MigProfile> partitions =
                f.map("mig", y -> partitions(y, f.subject("mig"), board)).orElse(List.of());
        return Collections.nCopies(f.number("count", 1, 1, MAX_GPUS), new SimGpu(board, settings, partitions));
    }

    private static List<MigProfile> partitions(Yaml yaml, String subject, Board board) {
        List<MigProfile> partitions = new ArrayList<>();
        int slices = 0;
        int memorySlices = 0;
        for (Yaml item : yaml.items(subject)) {
            String name = item.text(subject);
            MigProfile profile = board.mig().get(name);
            if (profile == null) {
                throw Problem.unknown(
                        item.place(),
                        subject,
                        "a partition of " + board.name(),
                        name,
                        board.mig().keySet());
            }
            slices += profile.slices();
            memorySlices += profile.memorySlices();
            if (slices > 7 || memorySlices > 8) {
                throw item.problem(subject, "partitions of 7 compute and 8 memory slices in all");
            }
            partitions.add(profile);
        }
        return partitions;
    }
}
