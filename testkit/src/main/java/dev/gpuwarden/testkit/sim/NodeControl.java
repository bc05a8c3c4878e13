package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.scenario.Change;
import dev.gpuwarden.testkit.scenario.ChangeReader;
import dev.gpuwarden.testkit.scenario.Fault;
import dev.gpuwarden.testkit.scenario.KernelStorm;
import dev.gpuwarden.testkit.scenario.Setting;
import dev.gpuwarden.testkit.scenario.Value;
import dev.gpuwarden.testkit.sim.KernelLog.BootLog;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.stream.IntStream;

/** Changes a simulated node while programs read it. The node may belong to another process. Thread-safe. */
public final class NodeControl {

    /** Uptime of a node at the end of a restart. */
    private static final Duration RESTARTED = Duration.ofMinutes(1);

    private final NodeFolder folder;
    private final SimTable table;
    private final Clock clock;
    private final TableWriter writer;
    private final ProcessTable processes;
    private final FaultTable faults;
    private final ProcFiles proc;
    private final PciFiles pci;
    private final NicFiles nics;
    private final DriverLog driver;
    private final GpuControl gpus;
    private final KernelLog log;

    NodeControl(NodeFolder folder, SimTable table, Clock clock) {
        this.folder = folder;
        this.table = table;
        this.clock = clock;
        this.writer = new TableWriter(table);
        this.processes = new ProcessTable(table);
        this.faults = new FaultTable(table, folder.faults);
        this.proc = new ProcFiles(folder);
        this.pci = new PciFiles(folder);
        this.nics = new NicFiles(folder, pci);
        this.driver = new DriverLog(table);
        this.gpus = new GpuControl(table, writer, pci, new GpuFiles(folder), driver);
        this.log = new KernelLog(folder, proc, clock);
    }

    /** Opens the node in a folder. */
    public static NodeControl open(Path root) {
        NodeFolder folder = new NodeFolder(root.toAbsolutePath());
        return new NodeControl(folder, SimTable.open(folder.table, SimLayout.read(folder.layout)), Clock.systemUTC());
    }

    /** Returns the driver's present values. */
    public SimTable table() {
        return table;
    }

    /** Returns the environment variables with which a child process uses this node. */
    public Map<String, String> environment() {
        return folder.environment();
    }

    public int gpuCount() {
        return (int) table.number("header.gpu_count");
    }

    /**
     * A GPU's present state in the driver.
     *
     * @param fit true when the driver runs and reports nothing that prevents the use of the GPU
     */
    public record Gpu(String uuid, boolean fit) {}

    /** Returns the GPUs in order of their indices. */
    public List<Gpu> gpus() {
        boolean driver = table.number("header.init_result") == 0;
        long ok = table.layout().constant("STATE_OK");
        return IntStream.range(0, gpuCount())
                .mapToObj(TableWriter::gpu)
                .map(gpu -> new Gpu(table.text(gpu + ".uuid"), driver && table.number(gpu + ".state") == ok))
                .toList();
    }

    NicFiles nics() {
        return nics;
    }

    PciFiles pci() {
        return pci;
    }

    /**
     * Applies one change, with a key of scenarios: `gpu.3.temperature`, `nic.all.state`, `fault.NAME`, `process.4242.bytes`.
     *
     * @throws dev.gpuwarden.cli.UserError when the key, value, fault or process does not exist
     */
    public void set(String key, String value) {
        set(Map.of(key, value));
    }

    /** Applies several changes in one step for users of the driver; applies none when a key or a value does not exist. */
    public void set(Map<String, String> values) {
        set(values, true);
    }

    /** @param logs true when they write the lines of real hardware to the kernel log */
    public void set(Map<String, String> values, boolean logs) {
        ChangeReader reader = new ChangeReader(
                table.layout().vocabulary(), gpuCount(), nics.all().size());
        List<Change> changes = new ArrayList<>();
        values.forEach((key, value) -> changes.addAll(reader.read(key, value)));
        apply(changes, logs);
    }

    /** Writes lines to the kernel log. */
    public void log(boolean user, List<String> texts) {
        log(texts.stream().map(text -> line(user, text, 1)).toList());
    }

    /** Writes lines to the kernel log as they are. */
    void log(List<KernelLine> lines) {
        log.append(lines);
        proc.uptime(clock.instant());
    }

    /** Writes the present uptime. */
    void advanceUptime() {
        proc.uptime(clock.instant());
    }

    private KernelLine line(boolean user, String text, long number) {
        String filled = driver.fill(text, number);
        return user ? KernelLine.user(filled) : KernelLine.kernel(filled);
    }

    /** Returns a writer of a storm's lines, which has written none yet. */
    public StormWriter storm(KernelStorm storm, boolean user) {
        List<String> texts = new ArrayList<>(storm.texts());
        storm.xids()
                .forEach((gpu, codes) -> codes.forEach(
                        code -> texts.add(driver.xid(gpu, code).get(0).text())));
        long count = Math.max(1, storm.count() * log.stormScale() / 1000);
        return new StormWriter(
                log, n -> line(user, texts.get((int) ((n - 1) % texts.size())), n), count, storm.perSecond());
    }

    /** Writes /proc and the kernel log of a node that has booted. */
    void boot(Duration uptime) {
        proc.boot(clock.instant(), uptime);
        log.boot(BootLog.of(table, nics));
    }

    /**
     * Applies the changes in one step for users of the driver. The folders follow within milliseconds, the kernel log last.
     *
     * @param logs true when they write the lines of real hardware to the kernel log
     */
    void apply(List<Change> changes, boolean logs) {
        Set<Integer> reported = gpus.reported(changes);
        List<KernelLine> given = new ArrayList<>();
        List<KernelLine> lines = logs ? given : new ArrayList<>();
        table.change(t -> changes.forEach(change -> apply(change, reported, lines, given)));
        log.append(given);
        proc.uptime(clock.instant());
    }

    /**
     * @param reported GPUs whose fall off the bus these changes report themselves
     * @param lines of real hardware
     * @param given lines of the scenario
     */
    private void apply(Change change, Set<Integer> reported, List<KernelLine> lines, List<KernelLine> given) {
        if (change instanceof Change.SetGpu set) {
            gpus.set(set, reported, lines);
        } else if (change instanceof Change.SetNic set) {
            int all = nics.all().size();
            IntStream chosen = set.nic() == Fault.EVERY_GPU ? IntStream.range(0, all) : IntStream.of(set.nic());
            chosen.forEach(nic -> lines.addAll(nics.set(nic, set.setting())));
        } else if (change instanceof Change.SetNode set) {
            setNode(set.setting());
        } else if (change instanceof Change.PutFault put) {
            faults.put(put.fault());
        } else if (change instanceof Change.ClearFault clear) {
            faults.clear(clear.name());
        } else if (change instanceof Change.Start start) {
            processes.start(start.process());
            proc.start(start.process(), clock.instant());
        } else if (change instanceof Change.Stop stop) {
            processes.stop(stop.pid());
            proc.stop(stop.pid());
        } else if (change instanceof Change.SetMemory memory) {
            processes.setMemory(memory.pid(), memory.bytes());
        } else if (change instanceof Change.Log lineOf) {
            lineOf.texts().forEach(text -> given.add(line(lineOf.user(), text, 1)));
        }
    }

    private void setNode(Setting setting) {
        long number = setting.value() instanceof Value.Numbers n ? n.numbers().get(0) : 0;
        switch (setting.key().name()) {
            case "kernel-log.drop" -> log.drop(number);
            case "kernel-log.skip" -> log.skip(number);
            case "kernel-log.rotate" -> {
                if (number == 1) {
                    log.rotate();
                }
            }
            case "storm-scale" -> log.scaleStorms(number);
            case "reboot" -> {
                if (number == 1) {
                    reboot();
                }
            }
            case "nccl-library" -> folder.showNccl(number == 1);
            case "drm-modeset" -> new ModuleFiles(folder).modeset(number == 1);
            default -> writer.node(setting);
        }
    }

    /** Restarts the node; lines of the same change are written after those of the boot. */
    private void reboot() {
        processes.stopAll();
        proc.stopAll();
        gpus.restart(clock.millis() * 1_000_000);
        pci.forgetErrors();
        nics.restart();
        boot(RESTARTED);
    }

    /** Returns the number of calls that the fault has affected. */
    public long hits(String fault) {
        return faults.sum(fault, "hits");
    }

    /** Returns the number of calls that hang in the fault now. */
    public long waiting(String fault) {
        return faults.sum(fault, "waiting");
    }

    /** Ends all faults; calls that hang continue. */
    void release() {
        table.change(t -> faults.clearAll());
    }

    /** Writes many lines to the kernel log, in one write or at a rate per second. */
    public static final class StormWriter {

        private static final int CHUNK = 4096;
        private static final long PAUSE_MILLIS = 20;

        private final KernelLog log;
        private final LongFunction<KernelLine> lines;
        private final long count;
        private final long perSecond;
        private long written;

        /** @param lines by number, from 1 */
        StormWriter(KernelLog log, LongFunction<KernelLine> lines, long count, long perSecond) {
            this.log = log;
            this.lines = lines;
            this.count = count;
            this.perSecond = perSecond;
        }

        void writeAll() {
            writeUpTo(count);
        }

        private void writeUpTo(long due) {
            while (written < due) {
                long end = Math.min(due, written + CHUNK);
                List<KernelLine> chunk = new ArrayList<>((int) (end - written));
                for (long n = written + 1; n <= end; n++) {
                    chunk.add(lines.apply(n));
                }
                log.append(chunk);
                written = end;
            }
        }

        /** Writes at the storm's pace on the executor's thread, which is free between writes. The future ends with the last line, or by cancellation. */
        public CompletableFuture<Void> play(ScheduledExecutorService executor) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            step(executor, System.nanoTime(), done);
            return done;
        }

        private void step(ScheduledExecutorService executor, long start, CompletableFuture<Void> done) {
            if (done.isDone()) {
                return;
            }
            try {
                double seconds = (System.nanoTime() - start) / 1e9;
                writeUpTo(Math.min(count, (long) (seconds * perSecond) + 1));
                if (written == count) {
                    done.complete(null);
                } else {
                    var unused =
                            executor.schedule(() -> step(executor, start, done), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
                }
            } catch (RuntimeException e) {
                done.completeExceptionally(e);
            }
        }
    }
}
