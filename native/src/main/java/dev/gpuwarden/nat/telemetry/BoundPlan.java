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
import java.util.stream.IntStream;

/** The plan of one cadence as one library can carry it out. */
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

    public static BoundPlan of(Cadence cadence, NvmlLibrary library) {
        List<Step> steps = new ArrayList<>();
        BitSet filled = new BitSet(GpuFrame.SLOTS);
        for (Step step : TelemetryPlan.of(cadence)) {
            if (!(step instanceof Step.Calling calling) || library.has(calling.symbol())) {
                steps.add(step);
                slotsOf(step).forEach(filled::set);
            }
        }
        int[] slots = slotsOf(cadence);
        Absence[] openings = new Absence[slots.length];
        for (int i = 0; i < slots.length; i++) {
            openings[i] = filled.get(slots[i]) ? Absence.PENDING : Absence.NO_SYMBOL;
        }
        return new BoundPlan(library, List.copyOf(steps), slots, openings);
    }

    /** Every slot of a cadence; links belong to the slow one. */
    public static int[] slotsOf(Cadence cadence) {
        IntStream gpu = IntStream.range(0, GpuMetric.count())
                .filter(i -> GpuMetric.of(i).cadence() == cadence);
        return cadence == Cadence.SLOW
                ? IntStream.concat(gpu, IntStream.range(GpuMetric.count(), GpuFrame.SLOTS))
                        .toArray()
                : gpu.toArray();
    }

    /** The slots that a step can give a value. */
    public static IntStream slotsOf(Step step) {
        if (step instanceof Step.Call call) {
            return call.takes().stream().mapToInt(Take::slot);
        }
        if (step instanceof Step.Fields fields) {
            return fields.fields().stream().mapToInt(Field::slot);
        }
        if (step instanceof Step.LinkFields fields) {
            return fields.byLink().stream().flatMap(List::stream).mapToInt(Field::slot);
        }
        if (step instanceof Step.LinkCall call) {
            return IntStream.range(0, LinkMetric.MAX_LINKS).map(link -> GpuFrame.slot(call.metric(), link));
        }
        return IntStream.empty();
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

    /** What slot i says until a step fills it: nothing yet, or that no function here could. */
    Absence opening(int i) {
        return openings[i];
    }

    void open(GpuFrame frame) {
        for (int i = 0; i < slots.length; i++) {
            frame.putAbsent(slots[i], openings[i], 0);
        }
    }

    void closeAll(GpuFrame frame, Absence cause, int code) {
        for (int slot : slots) {
            frame.putAbsent(slot, cause, code);
        }
    }
}
