package dev.gpuwarden.core.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BackoffTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @Test
    void pauseDoublesUpToTheLongest() {
        Backoff exact = Backoff.exact(SECOND, MINUTE);
        assertThat(exact.pause(0)).isEqualTo(SECOND);
        assertThat(exact.pause(1)).isEqualTo(SECOND);
        assertThat(exact.pause(2)).isEqualTo(Duration.ofSeconds(2));
        assertThat(exact.pause(6)).isEqualTo(Duration.ofSeconds(32));
        assertThat(exact.pause(7)).isEqualTo(MINUTE);
        assertThat(exact.pause(Integer.MAX_VALUE)).isEqualTo(MINUTE);
    }

    @Test
    void longestLimitsEvenTheFirstPause() {
        assertThat(Backoff.exact(MINUTE, SECOND).pause(1)).isEqualTo(SECOND);
        assertThat(Backoff.exact(Duration.ZERO, SECOND).pause(50)).isEqualTo(Duration.ZERO);
    }

    @Test
    void jitterShortensThePause() {
        Backoff half = new Backoff(SECOND, MINUTE, 0.5);
        assertThat(half.pause(1, 0.0)).isEqualTo(Duration.ofMillis(500));
        assertThat(half.pause(1, 1.0)).isEqualTo(SECOND);
        assertThat(half.pause(3)).isBetween(Duration.ofSeconds(2), Duration.ofSeconds(4));
    }

    @Test
    void pauseIsNotShorterThanTheServerAskedFor() {
        Backoff half = new Backoff(SECOND, MINUTE, 0.5);
        assertThat(half.pause(1, Duration.ofSeconds(10))).isBetween(Duration.ofSeconds(10), Duration.ofSeconds(15));
        assertThat(half.pause(1, Duration.ofHours(1))).isBetween(MINUTE, Duration.ofSeconds(90));
        assertThat(half.pause(9, SECOND)).isBetween(Duration.ofSeconds(30), MINUTE);
    }
}
