package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.scenario.Change;
import dev.gpuwarden.testkit.scenario.Fault;
import dev.gpuwarden.testkit.scenario.Generation;
import dev.gpuwarden.testkit.scenario.Keys;
import dev.gpuwarden.testkit.scenario.Keys.Key;
import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.scenario.SimProcess;
import dev.gpuwarden.testkit.sim.ProcFiles.CgroupFile;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Describes a node as a tree of maps and lists; values have the form of scenarios. */
public final class NodeDescription {

    private final SimulatedNode node;
    private final SimTable table;

    private NodeDescription(SimulatedNode node) {
        this.node = node;
        this.table = node.control().table();
    }

    public static Map<String, Object> of(SimulatedNode node) {
        return new NodeDescription(node).tree();
    }

    /** Returns the cells of each network device for tables: names, address, interface, kind of link, state, rate. */
    public static List<List<String>> nics(SimulatedNode node) {
        NicFiles nics = node.control().nics();
        return nics.all().stream()
                .map(nic -> List.of(
                        nic.ib(),
                        nic.address().toString(),
                        nic.net(),
                        nic.linkLayer(),
                        nics.value(nic, Keys.NIC.get("state")).orElse("not on the bus"),
                        nics.value(nic, Keys.NIC.get("rate")).orElse("")))
                .toList();
    }

    private Map<String, Object> tree() {
        Scenario scenario = node.scenario();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", scenario.name());
        tree.put("description", scenario.description());
        tree.put("driver", driver(scenario.driver()));
        List<Object> gpus = new ArrayList<>();
        for (int i = 0; i < node.control().gpuCount(); i++) {
            gpus.add(gpu(i));
        }
        tree.put("gpus", gpus);
        tree.put("nics", node.control().nics().all().stream().map(this::nic).toList());
        tree.put(
                "processes",
                scenario.processes().stream().map(NodeDescription::process).toList());
        tree.put(
                "faults", scenario.faults().stream().map(NodeDescription::fault).toList());
        tree.put("timeline", scenario.timeline().stream().map(this::step).toList());
        return tree;
    }

    private Map<String, Object> driver(Generation generation) {
        Map<String, Object> driver = new LinkedHashMap<>();
        driver.put("generation", generation.label());
        driver.put("inferred", generation.inferred());
        driver.put("version", table.text("header.driver_version"));
        driver.put("cuda", read("header", Keys.NODE.get("cuda-version"), 0).orElse("absent"));
        driver.put("init", read("header", Keys.NODE.get("init"), 0).orElse("absent"));
        return driver;
    }

    private Map<String, Object> gpu(int index) {
        String row = TableWriter.gpu(index);
        Map<String, Object> gpu = new LinkedHashMap<>();
        gpu.put("index", index);
        gpu.put("board", node.scenario().gpus().get(index).board().name());
        Map<String, Object> values = new LinkedHashMap<>();
        PciFiles pci = node.control().pci();
        for (Key key : Keys.GPU.all()) {
            if (!key.fields().isEmpty() && key.list().isEmpty()) {
                values.put(key.name(), read(row, key, 0).orElse("absent"));
            } else if (key.name().contains("aer.")) {
                values.put(
                        key.name(),
                        pci.errors(PciFiles.address(table, row), key.name())
                                .map(String::valueOf)
                                .orElse("absent"));
            }
        }
        gpu.put("values", values);
        gpu.put("links", elements(row, "link", (int) table.number(row + ".nvlink_count")));
        gpu.put(
                "partitions",
                elements(
                        row,
                        "mig",
                        node.scenario().gpus().get(index).partitions().size()));
        return gpu;
    }

    private Map<String, Object> nic(NicFiles.Device device) {
        Map<String, Object> nic = new LinkedHashMap<>();
        nic.put("device", device.ib());
        nic.put("address", device.address().toString());
        nic.put("interface", device.net());
        nic.put("linkLayer", device.linkLayer());
        Map<String, Object> values = new LinkedHashMap<>();
        for (Key key : Keys.NIC.all()) {
            values.put(key.name(), node.control().nics().value(device, key).orElse("absent"));
        }
        nic.put("values", values);
        return nic;
    }

    private List<Object> elements(String row, String list, int count) {
        List<Object> elements = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Map<String, Object> element = new LinkedHashMap<>();
            for (Key key : Keys.GPU.all()) {
                if (key.list().equals(list)) {
                    String name = key.name().substring(key.name().indexOf('.') + 1);
                    element.put(name, read(row, key, i).orElse("absent"));
                }
            }
            elements.add(element);
        }
        return elements;
    }

    /** Returns the value in the form of scenarios; empty when the driver has none. */
    private Optional<String> read(String row, Key key, int element) {
        List<String> paths = key.fields().stream()
                .map(field -> row + "." + field.replace("[*]", "[" + element + "]"))
                .toList();
        if (key.isText()) {
            return Optional.of(table.text(paths.get(0))).filter(text -> !text.isEmpty());
        }
        List<Long> numbers = paths.stream().map(table::number).toList();
        return numbers.get(0) == SimLayout.ABSENT
                ? Optional.empty()
                : Optional.of(key.form().write(numbers));
    }

    private static Map<String, Object> process(SimProcess process) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("pid", process.pid());
        tree.put("gpus", process.gpus());
        tree.put("partition", process.mig().isPresent() ? process.mig().getAsInt() : null);
        tree.put("type", process.type().name().toLowerCase(java.util.Locale.ROOT));
        tree.put("bytes", process.bytes().isPresent() ? process.bytes().getAsLong() : null);
        tree.put("command", process.command());
        tree.put("cgroup", CgroupFile.of(process.owner()).lines().toList());
        return tree;
    }

    private static Map<String, Object> fault(Fault fault) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", fault.name());
        tree.put("gpu", fault.gpu() == Fault.EVERY_GPU ? "all" : Integer.toString(fault.gpu()));
        tree.put("functions", fault.functions().isEmpty() ? List.of("all") : fault.functions());
        tree.put("effect", fault.effect());
        return tree;
    }

    private Map<String, Object> step(Scenario.Step step) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("at", dev.gpuwarden.cli.Durations.text(step.at()));
        tree.put("changes", step.changes().stream().map(Change::text).toList());
        return tree;
    }
}
