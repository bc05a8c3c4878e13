package dev.gpuwarden.core.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RateLimitTest {

    private static final int BURST = 10;
    private static final long EACH_NANOS = 1_000_000_000;

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final RateLimit limit = new RateLimit(BURST, EACH_NANOS, 100, now::get);

    private int taken(String node) {
        int taken = 0;
        while (limit.take(node)) {
            taken++;
        }
        return taken;
    }

    @Test
    void burstIsFollowedByOneAtATime() {
        assertThat(taken("n1")).isEqualTo(BURST);
        now.addAndGet(EACH_NANOS - 1);
        assertThat(taken("n1")).isZero();
        now.addAndGet(1);
        assertThat(taken("n1")).isEqualTo(1);
        now.addAndGet(3 * EACH_NANOS);
        assertThat(taken("n1")).isEqualTo(3);
        now.addAndGet(1_000 * EACH_NANOS);
        assertThat(taken("n1")).isEqualTo(BURST);
    }

    @Test
    void queryDoesNotCount() {
        assertThat(limit.isFull("n1")).isTrue();
        assertThat(limit.take("n1")).isTrue();
        assertThat(limit.isFull("n1")).isFalse();
        assertThat(limit.has("n1")).isTrue();
        assertThat(taken("n1")).isEqualTo(BURST - 1);
        assertThat(limit.has("n1")).isFalse();
    }

    @Test
    void keysHaveSeparateLimits() {
        assertThat(taken("n1")).isEqualTo(BURST);
        assertThat(taken("n2")).isEqualTo(BURST);
    }

    @Test
    void waitEndsWhenTheNextEventIsPermitted() {
        assertThat(limit.waitNanos("n1")).isZero();
        assertThat(taken("n1")).isEqualTo(BURST);
        assertThat(limit.waitNanos("n1")).isEqualTo(EACH_NANOS);
        now.addAndGet(EACH_NANOS / 4);
        assertThat(limit.waitNanos("n1")).isEqualTo(EACH_NANOS - EACH_NANOS / 4);
        now.addAndGet(EACH_NANOS);
        assertThat(limit.waitNanos("n1")).isZero();
    }
}
