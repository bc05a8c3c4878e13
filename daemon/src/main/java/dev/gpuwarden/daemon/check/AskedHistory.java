package dev.gpuwarden.daemon.check;

import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.time.Duration;

/**
 * A history that tells when it could not answer yet.
 *
 * @param whenPending called for each answer that time will bring
 */
record AskedHistory(GpuHistory history, Runnable whenPending) implements GpuHistory {

    @Override
    public Reading<Long> increase(GpuMetric counter, Duration window) {
        return noted(history.increase(counter, window));
    }

    @Override
    public Reading<Long> increase(int link, LinkMetric counter, Duration window) {
        return noted(history.increase(link, counter, window));
    }

    @Override
    public Reading<Double> share(GpuMetric flags, long bits, Duration window) {
        return noted(history.share(flags, bits, window));
    }

    private <T> Reading<T> noted(Reading<T> answer) {
        if (answer instanceof Reading.Absent<T> absent && absent.cause() == Absence.PENDING) {
            whenPending.run();
        }
        return answer;
    }
}
