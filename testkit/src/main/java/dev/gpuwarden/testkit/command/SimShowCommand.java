package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.testkit.scenario.Change;
import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.scenario.SimProcess;
import dev.gpuwarden.testkit.sim.NodeDescription;
import dev.gpuwarden.testkit.sim.SimTable;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows the node of a scenario. */
@Command(
        name = "show",
        mixinStandardHelpOptions = true,
        description = "Show the node of a scenario. With -o json or yaml: every value of every GPU, by key.")
final class SimShowCommand implements Callable<Integer> {

    @Parameters(paramLabel = "SCENARIO", description = "A name from `sim list`, or a .yaml file.")
    String scenario = "";

    @Mixin
    Output output = new Output();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            Map<String, Object> tree = NodeDescription.of(node);
            output.write(spec.commandLine().getOut(), tree, out -> print(node, out));
        }
        return ExitCode.OK;
    }

    private static void print(SimulatedNode node, PrintWriter out) {
        Scenario scenario = node.scenario();
        SimTable table = node.control().table();
        out.println(Table.escape(scenario.name() + ": " + scenario.description()));
        out.println("driver " + Table.escape(table.text("header.driver_version")) + " (generation "
                + scenario.driver().label() + (scenario.driver().inferred() ? ", inferred" : "") + ")");
        printGpus(node, out);
        printNics(node, out);
        printProcesses(scenario, out);
        scenario.faults().forEach(fault -> out.println(Table.escape(new Change.PutFault(fault).text())));
        for (Scenario.Step step : scenario.timeline()) {
            for (Change change : step.changes()) {
                out.println(Table.escape("at " + Durations.text(step.at()) + "  " + change.text()));
            }
        }
    }

    private static void printGpus(SimulatedNode node, PrintWriter out) {
        SimTable table = node.control().table();
        Table gpus = new Table("GPU", "NAME", "UUID", "PCI", "STATE", "MEMORY", "USED", "PARTITIONS");
        for (int i = 0; i < node.control().gpuCount(); i++) {
            String gpu = "gpu[" + i + "].";
            gpus.row(
                    i,
                    table.text(gpu + "name"),
                    table.text(gpu + "uuid"),
                    String.format(
                            Locale.ROOT,
                            "%04x:%02x:%02x.0",
                            table.number(gpu + "pci_domain"),
                            table.number(gpu + "pci_bus"),
                            table.number(gpu + "pci_device")),
                    state(table.number(gpu + "state")),
                    mebibytes(table.number(gpu + "mem_total")),
                    mebibytes(table.number(gpu + "mem_used")),
                    node.scenario().gpus().get(i).partitions().size());
        }
        gpus.print(out);
    }

    private static void printNics(SimulatedNode node, PrintWriter out) {
        Table nics = new Table("NIC", "DEVICE", "PCI", "INTERFACE", "LINK", "STATE", "GB/S");
        List<List<String>> rows = NodeDescription.nics(node);
        for (int i = 0; i < rows.size(); i++) {
            List<Object> cells = new ArrayList<>(List.of(i));
            cells.addAll(rows.get(i));
            nics.row(cells.toArray());
        }
        if (!rows.isEmpty()) {
            nics.print(out);
        }
    }

    private static String state(long state) {
        return dev.gpuwarden.testkit.scenario.Keys.GPU.get("state").form().write(java.util.List.of(state));
    }

    private static String mebibytes(long bytes) {
        return bytes < 0 ? "absent" : (bytes >> 20) + "MiB";
    }

    private static void printProcesses(Scenario scenario, PrintWriter out) {
        if (scenario.processes().isEmpty()) {
            return;
        }
        Table processes = new Table("PID", "GPU", "TYPE", "MEMORY", "COMMAND", "OWNER");
        for (SimProcess p : scenario.processes()) {
            String gpus =
                    String.join(",", p.gpus().stream().map(String::valueOf).toList());
            processes.row(
                    p.pid(),
                    p.mig().isPresent() ? gpus + " partition " + p.mig().getAsInt() : gpus,
                    p.type().name().toLowerCase(Locale.ROOT),
                    mebibytes(p.bytes().orElse(-1)),
                    p.command(),
                    p.owner().text());
        }
        processes.print(out);
    }
}
