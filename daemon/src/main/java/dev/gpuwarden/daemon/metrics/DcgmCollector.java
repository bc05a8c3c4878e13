package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * Readings under dcgm-exporter's names, labels and units (etc/default-counters.csv at d5e5f510, 2026-05-12). Only fields that
 * mean the same as a reading here; rates that DCGM works out itself are not among them. Its counters do not end in `_total`,
 * which only untyped series may do without.
 */
final class DcgmCollector implements Collector {

    private static final double MIB = 1024 * 1024;

    /** @param scale from the reading's raw unit to DCGM's */
    private record Field(Family family, GpuMetric metric, double scale) {}

    private static final List<Field> FIELDS = List.of(
            gauge("SM_CLOCK", GpuMetric.CLOCK_SM, 1, "SM clock frequency (in MHz)."),
            gauge("MEM_CLOCK", GpuMetric.CLOCK_MEMORY, 1, "Memory clock frequency (in MHz)."),
            gauge("MEMORY_TEMP", GpuMetric.MEMORY_TEMPERATURE, 1, "Memory temperature (in C)."),
            gauge("GPU_TEMP", GpuMetric.TEMPERATURE, 1, "GPU temperature (in C)."),
            gauge("POWER_USAGE", GpuMetric.POWER_USAGE, 1e-3, "Power draw (in W)."),
            counter("TOTAL_ENERGY_CONSUMPTION", GpuMetric.ENERGY, 1, "Energy since the driver was loaded (in mJ)."),
            counter("PCIE_REPLAY_COUNTER", GpuMetric.PCIE_REPLAYS, 1, "PCIe retries."),
            gauge("GPU_UTIL", GpuMetric.UTILIZATION_GPU, 1, "GPU utilization (in %)."),
            gauge("MEM_COPY_UTIL", GpuMetric.UTILIZATION_MEMORY, 1, "Memory utilization (in %)."),
            gauge("ENC_UTIL", GpuMetric.UTILIZATION_ENCODER, 1, "Encoder utilization (in %)."),
            gauge("DEC_UTIL", GpuMetric.UTILIZATION_DECODER, 1, "Decoder utilization (in %)."),
            counter("POWER_VIOLATION", GpuMetric.VIOLATION_POWER, 1, "Throttling by the power limit (in ns)."),
            counter("THERMAL_VIOLATION", GpuMetric.VIOLATION_THERMAL, 1, "Throttling by temperature (in ns)."),
            counter("SYNC_BOOST_VIOLATION", GpuMetric.VIOLATION_SYNC_BOOST, 1, "Throttling by sync boost (in ns)."),
            counter("BOARD_LIMIT_VIOLATION", GpuMetric.VIOLATION_BOARD_LIMIT, 1, "Throttling by board limits (in ns)."),
            counter("LOW_UTIL_VIOLATION", GpuMetric.VIOLATION_LOW_UTILIZATION, 1, "Throttling by low use (in ns)."),
            counter("RELIABILITY_VIOLATION", GpuMetric.VIOLATION_RELIABILITY, 1, "Throttling by voltage (in ns)."),
            gauge("FB_FREE", GpuMetric.MEMORY_FREE, 1 / MIB, "Frame buffer free (in MiB)."),
            gauge("FB_USED", GpuMetric.MEMORY_USED, 1 / MIB, "Frame buffer used (in MiB)."),
            gauge("FB_RESERVED", GpuMetric.MEMORY_RESERVED, 1 / MIB, "Frame buffer reserved (in MiB)."),
            counter("ECC_SBE_VOL_TOTAL", GpuMetric.ECC_VOLATILE_CORRECTED, 1, "Single-bit errors since driver load."),
            counter("ECC_DBE_VOL_TOTAL", GpuMetric.ECC_VOLATILE_UNCORRECTED, 1, "Double-bit errors since driver load."),
            counter(
                    "ECC_SBE_AGG_TOTAL",
                    GpuMetric.ECC_AGGREGATE_CORRECTED,
                    1,
                    "Single-bit errors in the board's life."),
            counter(
                    "ECC_DBE_AGG_TOTAL",
                    GpuMetric.ECC_AGGREGATE_UNCORRECTED,
                    1,
                    "Double-bit errors in the board's life."),
            counter("RETIRED_SBE", GpuMetric.RETIRED_PAGES_SINGLE_BIT, 1, "Pages retired for single-bit errors."),
            counter("RETIRED_DBE", GpuMetric.RETIRED_PAGES_DOUBLE_BIT, 1, "Pages retired for double-bit errors."),
            counter("RETIRED_PENDING", GpuMetric.RETIRED_PAGES_PENDING, 1, "Pages pending retirement."),
            counter(
                    "UNCORRECTABLE_REMAPPED_ROWS",
                    GpuMetric.REMAPPED_ROWS_UNCORRECTABLE,
                    1,
                    "Rows remapped for uncorrectable errors."),
            counter(
                    "CORRECTABLE_REMAPPED_ROWS",
                    GpuMetric.REMAPPED_ROWS_CORRECTABLE,
                    1,
                    "Rows remapped for correctable errors."),
            gauge("ROW_REMAP_FAILURE", GpuMetric.REMAPPED_ROWS_FAILURE, 1, "Whether a row remap failed."));

    private final Supplier<String> hostName;

    DcgmCollector(Supplier<String> hostName) {
        this.hostName = hostName;
    }

    private static Field gauge(String name, GpuMetric metric, double scale, String help) {
        return new Field(Family.gauge("DCGM_FI_DEV_" + name, help), metric, scale);
    }

    private static Field counter(String name, GpuMetric metric, double scale, String help) {
        return new Field(Family.untyped("DCGM_FI_DEV_" + name, help), metric, scale);
    }

    @Override
    public String name() {
        return "dcgm";
    }

    @Override
    public void collect(Scrape scrape, Families out) {
        String driver = scrape.node().driver() instanceof DriverState.Running running
                ? GpuCollector.text(running.info().driverVersion())
                : "";
        for (GpuSnapshot gpu : scrape.node().gpus()) {
            Labels labels = labels(gpu.identity(), driver);
            for (Field field : FIELDS) {
                if (gpu.frame().present(field.metric)) {
                    out.add(field.family, labels, gpu.frame().raw(field.metric) * field.scale);
                }
            }
        }
    }

    /** The host's name stands twice: the exporter spelled it with a capital until 2026-05. */
    private Labels labels(GpuIdentity gpu, String driver) {
        String host = hostName.get();
        return Labels.of(
                "gpu", Integer.toString(gpu.index()),
                "UUID", GpuLabels.uuid(gpu),
                "pci_bus_id", gpu.pci().asOptional().map(DcgmCollector::busId).orElse(""),
                "device",
                        gpu.minor().asOptional().map(minor -> "nvidia" + minor).orElse(""),
                "modelName", GpuCollector.text(gpu.name()),
                "Hostname", host,
                "hostname", host,
                "DCGM_FI_DRIVER_VERSION", driver);
    }

    private static String busId(PciAddress pci) {
        return String.format(Locale.ROOT, "%08X:%02X:%02X.%d", pci.domain(), pci.bus(), pci.device(), pci.function());
    }
}
