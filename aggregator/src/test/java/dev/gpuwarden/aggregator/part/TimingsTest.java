package dev.gpuwarden.aggregator.part;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class TimingsTest {

    @Test
    void timeThatNoClockCanMeasureCountsAsTheLongest() {
        Timings timings = new Timings(Duration.ofHours(2));
        timings.add(Duration.between(Instant.parse("0001-01-01T00:00:00Z"), Instant.parse("2026-11-29T00:00:00Z")));
        timings.add(Duration.ofSeconds(-1));
        timings.add(Duration.ofMillis(3));
        assertThat(timings.micros().getTotalCount()).isEqualTo(3);
        assertThat(timings.micros().getMinNonZeroValue()).isBetween(2_900L, 3_000L);
        assertThat(timings.micros().getMaxValue())
                .isGreaterThanOrEqualTo(Duration.ofHours(2).toMillis() * 1000);
    }
}
