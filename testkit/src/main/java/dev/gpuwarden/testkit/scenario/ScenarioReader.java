package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.PciAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads a scenario, or says with line and column everything that is wrong with it. */
public final class ScenarioReader {

    private static final int MAX_ROWS = 4096;
    private static final int MAX_FAULTS = 64;

    private final Vocabulary vocabulary;
    private final Problems problems = new Problems();

    private Generation driver = Generation.D550;
    private final List<Setting> node = new ArrayList<>();
    private final List<SimGpu> gpus = new ArrayList<>();
    private final List<SimProcess> processes = new ArrayList<>();
    private final List<Fault> faults = new ArrayList<>();
    private final List<PciDevice> pci = new ArrayList<>();
    private List<Nic> nics = List.of();
    private final List<Change> changes = new ArrayList<>();
    private final List<Scenario.Step> timeline = new ArrayList<>();
    private final Set<Integer> pids = new HashSet<>();
    private final Set<String> faultNames = new HashSet<>();
    private int rows;
    private int faultEntries;
    private String description = "";
    private boolean logs = true;

    private ScenarioReader(Vocabulary vocabulary) {
        this.vocabulary = vocabulary;
    }

    /**
     * @param file what messages call it
     * @throws UserError with one line per mistake
     */
    public static Scenario read(String name, String file, String text, Vocabulary vocabulary) {
        return new ScenarioReader(vocabulary).read(name, file, text);
    }

    private Scenario read(String name, String file, String text) {
        problems.in(() -> Yaml.parse(file, text).ifPresentOrElse(this::document, () -> {
            throw new Problem(file + ":1:1", "scenario", "at least the key \"gpus\"", "nothing");
        }));
        problems.raise();
        timeline.sort(Comparator.comparing(Scenario.Step::at));
        return new Scenario(
                name, description, driver, node, gpus, processes, faults, pci, nics, changes, logs, timeline);
    }

    private void document(Yaml yaml) {
        Fields f = new Fields(
                yaml,
                "scenario",
                "description",
                "driver",
                "node",
                "gpus",
                "processes",
                "faults",
                "pci",
                "nics",
                "set",
                "kernel",
                "user",
                "storm",
                "log",
                "timeline");
        problems.in(() -> description = f.text("description", ""));
        problems.in(() -> f.get("driver").ifPresent(this::driver));
        problems.in(() -> f.get("node").ifPresent(y -> node.addAll(Settings.read(Keys.NODE, y, "node"))));
        each(f, "gpus", (item, subject) -> gpus.addAll(GpuReader.read(item, subject)));
        problems.in(() -> {
            if (gpus.size() > GpuReader.MAX_GPUS) {
                throw f.require("gpus").problem("gpus", "at most " + GpuReader.MAX_GPUS + " GPUs in all");
            }
        });
        each(f, "processes", this::process);
        each(f, "faults", this::fault);
        each(f, "pci", (item, subject) -> pci.add(pciDevice(item, subject)));
        problems.in(() ->
                nics = Nic.beside(gpus, f.map("nics", ScenarioReader::nics).orElse(Nic.Wish.BOARDS)));
        ChangeReader reader = new ChangeReader(vocabulary, gpus.size(), nics.size());
        problems.in(() -> f.get("set").ifPresent(y -> changes.addAll(reader.readAll(y, "set"))));
        problems.in(() -> changes.addAll(reader.log(f)));
        problems.in(() -> logs = f.flag("log", true));
        each(f, "timeline", (item, subject) -> timeline.add(step(item, subject, reader)));
    }

    private interface ItemReader {
        void read(Yaml item, String subject);
    }

    /** Each item is a part of its own: a mistake in one hides none in the others. */
    private void each(Fields f, String key, ItemReader reader) {
        problems.in(() -> f.get(key).ifPresent(list -> {
            int index = 0;
            for (Yaml item : list.items(key)) {
                String subject = key + "[" + index++ + "]";
                problems.in(() -> reader.read(item, subject));
            }
        }));
    }

    private void driver(Yaml yaml) {
        String label = yaml.text("driver");
        driver = Generation.of(label)
                .orElseThrow(() -> Problem.unknown(
                        yaml.place(),
                        "driver",
                        "one of " + String.join(", ", Generation.labels()),
                        label,
                        Generation.labels()));
    }

    private void process(Yaml item, String subject) {
        for (SimProcess process : ProcessReader.read(item, subject, gpus.size())) {
            if (!pids.add(process.pid())) {
                throw new Problem(item.place(), subject, "a pid of its own", process.pid() + " again");
            }
            for (int gpu : process.gpus()) {
                int partitions = gpus.get(gpu).partitions().size();
                if (process.mig().isPresent() && process.mig().getAsInt() >= partitions) {
                    throw new Problem(
                            item.place(),
                            subject,
                            "one of the " + partitions + " partitions of GPU " + gpu,
                            "partition " + process.mig().getAsInt());
                }
            }
            rows += process.gpus().size();
            if (rows > MAX_ROWS) {
                throw new Problem(item.place(), subject, "at most " + MAX_ROWS + " processes times GPUs", "more");
            }
            processes.add(process);
        }
    }

    private void fault(Yaml item, String subject) {
        Fault fault = FaultReader.read(item, subject, subject, vocabulary, gpus.size());
        if (!faultNames.add(fault.name())) {
            throw new Problem(item.place(), subject, "a name of its own", "\"" + fault.name() + "\" again");
        }
        faultEntries += Math.max(1, fault.functions().size());
        if (faultEntries > MAX_FAULTS) {
            throw new Problem(item.place(), subject, "at most " + MAX_FAULTS + " faults times functions", "more");
        }
        faults.add(fault);
    }

    private static PciDevice pciDevice(Yaml yaml, String subject) {
        Fields f = new Fields(yaml, subject, "address", "vendor", "device", "class");
        Yaml address = f.require("address");
        return new PciDevice(
                PciAddress.parse(address.text(f.subject("address")))
                        .orElseThrow(() -> address.problem(f.subject("address"), "a PCI address")),
                hex(f, "vendor", 0x10de, 0xffff),
                hex(f, "device", 0x2330, 0xffff),
                hex(f, "class", 0x030200, 0xffffff));
    }

    private static Nic.Wish nics(Yaml yaml) {
        if (yaml.isScalar() && yaml.text("nics").equals("none")) {
            return new Nic.Wish(true, 0, false);
        }
        if (!yaml.isMapping()) {
            throw yaml.problem("nics", "none, or rate and link-layer");
        }
        Fields f = new Fields(yaml, "nics", "rate", "link-layer");
        return new Nic.Wish(
                false,
                f.number("rate", 0, 1, 10_000),
                f.choice("link-layer", LinkLayer.INFINIBAND, LinkLayer.class) == LinkLayer.ETHERNET);
    }

    private enum LinkLayer {
        INFINIBAND,
        ETHERNET
    }

    private static int hex(Fields f, String key, int standard, int max) {
        return f.map(key, y -> {
                    Optional<Value> value = Form.of("number").parse(y.text(f.subject(key)));
                    if (value.isPresent()
                            && value.get() instanceof Value.Numbers n
                            && n.numbers().get(0) >= 0
                            && n.numbers().get(0) <= max) {
                        return n.numbers().get(0).intValue();
                    }
                    throw y.problem(f.subject(key), "a number up to 0x" + Integer.toHexString(max));
                })
                .orElse(standard);
    }

    private static Scenario.Step step(Yaml yaml, String subject, ChangeReader reader) {
        Fields f = new Fields(
                yaml, subject, "at", "set", "fault", "clear", "start", "stop", "kernel", "user", "storm", "log");
        Duration at = Fields.duration(f.require("at"), f.subject("at"));
        List<Change> changes = new ArrayList<>();
        f.get("set").ifPresent(y -> changes.addAll(reader.readAll(y, f.subject("set"))));
        f.get("fault").ifPresent(y -> changes.addAll(reader.faults(y, f.subject("fault"))));
        f.get("clear").ifPresent(y -> changes.addAll(reader.clear(y, f.subject("clear"))));
        f.get("start").ifPresent(y -> changes.addAll(reader.start(y, f.subject("start"))));
        f.get("stop").ifPresent(y -> changes.addAll(reader.stop(y, f.subject("stop"))));
        changes.addAll(reader.log(f));
        if (changes.isEmpty()) {
            throw yaml.problem(subject, "at least one of set, fault, clear, start, stop, kernel, user, storm");
        }
        return new Scenario.Step(at, changes, f.flag("log", true));
    }
}
