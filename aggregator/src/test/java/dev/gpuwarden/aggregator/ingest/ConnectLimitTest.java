package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ConnectLimitTest {

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final ConnectLimit limit = new ConnectLimit(now::get);

    private int taken(String node) {
        int taken = 0;
        while (limit.take(node)) {
            taken++;
        }
        return taken;
    }

    @Test
    void aBurstAndThenOneAtATime() {
        assertThat(taken("n1")).isEqualTo(ConnectLimit.BURST);
        now.addAndGet(ConnectLimit.EACH_NANOS - 1);
        assertThat(taken("n1")).isZero();
        now.addAndGet(1);
        assertThat(taken("n1")).isEqualTo(1);
        now.addAndGet(3 * ConnectLimit.EACH_NANOS);
        assertThat(taken("n1")).isEqualTo(3);
        now.addAndGet(1_000 * ConnectLimit.EACH_NANOS);
        assertThat(taken("n1")).isEqualTo(ConnectLimit.BURST);
    }

    @Test
    void oneNodeTakesNothingFromAnother() {
        assertThat(taken("n1")).isEqualTo(ConnectLimit.BURST);
        assertThat(taken("n2")).isEqualTo(ConnectLimit.BURST);
    }
}
