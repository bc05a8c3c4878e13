package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.scenario.Change;
import dev.gpuwarden.testkit.scenario.Fault;
import dev.gpuwarden.testkit.scenario.Setting;
import dev.gpuwarden.testkit.scenario.Value;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Applies changes of GPUs to the table, the bus, the driver's events and the kernel log. Call within {@link SimTable#change}.
 */
final class GpuControl {

    private static final long FALLEN_OFF = 79;

    private final SimTable table;
    private final TableWriter writer;
    private final PciFiles pci;
    private final GpuFiles devices;
    private final DriverLog driver;
    private final Reset reset;

    GpuControl(SimTable table, TableWriter writer, PciFiles pci, GpuFiles devices, DriverLog driver) {
        this.table = table;
        this.writer = writer;
        this.pci = pci;
        this.devices = devices;
        this.driver = driver;
        this.reset = new Reset(table);
    }

    private IntStream gpus(int gpu) {
        return gpu == Fault.EVERY_GPU ? IntStream.range(0, (int) table.number("header.gpu_count")) : IntStream.of(gpu);
    }

    /** Returns the GPUs whose fall off the bus these changes report themselves, by XID 79. */
    Set<Integer> reported(List<Change> changes) {
        Set<Integer> gpus = new HashSet<>();
        for (Change change : changes) {
            if (change instanceof Change.SetGpu set
                    && set.setting().key().name().equals("xid")
                    && set.setting().value() instanceof Value.Numbers codes
                    && codes.numbers().contains(FALLEN_OFF)) {
                gpus(set.gpu()).forEach(gpus::add);
            }
        }
        return gpus;
    }

    /**
     * Applies the change.
     *
     * @param reported GPUs whose fall off the bus another change reports
     * @param lines receives the lines of real hardware
     */
    void set(Change.SetGpu change, Set<Integer> reported, List<KernelLine> lines) {
        gpus(change.gpu()).forEach(gpu -> set(gpu, change.setting(), reported, lines));
    }

    private void set(int index, Setting setting, Set<Integer> reported, List<KernelLine> lines) {
        String gpu = TableWriter.gpu(index);
        String name = setting.key().name();
        boolean yes = setting.value().equals(Value.Numbers.of(1));
        switch (name) {
            case "xid" -> {
                if (setting.value() instanceof Value.Numbers codes) {
                    codes.numbers().forEach(code -> reportXid(index, code, lines));
                }
            }
            case "on-bus" -> putOnBus(gpu, yes);
            case "minor" -> {
                writer.gpu(index, setting);
                devices.create(table.number(gpu + ".minor"));
            }
            case "reset" -> {
                if (yes) {
                    reset.reset(index);
                    lines.add(driver.reset(index));
                }
            }
            case "state" -> {
                long before = table.number(gpu + ".state");
                writer.gpu(index, setting);
                writeState(index, before, reported, lines);
            }
            default -> {
                if (name.contains("aer.")) {
                    lines.addAll(pci.countErrors(PciFiles.address(table, gpu), "nvidia", name, setting.value()));
                } else {
                    write(index, setting);
                }
            }
        }
    }

    private void write(int index, Setting setting) {
        String gpu = TableWriter.gpu(index);
        var before = PciFiles.address(table, gpu);
        boolean bus = setting.key().name().startsWith("pci") && pci.has(before);
        writer.gpu(index, setting);
        if (bus) {
            pci.move(before, PciFiles.address(table, gpu));
            pci.write(table, gpu);
        }
    }

    private void putOnBus(String gpu, boolean present) {
        if (present) {
            pci.write(table, gpu);
            pci.bind(PciFiles.address(table, gpu), "nvidia");
        } else {
            pci.remove(table, gpu);
        }
    }

    private void writeState(int gpu, long before, Set<Integer> reported, List<KernelLine> lines) {
        long state = table.number(TableWriter.gpu(gpu) + ".state");
        if (state == before) {
            return;
        }
        if (state == table.layout().constant("STATE_LOST") && !reported.contains(gpu)) {
            reportXid(gpu, FALLEN_OFF, lines);
        } else if (state == table.layout().constant("STATE_HIDDEN")) {
            lines.addAll(driver.neverCame(gpu));
        }
    }

    private void reportXid(int gpu, long code, List<KernelLine> lines) {
        postXid(gpu, code);
        lines.addAll(driver.xid(gpu, (int) code));
    }

    /** Sends the driver's event to the programs that registered for it. */
    private void postXid(int gpu, long xid) {
        long head = table.number("header.event_head");
        String event = "event[" + head % table.layout().constant("EVENT_MAX") + "]";
        table.reset(event);
        table.set(event + ".gpu", gpu);
        table.set(event + ".data", xid);
        table.set("header.event_head", head + 1);
    }

    /** Applies a restart of the node. */
    void restart(long nowNanos) {
        gpus(Fault.EVERY_GPU).forEach(gpu -> reset.restart(gpu, nowNanos));
    }

    /** Clears the state that ends with a reset of a GPU, or with a restart of the node. Call within {@link SimTable#change}. */
    record Reset(SimTable table) {

        void reset(int gpu) {
            String row = TableWriter.gpu(gpu);
            for (SimLayout.Reset reset : table.layout().resets()) {
                int links = reset.path().contains("[*]") ? (int) table.number(row + ".nvlink_count") : 1;
                for (int link = 0; link < links; link++) {
                    put(row + "." + reset.path().replace("[*]", "[" + link + "]"), reset.value());
                }
            }
        }

        /** Clears what a reset clears, and the counters since the driver was loaded. */
        void restart(int gpu, long nowNanos) {
            String row = TableWriter.gpu(gpu);
            reset(gpu);
            clearAll(row + ".violation_ns");
            clearAll(row + ".reason_ns");
            put(row + ".energy_mj", 0);
            table.set(row + ".energy_epoch_ns", nowNanos);
        }

        private void clearAll(String array) {
            for (int i = 0; i < table.layout().find(array).field().count(); i++) {
                put(array + "[" + i + "]", 0);
            }
        }

        /** Writes a number that the GPU has. */
        private void put(String path, long value) {
            if (table.number(path) != SimLayout.ABSENT) {
                table.set(path, value);
            }
        }
    }
}
