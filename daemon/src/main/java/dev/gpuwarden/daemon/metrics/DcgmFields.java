package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.List;

/**
 * Fields of DCGM with the same meaning as a reading here, with dcgm-exporter's types and units
 * (etc/default-counters.csv and etc/dcp-metrics-included.csv, the latter at d5e5f510, 2026-05-12).
 * `docs/migration/dcgm-exporter.md` lists the other fields with the reasons.
 */
final class DcgmFields {

    private static final double MIB = 1024 * 1024;

    /**
     * @param divisor divides the reading's raw value to get DCGM's; not a factor, since no double is 0.001
     * @param ofPartition whether a partitioned GPU exports it by partition
     */
    record Field(Family family, GpuMetric metric, double divisor, boolean ofPartition) {}

    static final List<Field> ALL = List.of(
            gauge("SM_CLOCK", GpuMetric.CLOCK_SM, 1, "SM clock frequency (in MHz)."),
            gauge("MEM_CLOCK", GpuMetric.CLOCK_MEMORY, 1, "Memory clock frequency (in MHz)."),
            gauge("MEMORY_TEMP", GpuMetric.MEMORY_TEMPERATURE, 1, "Memory temperature (in C)."),
            gauge("GPU_TEMP", GpuMetric.TEMPERATURE, 1, "GPU temperature (in C)."),
            gauge("POWER_USAGE", GpuMetric.POWER_USAGE, 1000, "Power draw (in W)."),
            counter("TOTAL_ENERGY_CONSUMPTION", GpuMetric.ENERGY, "Energy since the driver was loaded (in mJ)."),
            counter("PCIE_REPLAY_COUNTER", GpuMetric.PCIE_REPLAYS, "PCIe retries."),
            gauge("GPU_UTIL", GpuMetric.UTILIZATION_GPU, 1, "GPU utilization (in %)."),
            gauge("MEM_COPY_UTIL", GpuMetric.UTILIZATION_MEMORY, 1, "Memory utilization (in %)."),
            gauge("ENC_UTIL", GpuMetric.UTILIZATION_ENCODER, 1, "Encoder utilization (in %)."),
            gauge("DEC_UTIL", GpuMetric.UTILIZATION_DECODER, 1, "Decoder utilization (in %)."),
            gauge("FAN_SPEED", GpuMetric.FAN_SPEED, 1, "Fan speed that the driver intends (in %)."),
            counter("POWER_VIOLATION", GpuMetric.VIOLATION_POWER, "Throttling by the power limit (in ns)."),
            counter("THERMAL_VIOLATION", GpuMetric.VIOLATION_THERMAL, "Throttling by temperature (in ns)."),
            counter("SYNC_BOOST_VIOLATION", GpuMetric.VIOLATION_SYNC_BOOST, "Throttling by sync boost (in ns)."),
            counter("BOARD_LIMIT_VIOLATION", GpuMetric.VIOLATION_BOARD_LIMIT, "Throttling by board limits (in ns)."),
            counter("LOW_UTIL_VIOLATION", GpuMetric.VIOLATION_LOW_UTILIZATION, "Throttling by low use (in ns)."),
            counter("RELIABILITY_VIOLATION", GpuMetric.VIOLATION_RELIABILITY, "Throttling by voltage (in ns)."),
            memory("FB_FREE", GpuMetric.MEMORY_FREE, "Frame buffer free (in MiB)."),
            memory("FB_USED", GpuMetric.MEMORY_USED, "Frame buffer used (in MiB)."),
            memory("FB_RESERVED", GpuMetric.MEMORY_RESERVED, "Frame buffer reserved (in MiB)."),
            counter("ECC_SBE_VOL_TOTAL", GpuMetric.ECC_VOLATILE_CORRECTED, "Single-bit errors since driver load."),
            counter("ECC_DBE_VOL_TOTAL", GpuMetric.ECC_VOLATILE_UNCORRECTED, "Double-bit errors since driver load."),
            counter("ECC_SBE_AGG_TOTAL", GpuMetric.ECC_AGGREGATE_CORRECTED, "Single-bit errors in the board's life."),
            counter("ECC_DBE_AGG_TOTAL", GpuMetric.ECC_AGGREGATE_UNCORRECTED, "Double-bit errors in the board's life."),
            counter("RETIRED_SBE", GpuMetric.RETIRED_PAGES_SINGLE_BIT, "Pages retired for single-bit errors."),
            counter("RETIRED_DBE", GpuMetric.RETIRED_PAGES_DOUBLE_BIT, "Pages retired for double-bit errors."),
            counter("RETIRED_PENDING", GpuMetric.RETIRED_PAGES_PENDING, "Pages pending retirement."),
            counter(
                    "UNCORRECTABLE_REMAPPED_ROWS",
                    GpuMetric.REMAPPED_ROWS_UNCORRECTABLE,
                    "Rows remapped for uncorrectable errors."),
            counter(
                    "CORRECTABLE_REMAPPED_ROWS",
                    GpuMetric.REMAPPED_ROWS_CORRECTABLE,
                    "Rows remapped for correctable errors."),
            gauge("ROW_REMAP_FAILURE", GpuMetric.REMAPPED_ROWS_FAILURE, 1, "1 if a row remap failed."),
            counter(
                    "NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
                    GpuMetric.NVLINK_CRC_FLIT_ERRORS,
                    "NVLink flow-control CRC errors."),
            counter("NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", GpuMetric.NVLINK_CRC_DATA_ERRORS, "NVLink data CRC errors."),
            counter("NVLINK_REPLAY_ERROR_COUNT_TOTAL", GpuMetric.NVLINK_REPLAYS, "NVLink retries."),
            counter("NVLINK_RECOVERY_ERROR_COUNT_TOTAL", GpuMetric.NVLINK_RECOVERIES, "NVLink recoveries."),
            active("GR_ENGINE_ACTIVE", GpuMetric.GRAPHICS_ENGINE_ACTIVE, "the graphics or compute engine was busy."),
            active("SM_ACTIVE", GpuMetric.SM_ACTIVE, "an SM had at least one warp."),
            active("SM_OCCUPANCY", GpuMetric.SM_OCCUPANCY, "warps were on an SM, of those that it can hold."),
            active("PIPE_TENSOR_ACTIVE", GpuMetric.TENSOR_ACTIVE, "the tensor cores were busy."),
            active("DRAM_ACTIVE", GpuMetric.DRAM_ACTIVE, "memory sent or received data."),
            active("PIPE_FP64_ACTIVE", GpuMetric.FP64_ACTIVE, "the FP64 units were busy."),
            active("PIPE_FP32_ACTIVE", GpuMetric.FP32_ACTIVE, "the FP32 units were busy."),
            active("PIPE_FP16_ACTIVE", GpuMetric.FP16_ACTIVE, "the FP16 units were busy."),
            rate("PCIE_TX_BYTES", GpuMetric.PCIE_TRANSMIT_RATE, "sent over PCIe"),
            rate("PCIE_RX_BYTES", GpuMetric.PCIE_RECEIVE_RATE, "received over PCIe"),
            rate("NVLINK_TX_BYTES", GpuMetric.NVLINK_TRANSMIT_RATE, "sent over NVLink"),
            rate("NVLINK_RX_BYTES", GpuMetric.NVLINK_RECEIVE_RATE, "received over NVLink"));

    /** The rate over all NVLinks. dcgm-exporter lists it as a counter, but the number is a rate and can fall. */
    static final Family NVLINK_BANDWIDTH = Family.gauge(
            "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
            "Data sent and received over all NVLinks (in KiB/s divided by 1000, as in DCGM).");

    static final Family XID_ERRORS = Family.gauge(
            "DCGM_FI_DEV_XID_ERRORS", "The last Xid that the kernel log has of the GPU; 0 if there is none.");

    private DcgmFields() {}

    private static Field gauge(String name, GpuMetric metric, double divisor, String help) {
        return new Field(Family.gauge("DCGM_FI_DEV_" + name, help), metric, divisor, false);
    }

    private static Field counter(String name, GpuMetric metric, String help) {
        return new Field(Family.bareCounter("DCGM_FI_DEV_" + name, help), metric, 1, false);
    }

    private static Field memory(String name, GpuMetric metric, String help) {
        return new Field(Family.gauge("DCGM_FI_DEV_" + name, help), metric, MIB, true);
    }

    /** Returns a field that converts thousandths of a percent to a ratio. */
    private static Field active(String name, GpuMetric metric, String when) {
        Family family = Family.gauge("DCGM_FI_PROF_" + name, "Share of the time in which " + when);
        return new Field(family, metric, 1e5, true);
    }

    private static Field rate(String name, GpuMetric metric, String what) {
        return new Field(Family.gauge("DCGM_FI_PROF_" + name, "Bytes per second " + what + "."), metric, 1, false);
    }
}
