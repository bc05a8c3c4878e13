package dev.gpuwarden.nat.telemetry;

import static dev.gpuwarden.core.telemetry.GpuMetric.*;
import static dev.gpuwarden.nat.telemetry.Take.Width.S32;
import static dev.gpuwarden.nat.telemetry.Take.Width.U32;
import static dev.gpuwarden.nat.telemetry.Take.Width.U64;

import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.nat.nvml.CStruct;
import dev.gpuwarden.nat.nvml.NvmlStructs;
import dev.gpuwarden.nat.nvml.NvmlSymbol;
import java.util.ArrayList;
import java.util.List;

/**
 * The sources of all readings. Numbers are of nvml.h 13.3: field ids NVML_FI_DEV_*, clock types, thresholds, policies.
 * It contains no call that waits for a sampling period of its own, as nvmlDeviceGetPcieThroughput does.
 */
public final class TelemetryPlan {

    private static final int ALL_LINKS = 0xffff_ffff;
    // nvmlMemoryErrorType_t and nvmlEccCounterType_t; nvmlMemoryLocation_t.
    private static final int CORRECTED = 0;
    private static final int UNCORRECTED = 1;
    private static final int VOLATILE = 0;
    private static final int AGGREGATE = 1;
    private static final int SRAM = 7;

    private final List<Step> steps = new ArrayList<>();

    private TelemetryPlan() {}

    public static List<Step> of(Cadence cadence) {
        TelemetryPlan plan = new TelemetryPlan();
        switch (cadence) {
            case FAST -> plan.fast();
            case SLOW -> plan.slow();
        }
        return List.copyOf(plan.steps);
    }

    private void fast() {
        struct(NvmlSymbol.MEMORY_INFO_V2, "nvmlMemory_v2_t", 2)
                .u64("total", MEMORY_TOTAL)
                .u64("reserved", MEMORY_RESERVED)
                .u64("free", MEMORY_FREE)
                .u64("used", MEMORY_USED)
                .add();
        struct(NvmlSymbol.MEMORY_INFO, "nvmlMemory_t", 0)
                .u64("total", MEMORY_TOTAL)
                .u64("free", MEMORY_FREE)
                .u64("used", MEMORY_USED)
                .add();
        struct(NvmlSymbol.TEMPERATURE_V, "nvmlTemperature_v1_t", 1)
                .s32("temperature", TEMPERATURE)
                .add();
        // Unsigned, as in NVML: a driver that returns 0xFFFFFFFF is refused, and is not -1 degrees.
        call(NvmlSymbol.TEMPERATURE, Shape.ARG_OUT, List.of(0), take(0, U32, TEMPERATURE));
        u32(NvmlSymbol.POWER_USAGE, POWER_USAGE);
        struct(NvmlSymbol.UTILIZATION, "nvmlUtilization_t", 0)
                .u32("gpu", UTILIZATION_GPU)
                .u32("memory", UTILIZATION_MEMORY)
                .add();
        u64(NvmlSymbol.CLOCK_EVENT_REASONS, CLOCK_EVENT_REASONS);
        u64(NvmlSymbol.THROTTLE_REASONS, CLOCK_EVENT_REASONS);
        u32(NvmlSymbol.PERFORMANCE_STATE, PERFORMANCE_STATE);
        fields(
                field(3, ECC_VOLATILE_CORRECTED),
                field(4, ECC_VOLATILE_UNCORRECTED),
                field(144, REMAPPED_ROWS_PENDING),
                field(145, REMAPPED_ROWS_FAILURE),
                field(230, RECOVERY_ACTION));
        eccTotal(CORRECTED, VOLATILE, ECC_VOLATILE_CORRECTED);
        eccTotal(UNCORRECTED, VOLATILE, ECC_VOLATILE_UNCORRECTED);
        struct(NvmlSymbol.REMAPPED_ROWS_V2, "nvmlRemappedRowsInfo_v2_t", 0)
                .u32("bPending", REMAPPED_ROWS_PENDING)
                .u32("bFailureOccurred", REMAPPED_ROWS_FAILURE)
                .add();
        call(
                NvmlSymbol.REMAPPED_ROWS,
                Shape.QUAD,
                List.of(),
                take(16, U32, REMAPPED_ROWS_PENDING),
                take(24, U32, REMAPPED_ROWS_FAILURE));
    }

    private void slow() {
        fieldBatch();
        ecc();
        retiredAndRemapped();
        temperatures();
        clocksAndPower();
        pcieAndVideo();
        violations();
        steps.addAll(LinkPlan.steps());
        fabric();
        modes();
    }

    /** Adds everything with a field id, in one call; the calls below read what a driver does not support there. */
    private void fieldBatch() {
        fields(
                field(5, ECC_AGGREGATE_CORRECTED),
                field(6, ECC_AGGREGATE_UNCORRECTED),
                field(29, RETIRED_PAGES_SINGLE_BIT),
                field(30, RETIRED_PAGES_DOUBLE_BIT),
                field(31, RETIRED_PAGES_PENDING),
                field(142, REMAPPED_ROWS_CORRECTABLE),
                field(143, REMAPPED_ROWS_UNCORRECTABLE),
                field(82, MEMORY_TEMPERATURE),
                field(185, POWER_AVERAGE),
                field(186, POWER_INSTANT),
                field(189, POWER_LIMIT_DEFAULT),
                field(83, ENERGY),
                field(94, PCIE_REPLAYS),
                field(197, PCIE_TRANSMITTED),
                field(198, PCIE_RECEIVED),
                field(74, VIOLATION_POWER),
                field(75, VIOLATION_THERMAL),
                field(76, VIOLATION_SYNC_BOOST),
                field(77, VIOLATION_BOARD_LIMIT),
                field(78, VIOLATION_LOW_UTILIZATION),
                field(79, VIOLATION_RELIABILITY),
                field(91, NVLINK_LINKS),
                field(38, NVLINK_CRC_FLIT_ERRORS),
                field(45, NVLINK_CRC_DATA_ERRORS),
                field(52, NVLINK_REPLAYS),
                field(59, NVLINK_RECOVERIES),
                ofAllLinks(LinkPlan.RECOVERY_EVENTS, NVLINK_RECOVERIES),
                ofAllLinks(138, NVLINK_TRANSMITTED),
                ofAllLinks(139, NVLINK_RECEIVED));
    }

    private void ecc() {
        pair(NvmlSymbol.ECC_MODE, ECC_MODE, ECC_MODE_PENDING);
        eccTotal(CORRECTED, AGGREGATE, ECC_AGGREGATE_CORRECTED);
        eccTotal(UNCORRECTED, AGGREGATE, ECC_AGGREGATE_UNCORRECTED);
        struct(NvmlSymbol.ECC_SRAM, "nvmlEccSramErrorStatus_v1_t", 1)
                .u64("volatileCor", ECC_SRAM_VOLATILE_CORRECTED)
                .u64("volatileUncParity", ECC_SRAM_VOLATILE_UNCORRECTED_PARITY)
                .u64("volatileUncSecDed", ECC_SRAM_VOLATILE_UNCORRECTED_SECDED)
                .u64("aggregateCor", ECC_SRAM_AGGREGATE_CORRECTED)
                .u64("aggregateUncParity", ECC_SRAM_AGGREGATE_UNCORRECTED_PARITY)
                .u64("aggregateUncSecDed", ECC_SRAM_AGGREGATE_UNCORRECTED_SECDED)
                .u32("bThresholdExceeded", ECC_SRAM_THRESHOLD_EXCEEDED)
                .add();
        // Older drivers do not separate parity from double-bit errors, so those slots have no other source.
        sramCounter(VOLATILE, ECC_SRAM_VOLATILE_CORRECTED);
        sramCounter(AGGREGATE, ECC_SRAM_AGGREGATE_CORRECTED);
    }

    private void retiredAndRemapped() {
        // nvmlPageRetirementCause_t: 0 several single-bit errors, 1 a double-bit error.
        call(NvmlSymbol.RETIRED_PAGES, Shape.COUNT, List.of(0), take(0, U32, RETIRED_PAGES_SINGLE_BIT));
        call(NvmlSymbol.RETIRED_PAGES, Shape.COUNT, List.of(1), take(0, U32, RETIRED_PAGES_DOUBLE_BIT));
        u32(NvmlSymbol.RETIRED_PENDING, RETIRED_PAGES_PENDING);
        struct(NvmlSymbol.REMAPPED_ROWS_V2, "nvmlRemappedRowsInfo_v2_t", 0)
                .u32("corrActiveRemaps", REMAPPED_ROWS_CORRECTABLE)
                .plus("corrInactiveRemaps", REMAPPED_ROWS_CORRECTABLE)
                .u32("uncActiveRemaps", REMAPPED_ROWS_UNCORRECTABLE)
                .plus("uncInactiveRemaps", REMAPPED_ROWS_UNCORRECTABLE)
                .add();
        call(
                NvmlSymbol.REMAPPED_ROWS,
                Shape.QUAD,
                List.of(),
                take(0, U32, REMAPPED_ROWS_CORRECTABLE),
                take(8, U32, REMAPPED_ROWS_UNCORRECTABLE));
        struct(NvmlSymbol.REMAP_HISTOGRAM, "nvmlRowRemapperHistogramValues_t", 0)
                .u32("max", REMAP_BANKS_MAX)
                .u32("high", REMAP_BANKS_HIGH)
                .u32("partial", REMAP_BANKS_PARTIAL)
                .u32("low", REMAP_BANKS_LOW)
                .u32("none", REMAP_BANKS_NONE)
                .add();
    }

    private void temperatures() {
        struct(NvmlSymbol.TEMPERATURE_MARGIN, "nvmlMarginTemperature_v1_t", 1)
                .s32("marginTemperature", TEMPERATURE_MARGIN)
                .add();
        GpuMetric[] thresholds = {
            TEMPERATURE_SHUTDOWN, TEMPERATURE_SLOWDOWN, TEMPERATURE_MEMORY_MAX, TEMPERATURE_MAX_OPERATING
        };
        for (int threshold = 0; threshold < thresholds.length; threshold++) {
            call(
                    NvmlSymbol.TEMPERATURE_THRESHOLD,
                    Shape.ARG_OUT,
                    List.of(threshold),
                    take(0, U32, thresholds[threshold]));
        }
    }

    private void clocksAndPower() {
        GpuMetric[] clocks = {CLOCK_GRAPHICS, CLOCK_SM, CLOCK_MEMORY, CLOCK_VIDEO};
        for (int type = 0; type < clocks.length; type++) {
            call(NvmlSymbol.CLOCK_INFO, Shape.ARG_OUT, List.of(type), take(0, U32, clocks[type]));
        }
        GpuMetric[] highest = {CLOCK_GRAPHICS_MAX, CLOCK_SM_MAX, CLOCK_MEMORY_MAX};
        for (int type = 0; type < highest.length; type++) {
            call(NvmlSymbol.CLOCK_MAX, Shape.ARG_OUT, List.of(type), take(0, U32, highest[type]));
        }
        u32(NvmlSymbol.POWER_ENFORCED_LIMIT, POWER_LIMIT_ENFORCED);
        u32(NvmlSymbol.POWER_DEFAULT_LIMIT, POWER_LIMIT_DEFAULT);
        u64(NvmlSymbol.ENERGY, ENERGY);
        u32(NvmlSymbol.FAN_SPEED, FAN_SPEED);
    }

    private void pcieAndVideo() {
        struct(NvmlSymbol.BAR1_MEMORY, "nvmlBAR1Memory_t", 0)
                .u64("bar1Total", BAR1_TOTAL)
                .u64("bar1Used", BAR1_USED)
                .add();
        // The second number is the sampling period.
        call(NvmlSymbol.ENCODER, Shape.PAIR, List.of(), take(0, U32, UTILIZATION_ENCODER));
        call(NvmlSymbol.DECODER, Shape.PAIR, List.of(), take(0, U32, UTILIZATION_DECODER));
        u32(NvmlSymbol.PCIE_GENERATION, PCIE_GENERATION);
        u32(NvmlSymbol.PCIE_GENERATION_MAX, PCIE_GENERATION_MAX);
        u32(NvmlSymbol.PCIE_WIDTH, PCIE_WIDTH);
        u32(NvmlSymbol.PCIE_WIDTH_MAX, PCIE_WIDTH_MAX);
        u32(NvmlSymbol.PCIE_REPLAYS, PCIE_REPLAYS);
    }

    private void violations() {
        GpuMetric[] policies = {
            VIOLATION_POWER,
            VIOLATION_THERMAL,
            VIOLATION_SYNC_BOOST,
            VIOLATION_BOARD_LIMIT,
            VIOLATION_LOW_UTILIZATION,
            VIOLATION_RELIABILITY
        };
        int time = NvmlStructs.of("nvmlViolationTime_t").offset("violationTime");
        for (int policy = 0; policy < policies.length; policy++) {
            call(NvmlSymbol.VIOLATION, Shape.ARG_OUT, List.of(policy), take(time, U64, policies[policy]));
        }
    }

    /**
     * Adds the fabric's calls, the newest form first; each library refuses the version words that it does not support.
     */
    private void fabric() {
        struct(NvmlSymbol.FABRIC_INFO_V, "nvmlGpuFabricInfo_v3_t", 3)
                .u32("status", FABRIC_STATUS)
                .u32("cliqueId", FABRIC_CLIQUE)
                .u8("state", FABRIC_STATE)
                .u32("healthMask", FABRIC_HEALTH_MASK)
                .u8("healthSummary", FABRIC_HEALTH_SUMMARY)
                .add();
        struct(NvmlSymbol.FABRIC_INFO_V, "nvmlGpuFabricInfo_v2_t", 2)
                .u32("status", FABRIC_STATUS)
                .u32("cliqueId", FABRIC_CLIQUE)
                .u8("state", FABRIC_STATE)
                .u32("healthMask", FABRIC_HEALTH_MASK)
                .add();
        struct(NvmlSymbol.FABRIC_INFO, "nvmlGpuFabricInfo_t", 0)
                .u32("status", FABRIC_STATUS)
                .u32("cliqueId", FABRIC_CLIQUE)
                .u8("state", FABRIC_STATE)
                .add();
    }

    private void modes() {
        u32(NvmlSymbol.PERSISTENCE_MODE, PERSISTENCE_MODE);
        u32(NvmlSymbol.COMPUTE_MODE, COMPUTE_MODE);
        pair(NvmlSymbol.MIG_MODE, MIG_MODE, MIG_MODE_PENDING);
    }

    private void eccTotal(int type, int counter, GpuMetric metric) {
        call(NvmlSymbol.ECC_TOTAL, Shape.ARG2_OUT, List.of(type, counter), take(0, U64, metric));
    }

    private void sramCounter(int counter, GpuMetric metric) {
        call(NvmlSymbol.ECC_COUNTER, Shape.ARG3_OUT, List.of(CORRECTED, counter, SRAM), take(0, U64, metric));
    }

    private void u32(NvmlSymbol symbol, GpuMetric metric) {
        call(symbol, Shape.OUT, List.of(), take(0, U32, metric));
    }

    private void u64(NvmlSymbol symbol, GpuMetric metric) {
        call(symbol, Shape.OUT, List.of(), take(0, U64, metric));
    }

    private void pair(NvmlSymbol symbol, GpuMetric first, GpuMetric second) {
        call(symbol, Shape.PAIR, List.of(), take(0, U32, first), take(8, U32, second));
    }

    private void call(NvmlSymbol symbol, Shape shape, List<Integer> arguments, Take... takes) {
        steps.add(new Step.Call(symbol, shape, arguments, 0, List.of(takes)));
    }

    private void fields(Field... fields) {
        steps.add(new Step.Fields(NvmlSymbol.FIELD_VALUES, List.of(fields)));
    }

    private static Field field(int id, GpuMetric metric) {
        return new Field(id, 0, GpuFrame.slot(metric));
    }

    private static Field ofAllLinks(int id, GpuMetric metric) {
        return new Field(id, ALL_LINKS, GpuFrame.slot(metric));
    }

    private static Take take(int offset, Take.Width width, GpuMetric metric) {
        return new Take(offset, width, GpuFrame.slot(metric), false);
    }

    private StructCall struct(NvmlSymbol symbol, String struct, int version) {
        return new StructCall(symbol, NvmlStructs.of(struct), version);
    }

    /** A call that fills a structure; version 0 for structures without a version word. */
    private final class StructCall {
        private final NvmlSymbol symbol;
        private final CStruct struct;
        private final int version;
        private final List<Take> takes = new ArrayList<>();

        StructCall(NvmlSymbol symbol, CStruct struct, int version) {
            this.symbol = symbol;
            this.struct = struct;
            this.version = version;
        }

        StructCall u32(String field, GpuMetric metric) {
            return put(field, U32, metric, false);
        }

        StructCall s32(String field, GpuMetric metric) {
            return put(field, S32, metric, false);
        }

        StructCall u64(String field, GpuMetric metric) {
            return put(field, U64, metric, false);
        }

        StructCall u8(String field, GpuMetric metric) {
            return put(field, Take.Width.U8, metric, false);
        }

        /** Adds a 32-bit part to the value that this call has put into the slot already. */
        StructCall plus(String field, GpuMetric metric) {
            return put(field, U32, metric, true);
        }

        void add() {
            int word = version == 0 ? 0 : struct.versionWord(version);
            steps.add(new Step.Call(symbol, Shape.OUT, List.of(), word, List.copyOf(takes)));
        }

        private StructCall put(String field, Take.Width width, GpuMetric metric, boolean sum) {
            takes.add(new Take(struct.offset(field), width, GpuFrame.slot(metric), sum));
            return this;
        }
    }
}
