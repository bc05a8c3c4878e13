package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.nvml.NvmlStructs;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A bound plan in the layout of plan_image.h: words of 64 bits, then scratch memory, then the entries of field value
 * batches. Each sampler and cadence has its own, since calls write into it.
 */
final class PlanImage {

    /** Version of the layout, raised with every change; see PLAN_ABI in plan_image.h. */
    static final int ABI = 1;

    private static final int CAUSES = 32;
    private static final int HEADER_WORDS = 15 + CAUSES;
    private static final int ENTRY_BYTES = NvmlStructs.of("nvmlFieldValue_t").size();

    private static final int END = 0;
    private static final int CALL = 1;
    private static final int FIELDS = 2;
    private static final int LINK_COUNT = 3;
    private static final int LINK_FIELDS = 4;
    private static final int LINK_CALL = 5;

    private final List<Long> words = new ArrayList<>();
    private final BoundPlan plan;
    /** Words with the addresses of entries, and the number of entries of each batch. */
    private final List<int[]> batches = new ArrayList<>();

    private PlanImage(BoundPlan plan) {
        this.plan = plan;
    }

    static NativeMemory of(BoundPlan plan, Cadence cadence) {
        return new PlanImage(plan).write(cadence);
    }

    private NativeMemory write(Cadence cadence) {
        header(cadence);
        int slotsAt = words.size();
        for (int i = 0; i < plan.slotCount(); i++) {
            add(plan.slot(i), plan.opening(i).ordinal());
        }
        int stepsAt = words.size();
        plan.steps().forEach(this::step);
        add(END, 0);
        words.set(1, (long) stepsAt);
        words.set(2, (long) slotsAt);
        return place();
    }

    private void header(Cadence cadence) {
        add(ABI, 0, 0, plan.slotCount(), cadence.ordinal(), 0);
        add(GpuFrame.HEADER_BYTES, GpuFrame.SLOT_BYTES, GpuFrame.SLOTS);
        add(Absence.PENDING.ordinal(), Absence.PRESENT.ordinal(), Absence.NOT_SUPPORTED.ordinal());
        add(Absence.NO_SYMBOL.ordinal(), Absence.IMPLAUSIBLE.ordinal(), Absence.FAILED.ordinal());
        for (int code = 0; code < CAUSES; code++) {
            add(Absence.ofNvmlReturn(code).ordinal());
        }
        if (words.size() != HEADER_WORDS) {
            throw new IllegalStateException("header of " + words.size() + " words");
        }
    }

    private void step(Step step) {
        int at = words.size();
        if (step instanceof Step.Call call) {
            call(call);
        } else if (step instanceof Step.Fields fields) {
            add(FIELDS, 0, address(fields), fields.fields().size());
            entries(fields.fields());
        } else if (step instanceof Step.LinkFields fields) {
            linkFields(fields);
        } else if (step instanceof Step.LinkCall call) {
            add(LINK_CALL, 0, address(call), call.shape().ordinal(), call.argument());
            add(call.width().ordinal(), GpuFrame.slot(call.metric(), 0), LinkMetric.count());
        } else {
            add(LINK_COUNT, 0, 0, GpuFrame.slot(GpuMetric.NVLINK_LINKS), GpuFrame.slot(LinkMetric.of(0), 0));
            add(LinkMetric.count(), LinkMetric.MAX_LINKS);
        }
        words.set(at + 1, (long) words.size());
    }

    private void call(Step.Call call) {
        add(CALL, 0, address(call), call.shape().ordinal());
        for (int i = 0; i < 3; i++) {
            add(
                    i < call.arguments().size()
                            ? Integer.toUnsignedLong(call.arguments().get(i))
                            : 0);
        }
        add(Integer.toUnsignedLong(call.version()), call.takes().size());
        for (Take take : call.takes()) {
            add(take.offset(), take.width().ordinal(), take.slot(), take.sum() ? 1 : 0);
        }
    }

    /** Writes the fields, then the counts by number of links. */
    private void linkFields(Step.LinkFields fields) {
        add(LINK_FIELDS, 0, address(fields), 0);
        int upToWord = words.size() - 1;
        entries(fields.byLink().stream().flatMap(List::stream).toList());
        words.set(upToWord, (long) words.size());
        int count = 0;
        add(count);
        for (List<Field> link : fields.byLink()) {
            count += link.size();
            add(count);
        }
    }

    private void entries(List<Field> fields) {
        batches.add(new int[] {words.size(), fields.size()});
        add(0);
        for (Field field : fields) {
            add(field.id(), Integer.toUnsignedLong(field.scope()), field.slot());
        }
    }

    /** Returns one piece of memory with words, scratch and entries, and with the addresses that result from it. */
    private NativeMemory place() {
        int scratchAt = 8 * words.size();
        int entriesAt = scratchAt + StepRunner.SCRATCH_BYTES;
        int entries = batches.stream().mapToInt(batch -> batch[1]).sum();
        NativeMemory memory = NativeMemory.allocate(entriesAt + ENTRY_BYTES * entries);
        words.set(5, memory.address() + scratchAt);
        for (int[] batch : batches) {
            words.set(batch[0], memory.address() + entriesAt);
            entriesAt += ENTRY_BYTES * batch[1];
        }
        LongBuffer target = memory.buffer().asLongBuffer();
        words.forEach(target::put);
        return memory;
    }

    private long address(Step.Calling step) {
        return plan.library().address(step.symbol());
    }

    private void add(long... values) {
        for (long value : values) {
            words.add(value);
        }
    }
}
