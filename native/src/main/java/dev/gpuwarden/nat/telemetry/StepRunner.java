package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.nvml.NvmlReturn;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The interpreter of one bound plan, step by step. sampler.c does the same from the plan's image. SamplerEqualityTest
 * compares the two slot by slot, so change both together.
 */
final class StepRunner {

    /**
     * Scratch memory of a call: several times the largest structure of any plan, for libraries that write more than
     * they declare.
     */
    static final int SCRATCH_BYTES = 4096;
    /** The part of it that is zeroed before a call: what any plan reads of a structure. */
    static final int ZEROED_BYTES = 640;

    private final BoundPlan plan;
    private final NativeMemory memory;
    private final ByteBuffer scratch;
    private final List<Prepared> prepared = new ArrayList<>();
    private int calls;
    private boolean initialised;
    private int links;

    /** A step with its invocation; the loop over them allocates nothing. */
    private interface Prepared {
        void run(long device, GpuFrame frame);
    }

    StepRunner(BoundPlan plan) {
        this.plan = plan;
        int bytes = SCRATCH_BYTES;
        for (Step step : plan.steps()) {
            bytes += bytesOf(step);
        }
        this.memory = NativeMemory.allocate(bytes);
        this.scratch = memory.buffer();
        int at = SCRATCH_BYTES;
        for (Step step : plan.steps()) {
            prepared.add(prepare(step, at));
            at += bytesOf(step);
        }
    }

    BoundPlan plan() {
        return plan;
    }

    boolean run(Cadence cadence, long device, GpuFrame frame) {
        long start = System.nanoTime();
        calls = 0;
        initialised = true;
        links = 0;
        plan.open(frame);
        for (int i = 0; i < prepared.size(); i++) {
            prepared.get(i).run(device, frame);
        }
        frame.sampled(cadence, start, System.nanoTime(), calls);
        return initialised;
    }

    void free() {
        memory.close();
    }

    static boolean isOpen(GpuFrame frame, int slot) {
        Absence absence = frame.absence(slot);
        return absence == Absence.PENDING || absence == Absence.NOT_SUPPORTED || absence == Absence.NO_SYMBOL;
    }

    /**
     * Returns the cause for a code. If code 25 or 2 can only mean a wrong version word or an unknown field, the
     * library does not support the newer form.
     */
    static Absence cause(int code, boolean newerForm) {
        boolean unknown = code == NvmlReturn.ARGUMENT_VERSION_MISMATCH || code == NvmlReturn.INVALID_ARGUMENT;
        return newerForm && unknown ? Absence.NOT_SUPPORTED : Absence.ofNvmlReturn(code);
    }

    private static int bytesOf(Step step) {
        if (step instanceof Step.Call call) {
            return Invocation.bytes(call.shape().signature());
        }
        if (step instanceof Step.Fields fields) {
            return FieldBatch.bytes(fields.fields().size());
        }
        if (step instanceof Step.LinkFields fields) {
            return FieldBatch.bytes(
                    fields.byLink().stream().mapToInt(List::size).sum());
        }
        return step instanceof Step.LinkCall call
                ? Invocation.bytes(call.shape().signature())
                : 0;
    }

    private Prepared prepare(Step step, int at) {
        if (step instanceof Step.Call call) {
            return prepareCall(call, at);
        }
        if (step instanceof Step.Fields fields) {
            FieldBatch batch = new FieldBatch(fields.fields(), address(fields), memory, at);
            return (device, frame) -> runBatch(batch, batch.size(), device, frame);
        }
        if (step instanceof Step.LinkFields fields) {
            return prepareLinkFields(fields, at);
        }
        if (step instanceof Step.LinkCall call) {
            return prepareLinkCall(call, at);
        }
        return (device, frame) -> countLinks(frame);
    }

    private Prepared prepareCall(Step.Call call, int at) {
        Shape shape = call.shape();
        Invocation invocation = new Invocation(shape.signature(), address(call), memory, at);
        int argument = 1;
        for (int plain : call.arguments()) {
            invocation.set(argument++, Integer.toUnsignedLong(plain));
        }
        int outs = shape == Shape.PAIR ? 2 : shape == Shape.QUAD ? 4 : 1;
        for (int i = 0; i < outs; i++) {
            invocation.set(argument++, memory.address() + 8L * i);
        }
        Take[] takes = call.takes().toArray(new Take[0]);
        return (device, frame) -> {
            if (anyOpen(takes, frame)) {
                int code = call(invocation, call.version(), device);
                boolean counted = shape == Shape.COUNT && code == NvmlReturn.INSUFFICIENT_SIZE;
                if (code == NvmlReturn.SUCCESS || counted) {
                    take(takes, frame);
                } else {
                    refuse(takes, frame, cause(code, call.version() != 0), code);
                }
            }
        };
    }

    private Prepared prepareLinkFields(Step.LinkFields fields, int at) {
        List<Field> all = fields.byLink().stream().flatMap(List::stream).toList();
        int[] upTo = new int[fields.byLink().size() + 1];
        for (int link = 0; link < fields.byLink().size(); link++) {
            upTo[link + 1] = upTo[link] + fields.byLink().get(link).size();
        }
        FieldBatch batch = new FieldBatch(all, address(fields), memory, at);
        return (device, frame) -> runBatch(batch, upTo[links], device, frame);
    }

    private Prepared prepareLinkCall(Step.LinkCall call, int at) {
        Invocation invocation = new Invocation(call.shape().signature(), address(call), memory, at);
        int out = 2;
        if (call.shape() == Shape.ARG2_OUT) {
            invocation.set(out++, call.argument());
        }
        invocation.set(out, memory.address());
        return (device, frame) -> {
            for (int link = 0; link < links; link++) {
                int slot = GpuFrame.slot(call.metric(), link);
                if (isOpen(frame, slot)) {
                    invocation.set(1, link);
                    int code = call(invocation, 0, device);
                    if (code == NvmlReturn.SUCCESS) {
                        frame.put(slot, value(0, call.width()));
                    } else {
                        frame.putAbsent(slot, cause(code, false), code);
                    }
                }
            }
        };
    }

    private int call(Invocation invocation, int version, long device) {
        for (int i = 0; i < ZEROED_BYTES; i += 8) {
            scratch.putLong(i, 0);
        }
        if (version != 0) {
            scratch.putInt(0, version);
        }
        invocation.set(0, device);
        return counted(invocation.callInt());
    }

    private int counted(int code) {
        calls++;
        initialised &= code != NvmlReturn.UNINITIALIZED;
        return code;
    }

    private void runBatch(FieldBatch batch, int count, long device, GpuFrame frame) {
        if (count > 0 && batch.prepare(count, frame)) {
            batch.collect(count, counted(batch.call(count, device)), frame);
        }
    }

    private void countLinks(GpuFrame frame) {
        int source = GpuFrame.slot(GpuMetric.NVLINK_LINKS);
        long known = frame.present(source) ? frame.raw(source) : 0;
        boolean possible = known >= 0 && known <= LinkMetric.MAX_LINKS;
        links = possible ? (int) known : 0;
        Absence cause =
                frame.present(source) ? possible ? Absence.NOT_SUPPORTED : Absence.IMPLAUSIBLE : frame.absence(source);
        int code = frame.present(source) ? 0 : frame.code(source);
        for (int slot = GpuFrame.slot(LinkMetric.of(0), links); slot < GpuFrame.SLOTS; slot++) {
            frame.putAbsent(slot, cause, code);
        }
    }

    private static boolean anyOpen(Take[] takes, GpuFrame frame) {
        for (Take take : takes) {
            if (isOpen(frame, take.slot())) {
                return true;
            }
        }
        return false;
    }

    private void take(Take[] takes, GpuFrame frame) {
        int filled = -1;
        for (Take take : takes) {
            long value = value(take.offset(), take.width());
            if (take.sum()) {
                if (filled == take.slot()) {
                    frame.put(take.slot(), frame.raw(take.slot()) + value);
                }
            } else if (isOpen(frame, take.slot())) {
                frame.put(take.slot(), value);
                filled = take.slot();
            } else {
                filled = -1;
            }
        }
    }

    private static void refuse(Take[] takes, GpuFrame frame, Absence cause, int code) {
        for (Take take : takes) {
            if (isOpen(frame, take.slot())) {
                frame.putAbsent(take.slot(), cause, code);
            }
        }
    }

    private long value(int offset, Take.Width width) {
        return switch (width) {
            case U32 -> Integer.toUnsignedLong(scratch.getInt(offset));
            case S32 -> scratch.getInt(offset);
            case U64 -> scratch.getLong(offset);
            case U8 -> scratch.get(offset) & 0xff;
        };
    }

    private long address(Step.Calling step) {
        return plan.library().address(step.symbol());
    }
}
