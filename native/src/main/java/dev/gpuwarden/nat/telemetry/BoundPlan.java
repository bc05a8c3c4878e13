package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.nat.nvml.NvmlLibrary;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** The plan of one cadence with the functions of one library. */
public final class BoundPlan {

    private final NvmlLibrary library;
    private final List<Step> steps;
    private final int[] slots;
    private final Absence[] openings;

    private BoundPlan(NvmlLibrary library, List<Step> steps, int[] slots, Absence[] openings) {
        this.library = library;
        this.steps = steps;
        this.slots = slots;
        this.openings = openings;
    }

    /** @param profiling whether a {@link ProfileReader} fills its slots after the plan */
    public static BoundPlan of(Cadence cadence, NvmlLibrary library, boolean profiling) {
        List<Step> steps = new ArrayList<>();
        BitSet filled = new BitSet(GpuFrame.SLOTS);
        for (Step step : TelemetryPlan.of(cadence)) {
            if (!(step instanceof Step.Calling calling) || library.has(calling.symbol())) {
                steps.add(step);
                addSlotsOf(step, filled);
            }
        }
        int[] slots = slotsOf(cadence);
        Absence[] openings = new Absence[slots.length];
        for (int i = 0; i < slots.length; i++) {
            if (ProfileReader.fills(slots[i])) {
                openings[i] = !profiling ? Absence.OFF : ProfileReader.opening(library);
            } else {
                openings[i] = filled.get(slots[i]) ? Absence.PENDING : Absence.NO_SYMBOL;
            }
        }
        return new BoundPlan(library, List.copyOf(steps), slots, openings);
    }

    /** Returns every slot of a cadence; links belong to the slow one. */
    public static int[] slotsOf(Cadence cadence) {
        BitSet slots = new BitSet(GpuFrame.SLOTS);
        for (int i = 0; i < GpuMetric.count(); i++) {
            slots.set(i, GpuMetric.of(i).isReadAt(cadence));
        }
        slots.set(GpuMetric.count(), GpuFrame.SLOTS, cadence == Cadence.SLOW);
        int[] numbers = new int[slots.cardinality()];
        int next = slots.nextSetBit(0);
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = next;
            next = slots.nextSetBit(next + 1);
        }
        return numbers;
    }

    /** Adds the slots that a step can fill. */
    public static void addSlotsOf(Step step, BitSet to) {
        if (step instanceof Step.Call call) {
            for (Take take : call.takes()) {
                to.set(take.slot());
            }
        } else if (step instanceof Step.Fields fields) {
            addSlotsOf(fields.fields(), to);
        } else if (step instanceof Step.LinkFields fields) {
            for (List<Field> link : fields.byLink()) {
                addSlotsOf(link, to);
            }
        } else if (step instanceof Step.LinkCall call) {
            for (int link = 0; link < LinkMetric.MAX_LINKS; link++) {
                to.set(GpuFrame.slot(call.metric(), link));
            }
        }
    }

    private static void addSlotsOf(List<Field> fields, BitSet to) {
        for (Field field : fields) {
            to.set(field.slot());
        }
    }

    NvmlLibrary library() {
        return library;
    }

    List<Step> steps() {
        return steps;
    }

    int slotCount() {
        return slots.length;
    }

    int slot(int i) {
        return slots[i];
    }

    /** Returns the absence of slot i before any step fills it: pending, or not supported by this library. */
    Absence opening(int i) {
        return openings[i];
    }

    void open(GpuFrame frame) {
        for (int i = 0; i < slots.length; i++) {
            frame.putAbsent(slots[i], openings[i], 0);
        }
    }

    void closeAll(GpuFrame frame, Absence cause, int code) {
        for (int i = 0; i < slots.length; i++) {
            if (openings[i] == Absence.OFF) {
                frame.putAbsent(slots[i], Absence.OFF, 0);
            } else {
                frame.putAbsent(slots[i], cause, code);
            }
        }
    }
}
