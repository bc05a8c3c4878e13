package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.testkit.scenario.ProcessOwner.OwnerReader;
import dev.gpuwarden.testkit.scenario.YamlNode.Fields;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A process that holds GPUs.
 *
 * @param gpus each of them with `bytes`
 * @param mig the partition of each GPU that it runs in; empty for none
 * @param bytes per GPU; empty: the driver returns NOT_SUPPORTED
 * @param smPercent empty: the driver has no utilisation sample
 * @param inProc false: the node's /proc does not contain it, as in a foreign PID namespace
 * @param startedAgo time between its start and the node's start
 */
public record SimProcess(
        int pid,
        List<Integer> gpus,
        OptionalInt mig,
        Type type,
        OptionalLong bytes,
        OptionalInt smPercent,
        String command,
        Duration startedAgo,
        boolean inProc,
        ProcessOwner owner) {

    /** The kind of use of the GPU, in the order of the table's constants. */
    public enum Type {
        COMPUTE,
        GRAPHICS,
        MPS
    }

    static final int MAX_PID = 4_194_304;
    private static final int MAX_COUNT = 4096;
    private static final Pattern COMMAND = Pattern.compile("[^\\x00]{1,127}");

    /** Reads one entry, which may stand for many equal processes with consecutive pids. */
    static List<SimProcess> read(YamlNode node, int gpuCount) {
        Fields f = node.fields(
                "pid",
                "count",
                "gpu",
                "mig",
                "type",
                "bytes",
                "sm",
                "command",
                "started",
                "proc",
                "pod",
                "container",
                "unit",
                "slurm",
                "cgroup");
        int pid = f.require("pid").integer(2, MAX_PID);
        int count = f.integer("count", 1, 1, MAX_COUNT);
        List<SimProcess> processes = new ArrayList<>();
        for (int n = 0; n < count; n++) {
            processes.add(new SimProcess(
                    pid + n,
                    gpus(f.require("gpu"), gpuCount),
                    f.read("mig", OptionalInt.empty(), mig -> OptionalInt.of(mig.integer(0, 6))),
                    f.choice("type", Type.COMPUTE),
                    bytes(f.require("bytes")),
                    f.read("sm", OptionalInt.empty(), sm -> OptionalInt.of(sm.integer(0, 100))),
                    f.read(
                            "command",
                            "/usr/bin/python3",
                            command -> command.matching(COMMAND, "a command of at most 127 characters")),
                    f.read("started", Duration.ofHours(1), YamlNode::duration),
                    f.read("proc", true, YamlNode::flag),
                    OwnerReader.read(f, n)));
        }
        return processes;
    }

    /** Reads a size; empty for "absent". */
    static OptionalLong bytes(YamlNode node) {
        return node.value(Form.of("bytes")) instanceof Value.Numbers n
                ? OptionalLong.of(n.numbers().get(0))
                : OptionalLong.empty();
    }

    private static List<Integer> gpus(YamlNode node, int gpuCount) {
        return node.is("all")
                ? IntStream.range(0, gpuCount).boxed().toList()
                : node.oneOrMore().stream()
                        .map(item -> SimGpu.index(item, gpuCount))
                        .distinct()
                        .toList();
    }
}
