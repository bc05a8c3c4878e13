package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.scenario.Change;
import dev.gpuwarden.testkit.scenario.ChangeReader;
import dev.gpuwarden.testkit.scenario.Fault;
import dev.gpuwarden.testkit.scenario.Setting;
import dev.gpuwarden.testkit.scenario.Value;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Changes a simulated node while programs look at it. The node may belong to another process. */
public final class NodeControl {

    private final NodeFolder folder;
    private final SimTable table;
    private final TableWriter writer;
    private final ProcessTable processes;
    private final FaultTable faults;
    private final ProcFiles proc;
    private final PciFiles pci;

    NodeControl(NodeFolder folder, SimTable table) {
        this.folder = folder;
        this.table = table;
        this.writer = new TableWriter(table);
        this.processes = new ProcessTable(table);
        this.faults = new FaultTable(table, folder.faults());
        this.proc = new ProcFiles(folder);
        this.pci = new PciFiles(folder);
    }

    /** Opens the node in a folder. */
    public static NodeControl open(Path root) {
        NodeFolder folder = new NodeFolder(root);
        return new NodeControl(folder, SimTable.open(folder.table(), SimLayout.read(folder.layout())));
    }

    /** What the driver has now. */
    public SimTable table() {
        return table;
    }

    public int gpuCount() {
        return (int) table.number("header.gpu_count");
    }

    /**
     * Makes one change, named as in scenarios: `gpu.3.temperature`, `gpu.all.state`, `fault.NAME`, `process.4242.bytes`.
     *
     * @throws dev.gpuwarden.cli.UserError if there is no such key, value, fault or process
     */
    public void set(String key, String value) {
        set(Map.of(key, value));
    }

    /** Several changes, all or none of them if one names no key or no value; at once for whoever asks the driver. */
    public void set(Map<String, String> values) {
        ChangeReader reader = new ChangeReader(table.layout().vocabulary(), gpuCount());
        List<Change> changes = new ArrayList<>();
        values.forEach((key, value) -> changes.addAll(reader.read(key, value)));
        apply(changes);
    }

    /** All of them at once for whoever asks the driver; the folders follow within milliseconds. */
    void apply(List<Change> changes) {
        table.change(t -> changes.forEach(this::apply));
    }

    private void apply(Change change) {
        if (change instanceof Change.SetGpu set) {
            int all = gpuCount();
            IntStream gpus = set.gpu() == Fault.EVERY_GPU ? IntStream.range(0, all) : IntStream.of(set.gpu());
            gpus.forEach(gpu -> setGpu(gpu, set.setting()));
        } else if (change instanceof Change.SetNode set) {
            writer.node(set.setting());
        } else if (change instanceof Change.PutFault put) {
            faults.put(put.fault());
        } else if (change instanceof Change.ClearFault clear) {
            faults.clear(clear.name());
        } else if (change instanceof Change.Start start) {
            processes.start(start.process());
            proc.start(start.process());
        } else if (change instanceof Change.Stop stop) {
            processes.stop(stop.pid());
            proc.stop(stop.pid());
        } else if (change instanceof Change.SetMemory memory) {
            processes.setMemory(memory.pid(), memory.bytes());
        }
    }

    private void setGpu(int index, Setting setting) {
        String gpu = TableWriter.gpu(index);
        switch (setting.key().name()) {
            case "xid" -> postXid(index, setting.value());
            case "on-bus" -> putOnBus(gpu, setting.value().equals(Value.Numbers.of(1)));
            default -> {
                boolean bus = setting.key().name().startsWith("pci") && pci.has(PciFiles.address(table, gpu));
                var before = PciFiles.address(table, gpu);
                writer.gpu(index, setting);
                if (bus) {
                    pci.move(before, PciFiles.address(table, gpu));
                    pci.write(table, gpu);
                }
            }
        }
    }

    private void putOnBus(String gpu, boolean present) {
        if (present) {
            pci.write(table, gpu);
        } else {
            pci.remove(table, gpu);
        }
    }

    private void postXid(int gpu, Value xid) {
        long head = table.number("header.event_head");
        String event = "event[" + head % table.layout().constant("EVENT_MAX") + "]";
        table.reset(event);
        table.set(event + ".gpu", gpu);
        table.set(event + ".data", xid instanceof Value.Numbers n ? n.numbers().get(0) : 999);
        table.set("header.event_head", head + 1);
    }

    /** Calls that met the fault so far. */
    public long hits(String fault) {
        return faults.sum(fault, "hits");
    }

    /** Calls that hang in the fault now. */
    public long waiting(String fault) {
        return faults.sum(fault, "waiting");
    }

    /** Ends every fault: calls that hang go on. */
    void release() {
        table.change(t -> faults.clearAll());
    }

    Path root() {
        return folder.root();
    }
}
