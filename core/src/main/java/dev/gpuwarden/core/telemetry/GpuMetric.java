package dev.gpuwarden.core.telemetry;

/**
 * The readings of a whole GPU. The ordinal is the reading's slot in a {@link GpuFrame} and so in native memory. The
 * order may change, since both sides receive it at start. Sources per reading stand beside the calls that fill them, in
 * native.
 */
public enum GpuMetric {
    // Memory. v1 `used` includes the reserved part; v2 (driver 535 and later) separates it.
    MEMORY_TOTAL("memory_total", Unit.BYTES, Kind.GAUGE, Cadence.FAST, 0, 1L << 44, "Frame buffer of the GPU."),
    MEMORY_RESERVED(
            "memory_reserved",
            Unit.BYTES,
            Kind.GAUGE,
            Cadence.FAST,
            0,
            1L << 44,
            "Frame buffer that the driver keeps for itself."),
    MEMORY_FREE("memory_free", Unit.BYTES, Kind.GAUGE, Cadence.FAST, 0, 1L << 44, "Free frame buffer memory."),
    MEMORY_USED("memory_used", Unit.BYTES, Kind.GAUGE, Cadence.FAST, 0, 1L << 44, "Frame buffer in use."),
    TEMPERATURE("temperature", Unit.CELSIUS, Kind.GAUGE, Cadence.FAST, -60, 200, "Temperature of the GPU's core."),
    POWER_USAGE("power_usage", Unit.MILLIWATTS, Kind.GAUGE, Cadence.FAST, 0, 5_000_000, "Power drawn by the board."),
    UTILIZATION_GPU(
            "utilization",
            Unit.PERCENT,
            Kind.GAUGE,
            Cadence.FAST,
            0,
            100,
            "Share of the last sampling period in which a kernel ran."),
    UTILIZATION_MEMORY(
            "memory_utilization",
            Unit.PERCENT,
            Kind.GAUGE,
            Cadence.FAST,
            0,
            100,
            "Share of the last sampling period in which memory was read or written."),
    CLOCK_EVENT_REASONS(
            "clock_event_reasons",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.FAST,
            0,
            0xffff_ffffL,
            "Why clocks are held down, as NVML's bit mask."),
    PERFORMANCE_STATE(
            "performance_state",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.FAST,
            0,
            32,
            "P-state; 0 is the fastest, 32 is unknown."),
    ECC_VOLATILE_CORRECTED(
            "ecc_volatile_corrected",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.FAST,
            0,
            1L << 40,
            "Memory errors corrected since the driver was loaded."),
    ECC_VOLATILE_UNCORRECTED(
            "ecc_volatile_uncorrected",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.FAST,
            0,
            1L << 40,
            "Memory errors not corrected since the driver was loaded."),
    REMAPPED_ROWS_PENDING(
            "remapped_rows_pending",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.FAST,
            0,
            1,
            "1 if a row remap waits for the next reset."),
    REMAPPED_ROWS_FAILURE(
            "remapped_rows_failure", Unit.NONE, Kind.GAUGE, Cadence.FAST, 0, 1, "1 if a row remap failed."),
    RECOVERY_ACTION(
            "recovery_action",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.FAST,
            0,
            15,
            "Recovery action that the driver requests: 0 nothing, 1 GPU reset, 2 node reboot, 3 drain P2P, 4 drain and reset, 5 recover IMEX domain."),
    // Slower.
    ECC_MODE("ecc_mode", Unit.NONE, Kind.GAUGE, Cadence.SLOW, 0, 1, "1 if ECC is on."),
    ECC_MODE_PENDING(
            "ecc_mode_pending", Unit.NONE, Kind.GAUGE, Cadence.SLOW, 0, 1, "1 if ECC will be on after the next reset."),
    ECC_AGGREGATE_CORRECTED(
            "ecc_aggregate_corrected",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 40,
            "Memory errors corrected in the board's life."),
    ECC_AGGREGATE_UNCORRECTED(
            "ecc_aggregate_uncorrected",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 40,
            "Memory errors not corrected in the board's life."),
    ECC_SRAM_VOLATILE_CORRECTED(
            "ecc_sram_volatile_corrected",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 40,
            "SRAM errors corrected since the driver was loaded."),
    ECC_SRAM_VOLATILE_UNCORRECTED_PARITY(
            "ecc_sram_volatile_uncorrected_parity",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 40,
            "SRAM parity errors since the driver was loaded."),
    ECC_SRAM_VOLATILE_UNCORRECTED_SECDED(
            "ecc_sram_volatile_uncorrected_secded",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 40,
            "SRAM double-bit errors since the driver was loaded."),
    ECC_SRAM_AGGREGATE_CORRECTED(
            "ecc_sram_aggregate_corrected",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 40,
            "SRAM errors corrected in the board's life."),
    ECC_SRAM_AGGREGATE_UNCORRECTED_PARITY(
            "ecc_sram_aggregate_uncorrected_parity",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 40,
            "SRAM parity errors in the board's life."),
    ECC_SRAM_AGGREGATE_UNCORRECTED_SECDED(
            "ecc_sram_aggregate_uncorrected_secded",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 40,
            "SRAM double-bit errors in the board's life."),
    ECC_SRAM_THRESHOLD_EXCEEDED(
            "ecc_sram_threshold_exceeded",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            1,
            "1 if the SRAM error threshold was passed: the board is due for replacement."),
    RETIRED_PAGES_SINGLE_BIT(
            "retired_pages_single_bit",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            4096,
            "Pages retired for repeated single-bit errors (before Ampere)."),
    RETIRED_PAGES_DOUBLE_BIT(
            "retired_pages_double_bit",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            4096,
            "Pages retired for a double-bit error (before Ampere)."),
    RETIRED_PAGES_PENDING(
            "retired_pages_pending",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            1,
            "1 if pages wait for the next reset to be retired."),
    REMAPPED_ROWS_CORRECTABLE(
            "remapped_rows_correctable",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1 << 20,
            "Rows remapped for correctable errors."),
    REMAPPED_ROWS_UNCORRECTABLE(
            "remapped_rows_uncorrectable",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1 << 20,
            "Rows remapped for uncorrectable errors."),
    REMAP_BANKS_MAX(
            "remap_banks_max",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            1 << 20,
            "Memory banks with all spare rows left."),
    REMAP_BANKS_HIGH(
            "remap_banks_high",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            1 << 20,
            "Memory banks with many spare rows left."),
    REMAP_BANKS_PARTIAL(
            "remap_banks_partial",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            1 << 20,
            "Memory banks with some spare rows left."),
    REMAP_BANKS_LOW(
            "remap_banks_low",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            1 << 20,
            "Memory banks with few spare rows left."),
    REMAP_BANKS_NONE(
            "remap_banks_none", Unit.NONE, Kind.GAUGE, Cadence.SLOW, 0, 1 << 20, "Memory banks without a spare row."),
    MEMORY_TEMPERATURE(
            "memory_temperature", Unit.CELSIUS, Kind.GAUGE, Cadence.SLOW, -60, 200, "Temperature of the memory."),
    TEMPERATURE_MARGIN(
            "temperature_margin",
            Unit.CELSIUS,
            Kind.GAUGE,
            Cadence.SLOW,
            -100,
            200,
            "Degrees left to the nearest slowdown limit."),
    TEMPERATURE_SHUTDOWN(
            "temperature_shutdown",
            Unit.CELSIUS,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            200,
            "Temperature at which the GPU shuts down."),
    TEMPERATURE_SLOWDOWN(
            "temperature_slowdown",
            Unit.CELSIUS,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            200,
            "Temperature at which the GPU slows down."),
    TEMPERATURE_MAX_OPERATING(
            "temperature_max_operating",
            Unit.CELSIUS,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            200,
            "Highest temperature of normal operation."),
    TEMPERATURE_MEMORY_MAX(
            "temperature_memory_max",
            Unit.CELSIUS,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            200,
            "Highest temperature of the memory in normal operation."),
    CLOCK_GRAPHICS("clock_graphics", Unit.MEGAHERTZ, Kind.GAUGE, Cadence.SLOW, 0, 20_000, "Graphics clock."),
    CLOCK_SM("clock_sm", Unit.MEGAHERTZ, Kind.GAUGE, Cadence.SLOW, 0, 20_000, "SM clock."),
    CLOCK_MEMORY("clock_memory", Unit.MEGAHERTZ, Kind.GAUGE, Cadence.SLOW, 0, 50_000, "Memory clock."),
    CLOCK_VIDEO("clock_video", Unit.MEGAHERTZ, Kind.GAUGE, Cadence.SLOW, 0, 20_000, "Video clock."),
    CLOCK_GRAPHICS_MAX(
            "clock_graphics_max", Unit.MEGAHERTZ, Kind.GAUGE, Cadence.SLOW, 0, 20_000, "Highest graphics clock."),
    CLOCK_SM_MAX("clock_sm_max", Unit.MEGAHERTZ, Kind.GAUGE, Cadence.SLOW, 0, 20_000, "Highest SM clock."),
    CLOCK_MEMORY_MAX("clock_memory_max", Unit.MEGAHERTZ, Kind.GAUGE, Cadence.SLOW, 0, 50_000, "Highest memory clock."),
    POWER_AVERAGE(
            "power_average",
            Unit.MILLIWATTS,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            5_000_000,
            "Power drawn, averaged by the driver over one second."),
    POWER_INSTANT(
            "power_instant", Unit.MILLIWATTS, Kind.GAUGE, Cadence.SLOW, 0, 5_000_000, "Power drawn at one instant."),
    POWER_LIMIT_ENFORCED(
            "power_limit_enforced", Unit.MILLIWATTS, Kind.GAUGE, Cadence.SLOW, 0, 5_000_000, "Power limit in force."),
    POWER_LIMIT_DEFAULT(
            "power_limit_default", Unit.MILLIWATTS, Kind.GAUGE, Cadence.SLOW, 0, 5_000_000, "Power limit as shipped."),
    ENERGY(
            "energy",
            Unit.MILLIJOULES,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 60,
            "Energy used since the driver was loaded."),
    BAR1_TOTAL("bar1_total", Unit.BYTES, Kind.GAUGE, Cadence.SLOW, 0, 1L << 44, "BAR1 aperture."),
    BAR1_USED("bar1_used", Unit.BYTES, Kind.GAUGE, Cadence.SLOW, 0, 1L << 44, "BAR1 aperture in use."),
    UTILIZATION_ENCODER(
            "encoder_utilization", Unit.PERCENT, Kind.GAUGE, Cadence.SLOW, 0, 100, "Load of the video encoder."),
    UTILIZATION_DECODER(
            "decoder_utilization", Unit.PERCENT, Kind.GAUGE, Cadence.SLOW, 0, 100, "Load of the video decoder."),
    FAN_SPEED("fan_speed", Unit.PERCENT, Kind.GAUGE, Cadence.SLOW, 0, 150, "Fan speed that the driver intends."),
    PCIE_GENERATION("pcie_generation", Unit.NONE, Kind.GAUGE, Cadence.SLOW, 0, 10, "PCIe generation in use."),
    PCIE_GENERATION_MAX(
            "pcie_generation_max",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            10,
            "PCIe generation that GPU and slot could use."),
    PCIE_WIDTH("pcie_width", Unit.NONE, Kind.GAUGE, Cadence.SLOW, 0, 64, "PCIe lanes in use."),
    PCIE_WIDTH_MAX(
            "pcie_width_max", Unit.NONE, Kind.GAUGE, Cadence.SLOW, 0, 64, "PCIe lanes that GPU and slot could use."),
    PCIE_REPLAYS("pcie_replays", Unit.NONE, Kind.COUNTER, Cadence.SLOW, 0, 1L << 40, "PCIe packets sent again."),
    PCIE_TRANSMITTED(
            "pcie_transmitted",
            Unit.BYTES,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 62,
            "Bytes sent over PCIe, as the driver counts them."),
    PCIE_RECEIVED(
            "pcie_received",
            Unit.BYTES,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 62,
            "Bytes received over PCIe, as the driver counts them."),
    VIOLATION_POWER(
            "violation_power",
            Unit.NANOSECONDS,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 62,
            "Time held down by the power limit."),
    VIOLATION_THERMAL(
            "violation_thermal",
            Unit.NANOSECONDS,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 62,
            "Time held down by temperature."),
    VIOLATION_SYNC_BOOST(
            "violation_sync_boost",
            Unit.NANOSECONDS,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 62,
            "Time held down by sync boost."),
    VIOLATION_BOARD_LIMIT(
            "violation_board_limit",
            Unit.NANOSECONDS,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 62,
            "Time held down by the board's limits."),
    VIOLATION_LOW_UTILIZATION(
            "violation_low_utilization",
            Unit.NANOSECONDS,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 62,
            "Time at low clocks for lack of work."),
    VIOLATION_RELIABILITY(
            "violation_reliability",
            Unit.NANOSECONDS,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 62,
            "Time held down by the reliability voltage."),
    NVLINK_LINKS("nvlink_links", Unit.NONE, Kind.GAUGE, Cadence.SLOW, 0, 36, "NVLinks of this GPU."),
    NVLINK_CRC_FLIT_ERRORS(
            "nvlink_crc_flit_errors",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 40,
            "NVLink flow-control CRC errors of all links."),
    NVLINK_CRC_DATA_ERRORS(
            "nvlink_crc_data_errors",
            Unit.NONE,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 40,
            "NVLink data CRC errors of all links."),
    NVLINK_REPLAYS(
            "nvlink_replays", Unit.NONE, Kind.COUNTER, Cadence.SLOW, 0, 1L << 40, "NVLink replays of all links."),
    NVLINK_RECOVERIES(
            "nvlink_recoveries", Unit.NONE, Kind.COUNTER, Cadence.SLOW, 0, 1L << 40, "NVLink recoveries of all links."),
    NVLINK_TRANSMITTED(
            "nvlink_transmitted",
            Unit.KIBIBYTES,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 52,
            "Payload sent over all NVLinks."),
    NVLINK_RECEIVED(
            "nvlink_received",
            Unit.KIBIBYTES,
            Kind.COUNTER,
            Cadence.SLOW,
            0,
            1L << 52,
            "Payload received over all NVLinks."),
    FABRIC_STATE(
            "fabric_state",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            3,
            "Registration with the NVLink fabric: 0 not applicable, 1 not started, 2 in progress, 3 completed."),
    FABRIC_STATUS(
            "fabric_status",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            999,
            "Result of the registration as an nvmlReturn, once completed."),
    FABRIC_CLIQUE(
            "fabric_clique",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            0xffff_ffffL,
            "Clique of the fabric that the GPU belongs to."),
    FABRIC_HEALTH_MASK(
            "fabric_health_mask",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            0xffff_ffffL,
            "Fabric health, as NVML's mask of two-bit fields."),
    FABRIC_HEALTH_SUMMARY(
            "fabric_health",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            3,
            "Fabric health: 0 not supported, 1 healthy, 2 unhealthy, 3 limited capacity."),
    PERSISTENCE_MODE(
            "persistence_mode",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            1,
            "1 if the driver stays loaded without clients."),
    COMPUTE_MODE(
            "compute_mode",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            3,
            "0 default, 1 exclusive thread, 2 prohibited, 3 exclusive process."),
    MIG_MODE("mig_mode", Unit.NONE, Kind.GAUGE, Cadence.SLOW, 0, 1, "1 if the GPU is partitioned."),
    MIG_MODE_PENDING(
            "mig_mode_pending",
            Unit.NONE,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            1,
            "1 if the GPU will be partitioned after the next reset."),
    // Profiling (GPM): averages between two slow samplings, on request.
    GRAPHICS_ENGINE_ACTIVE(
            "graphics_engine_active",
            Unit.MILLIPERCENT,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            200_000,
            "Share of the time in which the graphics or compute engine was busy."),
    SM_ACTIVE(
            "sm_active",
            Unit.MILLIPERCENT,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            200_000,
            "Share of the time in which an SM had at least one warp, averaged over all SMs."),
    SM_OCCUPANCY(
            "sm_occupancy",
            Unit.MILLIPERCENT,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            200_000,
            "Warps on an SM as a share of those that it can hold, averaged over time and all SMs."),
    TENSOR_ACTIVE(
            "tensor_active",
            Unit.MILLIPERCENT,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            200_000,
            "Share of the time in which the tensor cores were busy."),
    DRAM_ACTIVE(
            "dram_active",
            Unit.MILLIPERCENT,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            200_000,
            "Share of the time in which memory sent or received data."),
    FP64_ACTIVE(
            "fp64_active",
            Unit.MILLIPERCENT,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            200_000,
            "Share of the time in which the FP64 units were busy."),
    FP32_ACTIVE(
            "fp32_active",
            Unit.MILLIPERCENT,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            200_000,
            "Share of the time in which the FP32 units were busy."),
    FP16_ACTIVE(
            "fp16_active",
            Unit.MILLIPERCENT,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            200_000,
            "Share of the time in which the FP16 units were busy."),
    PCIE_TRANSMIT_RATE(
            "pcie_transmit_rate",
            Unit.BYTES_PER_SECOND,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            1L << 44,
            "Bytes sent over PCIe per second."),
    PCIE_RECEIVE_RATE(
            "pcie_receive_rate",
            Unit.BYTES_PER_SECOND,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            1L << 44,
            "Bytes received over PCIe per second."),
    NVLINK_TRANSMIT_RATE(
            "nvlink_transmit_rate",
            Unit.BYTES_PER_SECOND,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            1L << 44,
            "Bytes sent over all NVLinks per second."),
    NVLINK_RECEIVE_RATE(
            "nvlink_receive_rate",
            Unit.BYTES_PER_SECOND,
            Kind.GAUGE,
            Cadence.SLOW,
            0,
            1L << 44,
            "Bytes received over all NVLinks per second.");

    private static final GpuMetric[] VALUES = values();

    private final String label;
    private final Unit unit;
    private final Kind kind;
    private final Cadence cadence;
    private final long min;
    private final long max;
    private final String help;

    GpuMetric(String label, Unit unit, Kind kind, Cadence cadence, long min, long max, String help) {
        this.label = label;
        this.unit = unit;
        this.kind = kind;
        this.cadence = cadence;
        this.min = min;
        this.max = max;
        this.help = help;
    }

    /** Returns the reading's name without unit: in metrics between `gpuwarden_gpu_` and the unit, in JSON unchanged. */
    public String label() {
        return label;
    }

    /** Returns the unit of raw values. */
    public Unit unit() {
        return unit;
    }

    public Kind kind() {
        return kind;
    }

    public Cadence cadence() {
        return cadence;
    }

    /** Returns the description for HELP. */
    public String help() {
        return help;
    }

    /**
     * Returns whether a raw value can be true on any board, present or near future. The bounds are wide by design: they
     * catch a library that returns 808334905 percent (seen in the field), and do not judge a GPU.
     */
    public boolean plausible(long raw) {
        return raw >= min && raw <= max;
    }

    public static int count() {
        return VALUES.length;
    }

    public static GpuMetric of(int ordinal) {
        return VALUES[ordinal];
    }
}
