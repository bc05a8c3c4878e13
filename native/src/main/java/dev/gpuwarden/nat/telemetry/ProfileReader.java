package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.lib.Signature;
import dev.gpuwarden.nat.nvml.CStruct;
import dev.gpuwarden.nat.nvml.NvmlLibrary;
import dev.gpuwarden.nat.nvml.NvmlReturn;
import dev.gpuwarden.nat.nvml.NvmlStructs;
import dev.gpuwarden.nat.nvml.NvmlSymbol;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A reader of GPM, NVML's profiling of Hopper and later. A value is the average between two samples, so each reading
 * compares its sample with that of the reading before, and waits for neither. The first reading has no value yet. For
 * one GPU or partition; not thread-safe; allocates nothing after its first reading.
 */
final class ProfileReader {

    /** Factors from NVML's unit to the raw unit: percent to thousandths of a percent, MiB/s to bytes per second. */
    private static final double PERCENT = 1000;

    private static final double MIB_PER_SECOND = 1 << 20;

    /** @param id NVML_GPM_METRIC_* (nvml.h 13.3) */
    private record Source(GpuMetric metric, int id, double scale) {}

    private static final Source[] SOURCES = {
        new Source(GpuMetric.GRAPHICS_ENGINE_ACTIVE, 1, PERCENT),
        new Source(GpuMetric.SM_ACTIVE, 2, PERCENT),
        new Source(GpuMetric.SM_OCCUPANCY, 3, PERCENT),
        new Source(GpuMetric.TENSOR_ACTIVE, 5, PERCENT),
        new Source(GpuMetric.DRAM_ACTIVE, 10, PERCENT),
        new Source(GpuMetric.FP64_ACTIVE, 11, PERCENT),
        new Source(GpuMetric.FP32_ACTIVE, 12, PERCENT),
        new Source(GpuMetric.FP16_ACTIVE, 13, PERCENT),
        new Source(GpuMetric.PCIE_TRANSMIT_RATE, 20, MIB_PER_SECOND),
        new Source(GpuMetric.PCIE_RECEIVE_RATE, 21, MIB_PER_SECOND),
        new Source(GpuMetric.NVLINK_RECEIVE_RATE, 60, MIB_PER_SECOND),
        new Source(GpuMetric.NVLINK_TRANSMIT_RATE, 61, MIB_PER_SECOND),
    };

    private static final List<NvmlSymbol> NEEDED = List.of(
            NvmlSymbol.GPM_SAMPLE_ALLOC, NvmlSymbol.GPM_SAMPLE_FREE, NvmlSymbol.GPM_SAMPLE, NvmlSymbol.GPM_METRICS);

    private static final CStruct GET = NvmlStructs.of("nvmlGpmMetricsGet_t");
    private static final CStruct METRIC = NvmlStructs.of("nvmlGpmMetric_t");
    private static final int GET_VERSION = GET.offset("version");
    private static final int GET_COUNT = GET.offset("numMetrics");
    private static final int GET_OLDER = GET.offset("sample1");
    private static final int GET_NEWER = GET.offset("sample2");
    private static final int METRICS_BEGIN = GET.offset("metrics");
    private static final int ID = METRIC.offset("metricId");
    private static final int RETURN = METRIC.offset("nvmlReturn");
    private static final int VALUE = METRIC.offset("value");
    /** Version word: a plain 1, where other structures include their size. */
    private static final int VERSION = 1;

    private static final Signature SAMPLE = Signature.of("pp");
    private static final Signature MIG_SAMPLE = Signature.of("pup");
    private static final Signature METRICS = Signature.of("p");

    private static final int SAMPLE_AT = GET.size();
    private static final int MIG_SAMPLE_AT = SAMPLE_AT + Invocation.bytes(SAMPLE);
    private static final int METRICS_AT = MIG_SAMPLE_AT + Invocation.bytes(MIG_SAMPLE);
    private static final int BYTES = METRICS_AT + Invocation.bytes(METRICS);

    private final NvmlLibrary library;
    private @Nullable Calls calls;
    /** True if the older sample was taken since the library's start of this generation. */
    private boolean hasOlder;

    private int generation;

    /** Memory and samples, allocated at first use. */
    private static final class Calls {
        private final NativeMemory memory = NativeMemory.allocate(BYTES);
        private final Invocation sample;
        private final @Nullable Invocation migSample;
        private final Invocation metrics;
        private long older;
        private long newer;

        Calls(NvmlLibrary library, long older, long newer) {
            this.older = older;
            this.newer = newer;
            sample = new Invocation(SAMPLE, library.address(NvmlSymbol.GPM_SAMPLE), memory, SAMPLE_AT);
            migSample = library.has(NvmlSymbol.GPM_MIG_SAMPLE)
                    ? new Invocation(MIG_SAMPLE, library.address(NvmlSymbol.GPM_MIG_SAMPLE), memory, MIG_SAMPLE_AT)
                    : null;
            metrics = new Invocation(METRICS, library.address(NvmlSymbol.GPM_METRICS), memory, METRICS_AT);
            metrics.set(0, memory.address());
        }
    }

    ProfileReader(NvmlLibrary library) {
        this.library = library;
    }

    /** Returns whether this reader fills the slot. */
    static boolean fills(int slot) {
        for (Source source : SOURCES) {
            if (GpuFrame.slot(source.metric) == slot) {
                return true;
            }
        }
        return false;
    }

    /** Returns the absence of the slots before they are filled. */
    static Absence opening(NvmlLibrary library) {
        return NEEDED.stream().allMatch(library::has) ? Absence.PENDING : Absence.NO_SYMBOL;
    }

    /**
     * Fills its slots.
     *
     * @return number of calls of the library
     */
    int read(Target target, GpuFrame frame) {
        Calls with = calls;
        if (with == null) {
            with = allocate(frame);
            if (with == null) {
                return 1;
            }
            calls = with;
        }
        int code = sample(with, target);
        if (code != NvmlReturn.SUCCESS) {
            hasOlder = false;
            absent(frame, Absence.ofNvmlReturn(code), code);
            return 1;
        }
        boolean compares = hasOlder && generation == target.generation();
        if (compares) {
            compare(with, frame);
        } else {
            absent(frame, Absence.PENDING, 0);
        }
        long taken = with.newer;
        with.newer = with.older;
        with.older = taken;
        hasOlder = true;
        generation = target.generation();
        return compares ? 2 : 1;
    }

    private @Nullable Calls allocate(GpuFrame frame) {
        try (NativeMemory out = NativeMemory.allocate(16)) {
            for (int i = 0; i < 2; i++) {
                int code = library.call(NvmlSymbol.GPM_SAMPLE_ALLOC, "p", out.address() + 8L * i);
                if (code != NvmlReturn.SUCCESS) {
                    free(out.buffer().getLong(0));
                    absent(frame, Absence.ofNvmlReturn(code), code);
                    return null;
                }
            }
            return new Calls(library, out.buffer().getLong(0), out.buffer().getLong(8));
        }
    }

    private static int sample(Calls with, Target target) {
        if (!target.isPartition()) {
            with.sample.set(0, target.handle());
            with.sample.set(1, with.newer);
            return with.sample.callInt();
        }
        if (with.migSample == null) {
            return NvmlReturn.FUNCTION_NOT_FOUND;
        }
        if (!(target.gpuInstance() instanceof Reading.Present<Integer> instance)) {
            return ((Reading.Absent<Integer>) target.gpuInstance()).code();
        }
        with.migSample.set(0, target.whole());
        with.migSample.set(1, instance.value());
        with.migSample.set(2, with.newer);
        return with.migSample.callInt();
    }

    private static void compare(Calls with, GpuFrame frame) {
        ByteBuffer memory = with.memory.buffer();
        memory.putInt(GET_VERSION, VERSION);
        memory.putInt(GET_COUNT, SOURCES.length);
        memory.putLong(GET_OLDER, with.older);
        memory.putLong(GET_NEWER, with.newer);
        for (int i = 0; i < SOURCES.length; i++) {
            memory.putInt(at(i) + ID, SOURCES[i].id);
            memory.putInt(at(i) + RETURN, NvmlReturn.UNKNOWN);
        }
        int result = with.metrics.callInt();
        for (int i = 0; i < SOURCES.length; i++) {
            int code = result == NvmlReturn.SUCCESS ? memory.getInt(at(i) + RETURN) : result;
            put(frame, SOURCES[i], code, memory.getDouble(at(i) + VALUE));
        }
    }

    private static int at(int metric) {
        return METRICS_BEGIN + metric * METRIC.size();
    }

    private static void put(GpuFrame frame, Source source, int code, double answer) {
        int slot = GpuFrame.slot(source.metric);
        double value = answer * source.scale;
        if (code != NvmlReturn.SUCCESS) {
            frame.putAbsent(slot, StepRunner.cause(code, true), code);
        } else if (value > -0x1p62 && value < 0x1p62) { // false for NaN
            frame.put(slot, Math.round(value));
        } else {
            frame.putAbsent(slot, Absence.IMPLAUSIBLE, 0);
        }
    }

    private static void absent(GpuFrame frame, Absence cause, int code) {
        for (Source source : SOURCES) {
            frame.putAbsent(GpuFrame.slot(source.metric), cause, code);
        }
    }

    /** Frees native memory. Called once, after the last call has left it. */
    void free() {
        Calls with = calls;
        if (with != null) {
            free(with.older);
            free(with.newer);
            with.memory.close();
        }
    }

    private void free(long sample) {
        if (sample != 0) {
            library.call(NvmlSymbol.GPM_SAMPLE_FREE, "p", sample);
        }
    }
}
