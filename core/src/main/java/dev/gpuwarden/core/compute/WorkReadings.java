package dev.gpuwarden.core.compute;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.ClockEventReason;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * The readings of one GPU while it worked. Immutable and pure.
 *
 * @param watts power drawn
 * @param smMegahertz clock of the SMs
 * @param memoryMegahertz clock of the memory
 * @param celsius temperature of the core
 * @param reasons why clocks were held down, in any of the samples; without the reason that the GPU is idle
 */
public record WorkReadings(
        Reading<Spread> watts,
        Reading<Spread> smMegahertz,
        Reading<Spread> memoryMegahertz,
        Reading<Spread> celsius,
        List<ClockEventReason> reasons) {

    public WorkReadings {
        reasons = List.copyOf(reasons);
    }

    /** The readings of one moment, in the units of their {@link GpuMetric}. */
    public record Moment(
            Reading<Long> power, Reading<Long> sm, Reading<Long> memory, Reading<Long> celsius, Reading<Long> reasons) {

        /** Returns the readings of a frame. Power at one instant is preferred: the usual reading is an average of one second. */
        public static Moment of(GpuFrame frame) {
            return new Moment(
                    frame.present(GpuMetric.POWER_INSTANT)
                            ? frame.reading(GpuMetric.POWER_INSTANT)
                            : frame.reading(GpuMetric.POWER_USAGE),
                    frame.reading(GpuMetric.CLOCK_SM),
                    frame.reading(GpuMetric.CLOCK_MEMORY),
                    frame.reading(GpuMetric.TEMPERATURE),
                    frame.reading(GpuMetric.CLOCK_EVENT_REASONS));
        }
    }

    /** Returns what these moments have in common. A reading that no moment has keeps the cause of the last one. */
    public static WorkReadings of(List<Moment> moments) {
        long mask = moments.stream()
                .flatMap(moment -> moment.reasons().asOptional().stream())
                .reduce(0L, (one, other) -> one | other);
        return new WorkReadings(
                spread(moments, Moment::power, 1e-3),
                spread(moments, Moment::sm, 1),
                spread(moments, Moment::memory, 1),
                spread(moments, Moment::celsius, 1),
                ClockEventReason.in(mask).stream()
                        .filter(reason -> reason != ClockEventReason.GPU_IDLE)
                        .toList());
    }

    private static Reading<Spread> spread(List<Moment> moments, Function<Moment, Reading<Long>> part, double unit) {
        List<Double> values = new ArrayList<>();
        Reading<Long> last = Reading.absent(Absence.PENDING, 0, "no reading during the work");
        for (Moment moment : moments) {
            last = part.apply(moment);
            last.asOptional().ifPresent(value -> values.add(value * unit));
        }
        return values.isEmpty() ? last.map(unused -> new Spread(0, 0, 0, 0)) : Spread.of(values);
    }

    /** Returns the medians in words: "310 W, SM 1710 MHz, 62 C, clocks held down by hw_thermal_slowdown"; empty without any. */
    public String text() {
        List<String> all = new ArrayList<>();
        add(all, watts, "%.0f W");
        add(all, smMegahertz, "SM %.0f MHz");
        add(all, memoryMegahertz, "memory %.0f MHz");
        add(all, celsius, "%.0f C");
        if (!reasons.isEmpty()) {
            all.add("clocks held down by "
                    + String.join(
                            ", ", reasons.stream().map(ClockEventReason::label).toList()));
        }
        return String.join(", ", all);
    }

    private static void add(List<String> all, Reading<Spread> reading, String format) {
        Optional<Spread> spread = reading.asOptional();
        spread.ifPresent(values -> all.add(String.format(Locale.ROOT, format, values.median())));
    }
}
