package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.scenario.Problems.Problem;
import dev.gpuwarden.testkit.scenario.YamlNode.Fields;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads changes. `set:` of a scenario, its timeline and `gpuwarden sim set` have one syntax:
 * `gpu.3.temperature`, `gpu.all.state`, `nic.2.state`, `node.cuda-version`, `fault.NAME`, `process.4242`, `process.4242.bytes`.
 */
public record ChangeReader(Vocabulary vocabulary, int gpuCount, int nicCount) {

    private static final Pattern PATH = Pattern.compile("(gpu|nic|node|fault|process)\\.(.+)");
    private static final Pattern NUMBERED = Pattern.compile("(\\d{1,2}|all)\\.(.+)");
    private static final Pattern PROCESS = Pattern.compile("(\\d{1,7})(\\.bytes)?");

    /**
     * Reads one change of a running node.
     *
     * @param value as YAML; `{hang: yes, gpu: 5}` for a fault
     * @throws UserError when the key or the value does not exist
     */
    public List<Change> read(String key, String value) {
        Problems problems = new Problems();
        List<Change> changes = new ArrayList<>();
        problems.in(() -> {
            YamlNode node =
                    YamlNode.parse(key, key, value).orElseThrow(() -> new Problem(key, key, "a value", "nothing"));
            changes.addAll(read(YamlNode.given(key, "set", key), key, node.named(key)));
        });
        problems.raise();
        return changes;
    }

    /** Reads a mapping of paths to values. */
    List<Change> readAll(YamlNode mapping) {
        List<Change> changes = new ArrayList<>();
        for (YamlNode.Entry entry : mapping.entries()) {
            changes.addAll(read(entry.key(), entry.name(), entry.value().named(entry.name())));
        }
        return changes;
    }

    /** @param key its place */
    private List<Change> read(YamlNode key, String name, YamlNode value) {
        Matcher path = PATH.matcher(name);
        if (!path.matches()) {
            throw key.problem("gpu.N.KEY, nic.N.KEY, node.KEY, fault.NAME or process.PID", quoted(name));
        }
        String rest = path.group(2);
        return switch (path.group(1)) {
            case "gpu" -> {
                Numbered gpu = numbered(key, name, "gpu", "a GPU", gpuCount, rest);
                yield List.of(new Change.SetGpu(gpu.index, Keys.GPU.setting(gpu.key, gpu.name, value)));
            }
            case "nic" -> {
                Numbered nic = numbered(key, name, "nic", "a network device", nicCount, rest);
                yield List.of(new Change.SetNic(nic.index, Keys.NIC.setting(nic.key, nic.name, value)));
            }
            case "node" -> List.of(new Change.SetNode(Keys.NODE.setting(key.named("node"), rest, value)));
            case "fault" ->
                List.of(
                        value.is("clear")
                                ? new Change.ClearFault(rest)
                                : new Change.PutFault(Fault.read(value, rest, vocabulary, gpuCount)));
            default -> List.of(process(key, name, rest, value));
        };
    }

    /** A key of one of several things, or of all of them. */
    private record Numbered(int index, YamlNode key, String name) {}

    private static Numbered numbered(YamlNode key, String name, String kind, String expected, int count, String rest) {
        Matcher m = NUMBERED.matcher(rest);
        if (!m.matches()) {
            throw key.problem(kind + ".N.KEY or " + kind + ".all.KEY", quoted(name));
        }
        int index = m.group(1).equals("all") ? Fault.EVERY_GPU : Integer.parseInt(m.group(1));
        if (index >= count) {
            throw key.problem(expected + " below " + count, quoted(name));
        }
        return new Numbered(index, key.named(kind + "." + m.group(1)), m.group(2));
    }

    private static String quoted(String name) {
        return "\"" + name + "\"";
    }

    private static Change process(YamlNode key, String name, String rest, YamlNode value) {
        Matcher m = PROCESS.matcher(rest);
        if (!m.matches()) {
            throw key.problem("process.PID or process.PID.bytes", quoted(name));
        }
        int pid = Integer.parseInt(m.group(1));
        if (m.group(2) != null) {
            return new Change.SetMemory(pid, SimProcess.bytes(value));
        }
        if (value.is("stop")) {
            return new Change.Stop(pid);
        }
        throw value.problem("stop; a new process is started with `start`");
    }

    /** Reads `set`, `fault`, `clear`, `start` and `stop`. */
    List<Change> changes(Fields f) {
        List<Change> changes = new ArrayList<>();
        f.get("set").ifPresent(set -> changes.addAll(readAll(set)));
        each(f, "fault", fault -> changes.add(new Change.PutFault(named(fault))));
        each(f, "clear", name -> changes.add(new Change.ClearFault(name.text())));
        each(
                f,
                "start",
                process -> SimProcess.read(process, gpuCount).forEach(one -> changes.add(new Change.Start(one))));
        each(f, "stop", pid -> changes.add(new Change.Stop(pid.integer(2, SimProcess.MAX_PID))));
        return changes;
    }

    /** Reads `kernel`, `user` and `storm`. */
    List<Change> logs(Fields f) {
        List<Change> changes = new ArrayList<>();
        f.get("kernel").ifPresent(lines -> changes.add(new Change.Log(false, LineText.read(lines, gpuCount))));
        f.get("user").ifPresent(lines -> changes.add(new Change.Log(true, LineText.read(lines, gpuCount))));
        f.get("storm").ifPresent(storm -> changes.addAll(KernelStorm.read(storm, gpuCount)));
        return changes;
    }

    private static void each(Fields f, String key, Consumer<YamlNode> reader) {
        f.get(key).ifPresent(node -> node.oneOrMore().forEach(reader));
    }

    private Fault named(YamlNode node) {
        Fault fault = Fault.read(node, "", vocabulary, gpuCount);
        if (fault.name().isEmpty()) {
            throw node.problem("a name, so that it can be cleared");
        }
        return fault;
    }
}
