package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.scenario.Board;
import dev.gpuwarden.testkit.scenario.Change;
import dev.gpuwarden.testkit.scenario.Form;
import dev.gpuwarden.testkit.scenario.Generation;
import dev.gpuwarden.testkit.scenario.Identity;
import dev.gpuwarden.testkit.scenario.MigProfile;
import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.scenario.Setting;
import dev.gpuwarden.testkit.scenario.SimGpu;
import dev.gpuwarden.testkit.scenario.Value;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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
    private final Partitions partitions;
    private final PciFiles pci;
    private final NicFiles nics;
    private final GpuFiles devices;

    private NodeBuilder(Scenario scenario, NodeFolder folder, SimTable table) {
        this.scenario = scenario;
        this.table = table;
        this.writer = new TableWriter(table);
        this.partitions = new Partitions(table);
        this.pci = new PciFiles(folder);
        this.nics = new NicFiles(folder, pci);
        this.devices = new GpuFiles(folder);
    }

    static NodeControl build(Scenario scenario, NodeFolder folder, NativeFiles files, Clock clock) {
        Tree.folder(folder.lib);
        Tree.folder(folder.run);
        Tree.folder(folder.bin);
        Unchecked.run(() -> {
            // Copies, since one process may hold several nodes and the loader treats two paths of one file as one
            // library.
            Files.copy(files.cudaLibrary(), folder.cudaLibrary);
            Files.copy(files.ncclLibrary(), folder.ncclLibrary);
            Files.copy(files.smi(), folder.smi);
            Files.copy(files.service(), folder.service);
            Files.copy(files.layoutFile(), folder.layout);
        });
        scenario.node().stream()
                .filter(setting -> setting.key().name().equals("nccl-library"))
                .forEach(setting -> folder.showNccl(number(setting.value()) == 1));
        SimTable table = SimTable.create(folder.table, files.layout());
        NodeBuilder builder = new NodeBuilder(scenario, folder, table);
        installDriver(scenario.driver(), folder, files, table);
        new ModuleFiles(folder).write();
        table.change(t -> builder.writeDriverAndGpus());
        NodeControl control = new NodeControl(folder, table, clock);
        control.boot(ProcFiles.UPTIME);
        control.apply(builder.changes(), scenario.logs());
        return control;
    }

    /** Replaces the driver as installers do: the library is another file of the same name, so programs that have it open keep the old one. */
    static void installDriver(Generation driver, NodeFolder folder, NativeFiles files, SimTable table) {
        Path fresh = folder.lib.resolve("libnvidia-ml.so.1.new");
        Unchecked.run(() -> {
            Files.copy(files.library(driver), fresh);
            Files.move(fresh, folder.library, StandardCopyOption.ATOMIC_MOVE);
        });
        String cuda = driver.cuda();
        table.change(t -> {
            t.set("header.kernel_driver", driver.number());
            t.set("header.driver_version", driver.version());
            t.set("header.nvml_version", cuda.substring(0, cuda.indexOf('.')) + "." + driver.version());
            t.set(
                    "header.cuda_version",
                    number(Form.of("cuda-version").parse(cuda).orElseThrow()));
        });
    }

    private void writeDriverAndGpus() {
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
        devices.create(table.number(row + ".minor"));
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

    /** Writes a board's partition profiles and a scenario's partitions. Call within {@link SimTable#change}. */
    record Partitions(SimTable table) {

        /**
         * Writes profiles and partitions of a GPU whose other values are in the table.
         *
         * @param row of the GPU, for example "gpu[0]"
         * @param seed of the partitions' UUIDs
         */
        void write(String row, String seed, SimGpu gpu) {
            gpu.board().mig().values().forEach(profile -> writeProfile(row, profile));
            writePartitions(row, seed, gpu.partitions());
        }

        private void writeProfile(String row, MigProfile profile) {
            String at = row + ".mig_profile[" + profile.number() + "]";
            table.set(at + ".id", profile.id());
            table.set(at + ".slices", profile.slices());
            table.set(at + ".instances", profile.instances());
            writeEngines(at, profile);
            table.set(at + ".mem_mb", profile.memoryBytes() >> 20);
            table.set(at + ".name", profile.name());
        }

        private void writeEngines(String at, MigProfile profile) {
            table.set(at + ".multiprocessors", profile.multiprocessors());
            table.set(at + ".copy_engines", profile.copyEngines());
            table.set(at + ".decoders", profile.decoders());
            table.set(at + ".jpegs", profile.jpegs());
            table.set(at + ".ofas", profile.ofas());
        }

        private void writePartitions(String row, String seed, List<MigProfile> partitions) {
            if (partitions.isEmpty()) {
                return;
            }
            table.set(row + ".mig_current", 1);
            table.set(row + ".mig_pending", 1);
            Map<Integer, Integer> nextInstance = new HashMap<>();
            int start = 0;
            for (int i = 0; i < partitions.size(); i++) {
                MigProfile profile = partitions.get(i);
                int first = firstInstance(profile.slices());
                int instance = first + nextInstance.merge(first, 1, Integer::sum) - 1;
                writePartition(row + ".mig[" + i + "]", profile, instance, start);
                // The share of the aperture is that of the memory.
                table.set(
                        row + ".mig[" + i + "].bar1_total",
                        table.number(row + ".bar1_total") / 8 * profile.memorySlices());
                table.set(row + ".mig[" + i + "].uuid", "MIG-" + Identity.uuid(seed + "/mig/" + i));
                table.set(row + ".mig[" + i + "].name", table.text(row + ".name") + " MIG " + profile.name());
                start += profile.memorySlices();
            }
        }

        /** Returns the driver's first id of instances of a size: 0 the whole, 1 halves, 3 quarters, 7 eighths. */
        private static int firstInstance(int slices) {
            return switch (slices) {
                case 7 -> 0;
                case 3, 4 -> 1;
                case 2 -> 3;
                default -> 7;
            };
        }

        private void writePartition(String mig, MigProfile profile, int instance, int start) {
            table.set(mig + ".present", 1);
            table.set(mig + ".gi", instance);
            table.set(mig + ".ci", 0);
            table.set(mig + ".profile", profile.id());
            table.set(mig + ".ci_profile", profile.computeNumber());
            table.set(mig + ".placement_start", start);
            table.set(mig + ".placement_size", profile.memorySlices());
            table.set(mig + ".mem_total", profile.memoryBytes());
            writeEngines(mig, profile);
            table.set(mig + ".gi_slices", profile.slices());
            table.set(mig + ".ci_slices", profile.slices());
            table.set(mig + ".attribute_mem_mb", profile.memoryBytes() >> 20);
        }
    }
}
