package dev.gpuwarden.core.check;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.time.Duration;

/** The history of a node in its first run: it is empty. */
final class NoHistory implements GpuHistory {

    @Override
    public Reading<Long> increase(GpuMetric counter, Duration window) {
        return pending();
    }

    @Override
    public Reading<Long> increase(int link, LinkMetric counter, Duration window) {
        return pending();
    }

    @Override
    public Reading<Double> share(GpuMetric flags, long bits, Duration window) {
        return pending();
    }

    private static <T> Reading<T> pending() {
        return Reading.absent(Absence.PENDING, 0, "a rate needs more than one run");
    }
}
