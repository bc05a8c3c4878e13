package dev.gpuwarden.core.telemetry;

import static dev.gpuwarden.core.telemetry.Cadence.*;
import static dev.gpuwarden.core.telemetry.Kind.*;
import static dev.gpuwarden.core.telemetry.Unit.*;

/**
 * The readings of a whole GPU. The ordinal is the reading's slot in a {@link GpuFrame} and so in native memory. The
 * order may change, since both sides receive it at start. Sources per reading stand beside the calls that fill them, in
 * native.
 */
public enum GpuMetric implements Metric {
    // Memory. v1 `used` includes the reserved part; v2 (driver 535 and later) separates it.
    MEMORY_TOTAL(BYTES, GAUGE, FAST, 1L << 44, "Frame buffer of the GPU."),
    MEMORY_RESERVED(BYTES, GAUGE, FAST, 1L << 44, "Frame buffer that the driver keeps for itself."),
    MEMORY_FREE(BYTES, GAUGE, FAST, 1L << 44, "Free frame buffer memory."),
    MEMORY_USED(BYTES, GAUGE, FAST, 1L << 44, "Frame buffer in use."),
    TEMPERATURE("temperature", CELSIUS, GAUGE, FAST, -60, 200, "Temperature of the GPU's core."),
    POWER_USAGE(MILLIWATTS, GAUGE, FAST, 5_000_000, "Power drawn by the board."),
    UTILIZATION_GPU(
            "utilization", PERCENT, GAUGE, FAST, 0, 100, "Share of the last sampling period in which a kernel ran."),
    UTILIZATION_MEMORY(
            "memory_utilization",
            PERCENT,
            GAUGE,
            FAST,
            0,
            100,
            "Share of the last sampling period in which memory was read or written."),
    CLOCK_EVENT_REASONS(NONE, GAUGE, FAST, 0xffff_ffffL, "Why clocks are held down, as NVML's bit mask."),
    PERFORMANCE_STATE(NONE, GAUGE, FAST, 32, "P-state; 0 is the fastest, 32 is unknown."),
    ECC_VOLATILE_CORRECTED(NONE, COUNTER, FAST, 1L << 40, "Memory errors corrected since the driver was loaded."),
    ECC_VOLATILE_UNCORRECTED(NONE, COUNTER, FAST, 1L << 40, "Memory errors not corrected since the driver was loaded."),
    REMAPPED_ROWS_PENDING(NONE, GAUGE, FAST, 1, "1 if a row remap waits for the next reset."),
    REMAPPED_ROWS_FAILURE(NONE, GAUGE, FAST, 1, "1 if a row remap failed."),
    RECOVERY_ACTION(
            NONE,
            GAUGE,
            FAST,
            15,
            "Recovery action that the driver requests: 0 nothing, 1 GPU reset, 2 node reboot, 3 drain P2P, 4 drain and reset, 5 recover IMEX domain."),
    // Slower.
    ECC_MODE(NONE, GAUGE, SLOW, 1, "1 if ECC is on."),
    ECC_MODE_PENDING(NONE, GAUGE, SLOW, 1, "1 if ECC will be on after the next reset."),
    ECC_AGGREGATE_CORRECTED(NONE, COUNTER, SLOW, 1L << 40, "Memory errors corrected in the board's life."),
    ECC_AGGREGATE_UNCORRECTED(NONE, COUNTER, SLOW, 1L << 40, "Memory errors not corrected in the board's life."),
    ECC_SRAM_VOLATILE_CORRECTED(NONE, COUNTER, SLOW, 1L << 40, "SRAM errors corrected since the driver was loaded."),
    ECC_SRAM_VOLATILE_UNCORRECTED_PARITY(
            NONE, COUNTER, SLOW, 1L << 40, "SRAM parity errors since the driver was loaded."),
    ECC_SRAM_VOLATILE_UNCORRECTED_SECDED(
            NONE, COUNTER, SLOW, 1L << 40, "SRAM double-bit errors since the driver was loaded."),
    ECC_SRAM_AGGREGATE_CORRECTED(NONE, COUNTER, SLOW, 1L << 40, "SRAM errors corrected in the board's life."),
    ECC_SRAM_AGGREGATE_UNCORRECTED_PARITY(NONE, COUNTER, SLOW, 1L << 40, "SRAM parity errors in the board's life."),
    ECC_SRAM_AGGREGATE_UNCORRECTED_SECDED(NONE, COUNTER, SLOW, 1L << 40, "SRAM double-bit errors in the board's life."),
    ECC_SRAM_THRESHOLD_EXCEEDED(
            NONE, GAUGE, SLOW, 1, "1 if the SRAM error threshold was passed: the board is due for replacement."),
    RETIRED_PAGES_SINGLE_BIT(
            NONE, COUNTER, SLOW, 4096, "Pages retired for repeated single-bit errors (before Ampere)."),
    RETIRED_PAGES_DOUBLE_BIT(NONE, COUNTER, SLOW, 4096, "Pages retired for a double-bit error (before Ampere)."),
    RETIRED_PAGES_PENDING(NONE, GAUGE, SLOW, 1, "1 if pages wait for the next reset to be retired."),
    REMAPPED_ROWS_CORRECTABLE(NONE, COUNTER, SLOW, 1 << 20, "Rows remapped for correctable errors."),
    REMAPPED_ROWS_UNCORRECTABLE(NONE, COUNTER, SLOW, 1 << 20, "Rows remapped for uncorrectable errors."),
    REMAP_BANKS_MAX(NONE, GAUGE, SLOW, 1 << 20, "Memory banks with all spare rows left."),
    REMAP_BANKS_HIGH(NONE, GAUGE, SLOW, 1 << 20, "Memory banks with many spare rows left."),
    REMAP_BANKS_PARTIAL(NONE, GAUGE, SLOW, 1 << 20, "Memory banks with some spare rows left."),
    REMAP_BANKS_LOW(NONE, GAUGE, SLOW, 1 << 20, "Memory banks with few spare rows left."),
    REMAP_BANKS_NONE(NONE, GAUGE, SLOW, 1 << 20, "Memory banks without a spare row."),
    MEMORY_TEMPERATURE("memory_temperature", CELSIUS, GAUGE, SLOW, -60, 200, "Temperature of the memory."),
    TEMPERATURE_MARGIN(
            "temperature_margin", CELSIUS, GAUGE, SLOW, -100, 200, "Degrees left to the nearest slowdown limit."),
    TEMPERATURE_SHUTDOWN(CELSIUS, GAUGE, SLOW, 200, "Temperature at which the GPU shuts down."),
    TEMPERATURE_SLOWDOWN(CELSIUS, GAUGE, SLOW, 200, "Temperature at which the GPU slows down."),
    TEMPERATURE_MAX_OPERATING(CELSIUS, GAUGE, SLOW, 200, "Highest temperature of normal operation."),
    TEMPERATURE_MEMORY_MAX(CELSIUS, GAUGE, SLOW, 200, "Highest temperature of the memory in normal operation."),
    CLOCK_GRAPHICS(MEGAHERTZ, GAUGE, SLOW, 20_000, "Graphics clock."),
    CLOCK_SM(MEGAHERTZ, GAUGE, SLOW, 20_000, "SM clock."),
    CLOCK_MEMORY(MEGAHERTZ, GAUGE, SLOW, 50_000, "Memory clock."),
    CLOCK_VIDEO(MEGAHERTZ, GAUGE, SLOW, 20_000, "Video clock."),
    CLOCK_GRAPHICS_MAX(MEGAHERTZ, GAUGE, SLOW, 20_000, "Highest graphics clock."),
    CLOCK_SM_MAX(MEGAHERTZ, GAUGE, SLOW, 20_000, "Highest SM clock."),
    CLOCK_MEMORY_MAX(MEGAHERTZ, GAUGE, SLOW, 50_000, "Highest memory clock."),
    POWER_AVERAGE(MILLIWATTS, GAUGE, SLOW, 5_000_000, "Power drawn, averaged by the driver over one second."),
    POWER_INSTANT(MILLIWATTS, GAUGE, SLOW, 5_000_000, "Power drawn at one instant."),
    POWER_LIMIT_ENFORCED(MILLIWATTS, GAUGE, SLOW, 5_000_000, "Power limit in force."),
    POWER_LIMIT_DEFAULT(MILLIWATTS, GAUGE, SLOW, 5_000_000, "Power limit as shipped."),
    ENERGY(MILLIJOULES, COUNTER, SLOW, 1L << 60, "Energy used since the driver was loaded."),
    BAR1_TOTAL(BYTES, GAUGE, SLOW, 1L << 44, "BAR1 aperture."),
    BAR1_USED(BYTES, GAUGE, SLOW, 1L << 44, "BAR1 aperture in use."),
    UTILIZATION_ENCODER("encoder_utilization", PERCENT, GAUGE, SLOW, 0, 100, "Load of the video encoder."),
    UTILIZATION_DECODER("decoder_utilization", PERCENT, GAUGE, SLOW, 0, 100, "Load of the video decoder."),
    FAN_SPEED(PERCENT, GAUGE, SLOW, 150, "Fan speed that the driver intends."),
    PCIE_GENERATION(NONE, GAUGE, SLOW, 10, "PCIe generation in use."),
    PCIE_GENERATION_MAX(NONE, GAUGE, SLOW, 10, "PCIe generation that GPU and slot could use."),
    PCIE_WIDTH(NONE, GAUGE, SLOW, 64, "PCIe lanes in use."),
    PCIE_WIDTH_MAX(NONE, GAUGE, SLOW, 64, "PCIe lanes that GPU and slot could use."),
    PCIE_REPLAYS(NONE, COUNTER, SLOW, 1L << 40, "PCIe packets sent again."),
    PCIE_TRANSMITTED(BYTES, COUNTER, SLOW, 1L << 62, "Bytes sent over PCIe, as the driver counts them."),
    PCIE_RECEIVED(BYTES, COUNTER, SLOW, 1L << 62, "Bytes received over PCIe, as the driver counts them."),
    VIOLATION_POWER(NANOSECONDS, COUNTER, SLOW, 1L << 62, "Time held down by the power limit."),
    VIOLATION_THERMAL(NANOSECONDS, COUNTER, SLOW, 1L << 62, "Time held down by temperature."),
    VIOLATION_SYNC_BOOST(NANOSECONDS, COUNTER, SLOW, 1L << 62, "Time held down by sync boost."),
    VIOLATION_BOARD_LIMIT(NANOSECONDS, COUNTER, SLOW, 1L << 62, "Time held down by the board's limits."),
    VIOLATION_LOW_UTILIZATION(NANOSECONDS, COUNTER, SLOW, 1L << 62, "Time at low clocks for lack of work."),
    VIOLATION_RELIABILITY(NANOSECONDS, COUNTER, SLOW, 1L << 62, "Time held down by the reliability voltage."),
    NVLINK_LINKS(NONE, GAUGE, SLOW, 36, "NVLinks of this GPU."),
    NVLINK_CRC_FLIT_ERRORS(NONE, COUNTER, SLOW, 1L << 40, "NVLink flow-control CRC errors of all links."),
    NVLINK_CRC_DATA_ERRORS(NONE, COUNTER, SLOW, 1L << 40, "NVLink data CRC errors of all links."),
    NVLINK_REPLAYS(NONE, COUNTER, SLOW, 1L << 40, "NVLink replays of all links."),
    NVLINK_RECOVERIES(NONE, COUNTER, SLOW, 1L << 40, "NVLink recoveries of all links."),
    NVLINK_TRANSMITTED(KIBIBYTES, COUNTER, SLOW, 1L << 52, "Payload sent over all NVLinks."),
    NVLINK_RECEIVED(KIBIBYTES, COUNTER, SLOW, 1L << 52, "Payload received over all NVLinks."),
    FABRIC_STATE(
            NONE,
            GAUGE,
            SLOW,
            3,
            "Registration with the NVLink fabric: 0 not applicable, 1 not started, 2 in progress, 3 completed."),
    FABRIC_STATUS(NONE, GAUGE, SLOW, 999, "Result of the registration as an nvmlReturn, once completed."),
    FABRIC_CLIQUE(NONE, GAUGE, SLOW, 0xffff_ffffL, "Clique of the fabric that the GPU belongs to."),
    FABRIC_HEALTH_MASK(NONE, GAUGE, SLOW, 0xffff_ffffL, "Fabric health, as NVML's mask of two-bit fields."),
    FABRIC_HEALTH_SUMMARY(
            "fabric_health",
            NONE,
            GAUGE,
            SLOW,
            0,
            3,
            "Fabric health: 0 not supported, 1 healthy, 2 unhealthy, 3 limited capacity."),
    PERSISTENCE_MODE(NONE, GAUGE, SLOW, 1, "1 if the driver stays loaded without clients."),
    COMPUTE_MODE(NONE, GAUGE, SLOW, 3, "0 default, 1 exclusive thread, 2 prohibited, 3 exclusive process."),
    MIG_MODE(NONE, GAUGE, SLOW, 1, "1 if the GPU is partitioned."),
    MIG_MODE_PENDING(NONE, GAUGE, SLOW, 1, "1 if the GPU will be partitioned after the next reset."),
    VIRTUALIZATION_MODE(NONE, GAUGE, SLOW, 4, "0 none, 1 pass-through, 2 vGPU guest, 3 vGPU host, 4 vSGA host."),
    VGPU_LICENSABLE_FEATURES(NONE, GAUGE, SLOW, 3, "Features of NVIDIA's vGPU software that can have a licence."),
    VGPU_LICENSED_FEATURES(
            NONE, GAUGE, SLOW, 1L << 34, "More than 0 if a feature of NVIDIA's vGPU software has a licence."),
    // Profiling (GPM): averages between two slow samplings, on request.
    GRAPHICS_ENGINE_ACTIVE(
            MILLIPERCENT, GAUGE, SLOW, 200_000, "Share of the time in which the graphics or compute engine was busy."),
    SM_ACTIVE(
            MILLIPERCENT,
            GAUGE,
            SLOW,
            200_000,
            "Share of the time in which an SM had at least one warp, averaged over all SMs."),
    SM_OCCUPANCY(
            MILLIPERCENT,
            GAUGE,
            SLOW,
            200_000,
            "Warps on an SM as a share of those that it can hold, averaged over time and all SMs."),
    TENSOR_ACTIVE(MILLIPERCENT, GAUGE, SLOW, 200_000, "Share of the time in which the tensor cores were busy."),
    DRAM_ACTIVE(MILLIPERCENT, GAUGE, SLOW, 200_000, "Share of the time in which memory sent or received data."),
    FP64_ACTIVE(MILLIPERCENT, GAUGE, SLOW, 200_000, "Share of the time in which the FP64 units were busy."),
    FP32_ACTIVE(MILLIPERCENT, GAUGE, SLOW, 200_000, "Share of the time in which the FP32 units were busy."),
    FP16_ACTIVE(MILLIPERCENT, GAUGE, SLOW, 200_000, "Share of the time in which the FP16 units were busy."),
    PCIE_TRANSMIT_RATE(BYTES_PER_SECOND, GAUGE, SLOW, 1L << 44, "Bytes sent over PCIe per second."),
    PCIE_RECEIVE_RATE(BYTES_PER_SECOND, GAUGE, SLOW, 1L << 44, "Bytes received over PCIe per second."),
    NVLINK_TRANSMIT_RATE(BYTES_PER_SECOND, GAUGE, SLOW, 1L << 44, "Bytes sent over all NVLinks per second."),
    NVLINK_RECEIVE_RATE(BYTES_PER_SECOND, GAUGE, SLOW, 1L << 44, "Bytes received over all NVLinks per second.");

    private static final GpuMetric[] VALUES = values();

    private final Spec spec;
    private final Cadence cadence;

    GpuMetric(Unit unit, Kind kind, Cadence cadence, long max, String help) {
        this.spec = Spec.of(this, unit, kind, max, help);
        this.cadence = cadence;
    }

    GpuMetric(String label, Unit unit, Kind kind, Cadence cadence, long min, long max, String help) {
        this.spec = new Spec(label, unit, kind, min, max, help);
        this.cadence = cadence;
    }

    @Override
    public Spec spec() {
        return spec;
    }

    public Cadence cadence() {
        return cadence;
    }

    /** Returns whether a sampling at this cadence reads it. */
    public boolean isReadAt(Cadence sampled) {
        return sampled == Cadence.MEMORY ? compareTo(MEMORY_USED) <= 0 : sampled == cadence;
    }

    public static int count() {
        return VALUES.length;
    }

    public static GpuMetric of(int ordinal) {
        return VALUES[ordinal];
    }
}
