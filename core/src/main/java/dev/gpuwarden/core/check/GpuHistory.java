package dev.gpuwarden.core.check;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.time.Duration;

/** One GPU's readings over the last minutes. Windows are at most {@link #LONGEST}. */
public interface GpuHistory {

    Duration LONGEST = Duration.ofMinutes(15);

    /**
     * By how much a counter rose. PENDING while the window is not covered yet; IMPLAUSIBLE where it went backwards, as after a
     * reset; else the cause why the newest value is absent.
     */
    Reading<Long> increase(GpuMetric counter, Duration window);

    /** The same of one NVLink. */
    Reading<Long> increase(int link, LinkMetric counter, Duration window);

    /**
     * In what part of the samples of the window any of these bits was set, 0 to 1. PENDING while the window is not covered.
     *
     * @param bits of a reading that is a set of bits, such as {@code CLOCK_EVENT_REASONS}
     */
    Reading<Double> share(GpuMetric flags, long bits, Duration window);

    /** Knows nothing: for a single look. */
    GpuHistory NONE = new NoHistory();
}
