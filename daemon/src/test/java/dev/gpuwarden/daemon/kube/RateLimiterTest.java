package dev.gpuwarden.daemon.kube;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RateLimiterTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    @Test
    void aBurstThenOneEachInterval() {
        // Virtual time that passes the end of its range, as nanoTime may.
        long now = Long.MAX_VALUE - SECOND;
        RateLimiter pace = new RateLimiter(3, Duration.ofSeconds(10), now);
        for (int i = 0; i < 3; i++) {
            assertThat(pace.waitNanos(now)).isZero();
            pace.take(now);
        }
        assertThat(pace.waitNanos(now)).isEqualTo(10 * SECOND);
        assertThat(pace.waitNanos(now + 4 * SECOND)).isEqualTo(6 * SECOND);
        now += 10 * SECOND;
        assertThat(pace.waitNanos(now)).isZero();
        pace.take(now);
        assertThat(pace.waitNanos(now)).isEqualTo(10 * SECOND);
    }

    @Test
    void quietTimeIsNotSavedUpBeyondTheBurst() {
        RateLimiter pace = new RateLimiter(2, Duration.ofSeconds(10), 0);
        long now = 1000 * SECOND;
        pace.take(now);
        pace.take(now);
        assertThat(pace.waitNanos(now)).isEqualTo(10 * SECOND);
    }
}
