package dev.gpuwarden.testkit.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Reads processes; one entry may stand for many. */
final class ProcessReader {

    static final int MAX_PID = 4_194_304;
    private static final Pattern COMMAND = Pattern.compile("[^\\x00]{1,127}");

    private ProcessReader() {}

    static List<SimProcess> read(Yaml yaml, String subject, int gpuCount) {
        Fields f = new Fields(
                yaml,
                subject,
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
        int pid = Fields.number(f.require("pid"), f.subject("pid"), 2, MAX_PID);
        int count = f.number("count", 1, 1, 4096);
        List<SimProcess> processes = new ArrayList<>();
        for (int n = 0; n < count; n++) {
            processes.add(one(f, pid + n, n, gpuCount));
        }
        return processes;
    }

    private static SimProcess one(Fields f, int pid, int number, int gpuCount) {
        return new SimProcess(
                pid,
                gpus(f.require("gpu"), f.subject("gpu"), gpuCount),
                f.get("mig").isPresent() ? OptionalInt.of(f.number("mig", 0, 0, 6)) : OptionalInt.empty(),
                f.choice("type", SimProcess.Type.COMPUTE, SimProcess.Type.class),
                bytes(f.require("bytes"), f.subject("bytes")),
                f.get("sm").isPresent() ? OptionalInt.of(f.number("sm", 0, 0, 100)) : OptionalInt.empty(),
                f.matching("command", "/usr/bin/python3", COMMAND, "a command of at most 127 characters"),
                f.duration("started", Duration.ofHours(1)),
                f.flag("proc", true),
                OwnerReader.read(f, number));
    }

    static OptionalLong bytes(Yaml yaml, String subject) {
        Value value = Fields.parse(yaml, subject, Form.of("bytes"));
        return value instanceof Value.Numbers n ? OptionalLong.of(n.numbers().get(0)) : OptionalLong.empty();
    }

    private static List<Integer> gpus(Yaml yaml, String subject, int gpuCount) {
        if (yaml.isScalar() && yaml.text(subject).equals("all")) {
            return IntStream.range(0, gpuCount).boxed().toList();
        }
        return yaml.oneOrMore(subject).stream()
                .map(item -> gpu(item, subject, gpuCount))
                .distinct()
                .toList();
    }

    /** The index of a GPU that the scenario has. */
    static int gpu(Yaml yaml, String subject, int gpuCount) {
        if (gpuCount == 0) {
            throw yaml.problem(subject, "no GPU, since there is none");
        }
        return Fields.number(yaml, subject, 0, gpuCount - 1);
    }
}
