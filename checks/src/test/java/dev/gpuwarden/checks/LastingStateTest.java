package dev.gpuwarden.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LastingStateTest {

    private static final Duration EVERY = Duration.ofSeconds(15);

    private final Map<String, Long> notes = new HashMap<>();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    private Duration after(Duration time) {
        now = now.plus(time);
        return LastingState.seen(notes, "down", now, EVERY);
    }

    @Test
    void timeBetweenRunsAddsUp() {
        assertThat(after(EVERY)).isEqualTo(Duration.ZERO);
        assertThat(after(EVERY)).isEqualTo(Duration.ofSeconds(15));
        assertThat(after(Duration.ofSeconds(1))).isEqualTo(Duration.ofSeconds(16));
        LastingState.over(notes, "down");
        assertThat(notes).isEmpty();
        assertThat(after(EVERY)).isEqualTo(Duration.ZERO);
    }

    @Test
    void aPauseOfTheDaemonOrAClockThatWasSetDoesNotMakeAStateLast() {
        after(EVERY);
        assertThat(after(Duration.ofHours(8))).isEqualTo(Duration.ofSeconds(30));
        assertThat(after(Duration.ofDays(-3))).isEqualTo(Duration.ofSeconds(30));
        assertThat(after(EVERY)).isEqualTo(Duration.ofSeconds(45));
    }
}
