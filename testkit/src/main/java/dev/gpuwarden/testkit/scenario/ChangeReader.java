package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.cli.UserError;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads changes. One language for `set:` of a scenario, for its timeline and for `gpuwarden sim set`:
 * `gpu.3.temperature`, `gpu.all.state`, `nic.2.state`, `node.cuda-version`, `fault.NAME`, `process.4242`, `process.4242.bytes`.
 */
public final class ChangeReader {

    private static final Pattern PATH = Pattern.compile("(gpu|nic|node|fault|process)\\.(.+)");
    private static final Pattern NUMBERED = Pattern.compile("(\\d{1,2}|all)\\.(.+)");
    private static final Pattern PROCESS = Pattern.compile("(\\d{1,7})(\\.bytes)?");

    private final Vocabulary vocabulary;
    private final int gpuCount;
    private final int nicCount;

    public ChangeReader(Vocabulary vocabulary, int gpuCount, int nicCount) {
        this.vocabulary = vocabulary;
        this.gpuCount = gpuCount;
        this.nicCount = nicCount;
    }

    /**
     * Reads one change of a running node.
     *
     * @param value as YAML; `{hang: yes, gpu: 5}` for a fault
     * @throws UserError if there is no such key or no such value
     */
    public List<Change> read(String key, String value) {
        Problems problems = new Problems();
        List<Change> changes = new ArrayList<>();
        problems.in(() -> {
            Yaml yaml = Yaml.parse(key, value).orElseThrow(() -> new Problem(key, key, "a value", "nothing"));
            changes.addAll(read(new Yaml.Entry(key, key, yaml)));
        });
        problems.raise();
        return changes;
    }

    /** A mapping of paths to values. */
    List<Change> readAll(Yaml mapping, String subject) {
        List<Change> changes = new ArrayList<>();
        for (Yaml.Entry entry : mapping.entries(subject)) {
            changes.addAll(read(entry));
        }
        return changes;
    }

    private List<Change> read(Yaml.Entry entry) {
        Matcher path = PATH.matcher(entry.key());
        if (!path.matches()) {
            throw new Problem(
                    entry.place(),
                    "set",
                    "gpu.N.KEY, nic.N.KEY, node.KEY, fault.NAME or process.PID",
                    "\"" + entry.key() + "\"");
        }
        String rest = path.group(2);
        return switch (path.group(1)) {
            case "gpu" -> List.of(numbered(entry, "gpu", Keys.GPU, gpuCount, rest));
            case "nic" -> List.of(numbered(entry, "nic", Keys.NIC, nicCount, rest));
            case "node" -> List.of(new Change.SetNode(setting(Keys.NODE, entry, "node", rest)));
            case "fault" -> List.of(fault(entry, rest));
            default -> process(entry, rest);
        };
    }

    /** One of several things of a kind, or all of them. */
    private Change numbered(Yaml.Entry entry, String kind, Keys keys, int count, String rest) {
        Matcher m = NUMBERED.matcher(rest);
        if (!m.matches()) {
            throw new Problem(entry.place(), "set", kind + ".N.KEY or " + kind + ".all.KEY", "\"" + entry.key() + "\"");
        }
        int index = m.group(1).equals("all") ? Fault.EVERY_GPU : Integer.parseInt(m.group(1));
        if (index >= count) {
            String what = kind.equals("gpu") ? "a GPU" : "a network device";
            throw new Problem(entry.place(), "set", what + " below " + count, "\"" + entry.key() + "\"");
        }
        Setting setting = setting(keys, entry, kind + "." + m.group(1), m.group(2));
        return kind.equals("gpu") ? new Change.SetGpu(index, setting) : new Change.SetNic(index, setting);
    }

    private static Setting setting(Keys keys, Yaml.Entry entry, String subject, String name) {
        Keys.Match match = keys.find(name)
                .orElseThrow(() -> Problem.unknown(entry.place(), subject, "a known key", name, keys.names()));
        return new Setting(
                match.key(),
                match.element(),
                Fields.parse(entry.value(), entry.key(), match.key().form()));
    }

    /** `clear` instead of a fault ends it. */
    private Change fault(Yaml.Entry entry, String name) {
        if (entry.value().isScalar() && entry.value().text(entry.key()).equals("clear")) {
            return new Change.ClearFault(name);
        }
        return new Change.PutFault(FaultReader.read(entry.value(), entry.key(), name, vocabulary, gpuCount));
    }

    /** `stop`, a size, or what starts a process. */
    private List<Change> process(Yaml.Entry entry, String rest) {
        Matcher m = PROCESS.matcher(rest);
        if (!m.matches()) {
            throw new Problem(entry.place(), "set", "process.PID or process.PID.bytes", "\"" + entry.key() + "\"");
        }
        int pid = Integer.parseInt(m.group(1));
        if (m.group(2) != null) {
            return List.of(new Change.SetMemory(pid, ProcessReader.bytes(entry.value(), entry.key())));
        }
        if (entry.value().isScalar() && entry.value().text(entry.key()).equals("stop")) {
            return List.of(new Change.Stop(pid));
        }
        throw entry.value().problem(entry.key(), "stop; a new process is started with `start`");
    }

    List<Change> start(Yaml yaml, String subject) {
        List<Change> changes = new ArrayList<>();
        for (Yaml item : yaml.oneOrMore(subject)) {
            ProcessReader.read(item, subject, gpuCount).forEach(p -> changes.add(new Change.Start(p)));
        }
        return changes;
    }

    List<Change> stop(Yaml yaml, String subject) {
        List<Change> changes = new ArrayList<>();
        for (Yaml item : yaml.oneOrMore(subject)) {
            changes.add(new Change.Stop(Fields.number(item, subject, 2, ProcessReader.MAX_PID)));
        }
        return changes;
    }

    /** `kernel`, `user` and `storm` of these fields. */
    List<Change> log(Fields f) {
        List<Change> changes = new ArrayList<>();
        f.get("kernel")
                .ifPresent(y -> changes.add(new Change.Log(false, LineText.read(y, f.subject("kernel"), gpuCount))));
        f.get("user").ifPresent(y -> changes.add(new Change.Log(true, LineText.read(y, f.subject("user"), gpuCount))));
        f.get("storm").ifPresent(y -> changes.addAll(StormReader.read(y, f.subject("storm"), gpuCount)));
        return changes;
    }

    List<Change> faults(Yaml yaml, String subject) {
        List<Change> changes = new ArrayList<>();
        for (Yaml item : yaml.oneOrMore(subject)) {
            Fault fault = FaultReader.read(item, subject, "", vocabulary, gpuCount);
            if (fault.name().isEmpty()) {
                throw item.problem(subject, "a name, so that it can be cleared");
            }
            changes.add(new Change.PutFault(fault));
        }
        return changes;
    }

    List<Change> clear(Yaml yaml, String subject) {
        List<Change> changes = new ArrayList<>();
        for (Yaml item : yaml.oneOrMore(subject)) {
            changes.add(new Change.ClearFault(item.text(subject)));
        }
        return changes;
    }
}
