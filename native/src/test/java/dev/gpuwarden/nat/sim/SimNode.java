package dev.gpuwarden.nat.sim;

import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.nat.driver.NvmlProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A simulated driver of one generation, in a folder of its own, so that several live in one JVM. Two H100 with NVLink. */
public final class SimNode {

    public static final List<String> GENERATIONS = List.of("470", "535.54", "535.161", "550", "580", "615");

    private static final int LINKS = 18;

    private final Path folder;
    private final SimTable table;

    private SimNode(Path folder, SimTable table) {
        this.folder = folder;
        this.table = table;
    }

    public static SimNode of(String generation, Path folder) {
        Path built = built();
        try {
            Files.copy(library(built, generation), folder.resolve("libnvidia-ml.so.1"));
            Files.copy(built.resolve("sim/libcuda.so.1"), folder.resolve("libcuda.so.1"));
            Files.copy(built.resolve("sim/libnccl.so.2"), folder.resolve("libnccl.so.2"));
            SimNode node = new SimNode(
                    folder, new SimTable(built.resolve("sim-layout.tsv"), folder.resolve("gpuwarden-sim.table")));
            node.fill();
            return node;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Replaces the library's file as installers do, by another file of the same name. */
    public SimNode upgrade(String generation) throws IOException {
        Path fresh = folder.resolve("libnvidia-ml.so.1.new");
        Files.copy(library(built(), generation), fresh);
        Files.move(fresh, folder.resolve("libnvidia-ml.so.1"), StandardCopyOption.ATOMIC_MOVE);
        return this;
    }

    /** The output of the C build; the message gives the command where it is missing. */
    public static Path built() {
        Path built = Path.of(System.getProperty("gpuwarden.native.dir"));
        if (!Files.exists(built.resolve("sim-layout.tsv"))) {
            throw new IllegalStateException(
                    built + " holds no simulated drivers: `make -C native all` builds them and needs gcc");
        }
        return built;
    }

    public Path folder() {
        return folder;
    }

    /** A member of the table by its name: {@code gpu[0].temp_gpu}. */
    public SimNode set(String path, long value) {
        table.set(path, value);
        return this;
    }

    /** Text, or a name of the table's own: a function or a constant. */
    public SimNode set(String path, String value) {
        table.set(path, value);
        return this;
    }

    public long get(String path) {
        return table.get(path);
    }

    public SimNode process(int row, int gpu, int pid, long bytes, String type) {
        set("process[" + row + "].gpu", gpu);
        set("process[" + row + "].pid", pid);
        set("process[" + row + "].bytes", bytes);
        set("process[" + row + "].type", type);
        return set("header.process_count", Math.max(get("header.process_count"), row + 1));
    }

    /** A 1g.10gb partition of the first GPU. */
    public SimNode partition(int row, int gpuInstance, int computeInstance) {
        String mig = "gpu[0].mig[" + row + "].";
        set("gpu[0].mig_current", 1);
        set(mig + "gi", gpuInstance);
        set(mig + "ci", computeInstance);
        set(mig + "mem_total", 10L << 30);
        set(mig + "mem_used", 1L << 30);
        set(mig + "uuid", "MIG-0000000" + row + "-1111-2222-3333-444455556666");
        set(mig + "name", "NVIDIA H100 80GB HBM3 MIG 1g.10gb");
        return set(mig + "present", 1);
    }

    /** Makes a function of every GPU answer with an error. */
    public SimNode error(int row, String function, int code) {
        set("fault[" + row + "].function", function);
        set("fault[" + row + "].code", code);
        return set("fault[" + row + "].mode", "FAULT_ERROR");
    }

    /** Makes a function lie. */
    public SimNode lie(int row, String function, String lie) {
        set("fault[" + row + "].function", function);
        set("fault[" + row + "].lie", lie);
        return set("fault[" + row + "].mode", "FAULT_LIE");
    }

    /** Makes every call of a function stay in the driver until {@link #heal}. */
    public SimNode hang(int row, String function) {
        set("fault[" + row + "].function", function);
        return set("fault[" + row + "].mode", "FAULT_HANG");
    }

    /** Waits until a call has reached the hang. */
    public void awaitHanging(int row) {
        long end = System.nanoTime() + 20_000_000_000L;
        while (get("fault[" + row + "].waiting") == 0) {
            if (System.nanoTime() > end) {
                throw new AssertionError("nobody hangs");
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    public SimNode heal(int row) {
        return set("fault[" + row + "].mode", "FAULT_OFF");
    }

    public void event(long gpu, long type, long data) {
        long head = get("header.event_head");
        set("event[" + head % 256 + "].gpu", gpu);
        set("event[" + head % 256 + "].type", type);
        set("event[" + head % 256 + "].data", data);
        set("header.event_head", head + 1);
    }

    public Opening<Driver> opening(SamplerPath path) {
        return opening(path, false);
    }

    private Opening<Driver> opening(SamplerPath path, boolean profiling) {
        return new NvmlProvider().open(new DriverOptions(List.of(folder.toString()), path, profiling));
    }

    /** The same with {@link DriverOptions#profiling}. */
    public Driver openProfiling(SamplerPath path) {
        return opened(opening(path, true));
    }

    public Driver open(SamplerPath path) {
        return opened(opening(path));
    }

    private static Driver opened(Opening<Driver> opening) {
        if (opening instanceof Opening.Opened<Driver> opened) {
            return opened.driver();
        }
        throw new AssertionError(opening.toString());
    }

    private static Path library(Path built, String generation) {
        return built.resolve("sim").resolve(generation).resolve("libnvidia-ml.so.1");
    }

    private void fill() {
        set("header.gpu_count", 2);
        set("header.cuda_version", 12040);
        set("header.frozen_time_ns", 1_700_000_000_000_000_000L);
        for (int gpu = 0; gpu < 2; gpu++) {
            fillGpu("gpu[" + gpu + "].", gpu);
        }
    }

    private void fillGpu(String gpu, int index) {
        set(gpu + "name", "NVIDIA H100 80GB HBM3");
        set(gpu + "uuid", "GPU-6f1a0000-1111-2222-3333-44445555000" + index);
        set(gpu + "serial", "165302100000" + index);
        set(gpu + "vbios", "96.00.61.00.01");
        set(gpu + "board_part", "692-2G520-0200-000");
        for (String member : ("minor=" + index + " pci_bus=" + (0x1b + 0x10 * index)
                        + " cuda_major=9 numa_node=0 mem_total=85520809984 mem_reserved=606076928 mem_used=1073741824"
                        + " bar1_total=137438953472 bar1_used=1048576 util_gpu=37 util_mem=12 util_enc=1 util_dec=2 temp_gpu=41"
                        + " temp_memory=45 temp_margin=46 fan_count=1 fan_speed=30 power_usage=118000 power_average=117000"
                        + " power_instant=118500 power_enforced=700000 power_default=650000 energy_mj=123456789 pstate=0"
                        + " clock_reasons=4 persistence=1 compute_mode=0 ecc_current=1 ecc_pending=1 retired_sbe=1 retired_dbe=2"
                        + " retired_pending=0 remap_corr=3 remap_unc=4 remap_corr_inactive=0 remap_unc_inactive=0"
                        + " recovery_action=0 events_supported=65535 pcie_gen=4 pcie_gen_max=5 pcie_width=8 pcie_width_max=16"
                        + " pcie_replay=9 pcie_tx_bytes=1000001 pcie_rx_bytes=2000002 nvlink_count=" + LINKS
                        + " fabric_state=3 fabric_status=0 fabric_clique=5 fabric_health_mask=256 fabric_health_summary=1"
                        + " mig_current=0 mig_pending=0")
                .split(" ")) {
            String[] pair = member.split("=");
            set(gpu + pair[0], Long.parseLong(pair[1]));
        }
        count(gpu + "ecc_total", 4, 11);
        count(gpu + "ecc_location", 32, 20);
        count(gpu + "sram_aggregate", 3, 60);
        count(gpu + "sram_volatile", 3, 70);
        count(gpu + "remap_histogram", 5, 640);
        count(gpu + "violation_ns", 12, 1_000_000);
        count(gpu + "temp_threshold", 8, 80);
        count(gpu + "clock", 4, 1400);
        count(gpu + "clock_max", 4, 1980);
        for (int link = 0; link < LINKS; link++) {
            String at = gpu + "link[" + link + "].";
            set(at + "state", link == 17 ? 0 : 1);
            set(at + "version", 7);
            set(at + "speed_mbps", 26562);
            set(at + "data_tx_kib", 100 + link);
            set(at + "data_rx_kib", 200 + link);
            count(at + "error", 5, 10L * link);
        }
    }

    /** Different numbers in a row, so that a mix-up shows. */
    private void count(String array, int size, long from) {
        for (int i = 0; i < size; i++) {
            set(array + "[" + i + "]", from + i);
        }
    }
}
