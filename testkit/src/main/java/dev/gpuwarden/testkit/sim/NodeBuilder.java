package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.scenario.Board;
import dev.gpuwarden.testkit.scenario.Change;
import dev.gpuwarden.testkit.scenario.Form;
import dev.gpuwarden.testkit.scenario.Identity;
import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.scenario.Setting;
import dev.gpuwarden.testkit.scenario.SimGpu;
import dev.gpuwarden.testkit.scenario.Value;
import java.nio.file.Files;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Creates the node of a scenario in an empty folder. */
final class NodeBuilder {

    /** nvmlDeviceArchitecture_t */
    private static final int HOPPER = 9;

    private final Scenario scenario;
    private final SimTable table;
    private final TableWriter writer;
    private final PartitionWriter partitions;
    private final PciFiles pci;
    private final NicFiles nics;

    private NodeBuilder(Scenario scenario, NodeFolder folder, SimTable table) {
        this.scenario = scenario;
        this.table = table;
        this.writer = new TableWriter(table);
        this.partitions = new PartitionWriter(table);
        this.pci = new PciFiles(folder);
        this.nics = new NicFiles(folder, pci);
    }

    static NodeControl build(Scenario scenario, NodeFolder folder, NativeFiles files, Clock clock) {
        Tree.folder(folder.lib());
        Tree.folder(folder.run());
        Unchecked.run(() -> {
            // Copies, since one process may hold several nodes and the loader treats two paths of one file as one
            // library.
            Files.copy(files.library(scenario.driver()), folder.library());
            Files.copy(files.layoutFile(), folder.layout());
        });
        SimTable table = SimTable.create(folder.table(), files.layout());
        NodeBuilder builder = new NodeBuilder(scenario, folder, table);
        table.change(t -> builder.writeDriverAndGpus());
        NodeControl control = new NodeControl(folder, table, clock);
        control.boot(ProcFiles.UPTIME);
        control.apply(builder.changes(), scenario.logs());
        return control;
    }

    private void writeDriverAndGpus() {
        String version = scenario.driver().version();
        String cuda = scenario.driver().cuda();
        table.set("header.driver_version", version);
        table.set("header.nvml_version", cuda.substring(0, cuda.indexOf('.')) + "." + version);
        table.set(
                "header.cuda_version",
                number(Form.of("cuda-version").parse(cuda).orElseThrow()));
        scenario.node().forEach(writer::node);
        Map<Board, Integer> indexOnBoard = new HashMap<>();
        for (int i = 0; i < scenario.gpus().size(); i++) {
            SimGpu gpu = scenario.gpus().get(i);
            writeGpu(i, gpu, gpu.board().slot(indexOnBoard.merge(gpu.board(), 1, Integer::sum) - 1));
        }
        table.set("header.gpu_count", scenario.gpus().size());
        confidentialComputingIsOff();
        scenario.pci().forEach(pci::write);
        nics.create(scenario.nics(), scenario.name());
    }

    /** Sets confidential computing: from Hopper on the driver returns 0 for a node without it; older GPUs return NOT_SUPPORTED. */
    private void confidentialComputingIsOff() {
        boolean known = scenario.gpus().size() > 0 && table.number("gpu[0].architecture") >= HOPPER;
        if (known && table.number("header.cc_environment") == SimLayout.ABSENT) {
            table.set("header.cc_environment", 0);
        }
    }

    private static long number(Value value) {
        return ((Value.Numbers) value).numbers().get(0);
    }

    private void writeGpu(int index, SimGpu gpu, Board.Slot slot) {
        String row = TableWriter.gpu(index);
        linksFirst(gpu.board().values()).forEach(setting -> writer.gpu(index, setting));
        String seed = scenario.name() + "/gpu/" + index;
        table.set(row + ".uuid", "GPU-" + Identity.uuid(seed));
        table.set(row + ".serial", Identity.serial(seed));
        table.set(row + ".minor", index);
        if (table.number(row + ".module_id") == SimLayout.ABSENT) {
            table.set(row + ".module_id", index + 1);
        }
        table.set(row + ".pci_domain", slot.address().domain());
        table.set(row + ".pci_bus", slot.address().bus());
        table.set(row + ".pci_device", slot.address().device());
        table.set(
                row + ".board_id",
                (long) slot.address().domain() << 16 | slot.address().bus() << 8);
        table.set(row + ".host_node", slot.numaNode());
        table.set(row + ".cpu_first", slot.firstCpu());
        table.set(row + ".cpu_last", slot.lastCpu());
        partitions.write(row, seed, gpu);
        linksFirst(gpu.settings()).stream().filter(s -> !late(s)).forEach(setting -> writer.gpu(index, setting));
        pci.write(table, row, slot);
        if (!driverMissing()) {
            pci.bind(slot.address(), "nvidia");
        }
    }

    /** NVML_ERROR_DRIVER_NOT_LOADED */
    private boolean driverMissing() {
        return table.number("header.init_result") == 9;
    }

    /** Moves the number of links to the front, since settings of every link need it. */
    private static List<Setting> linksFirst(List<Setting> settings) {
        List<Setting> sorted = new ArrayList<>(settings);
        sorted.sort(Comparator.comparing(s -> !s.key().name().equals("nvlink.count")));
        return sorted;
    }

    /** Returns true for settings after the processes: the memory in use of a scenario overrides their sum. */
    private static boolean late(Setting setting) {
        return setting.key().name().endsWith("memory.used");
    }

    private List<Change> changes() {
        List<Change> changes = new ArrayList<>();
        scenario.processes().forEach(p -> changes.add(new Change.Start(p)));
        for (int i = 0; i < scenario.gpus().size(); i++) {
            int gpu = i;
            scenario.gpus().get(i).settings().stream()
                    .filter(NodeBuilder::late)
                    .forEach(setting -> changes.add(new Change.SetGpu(gpu, setting)));
        }
        changes.addAll(scenario.changes());
        scenario.faults().forEach(f -> changes.add(new Change.PutFault(f)));
        return changes;
    }
}
