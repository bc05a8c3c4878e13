package dev.gpuwarden.aggregator.vram;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RemovalLimitsTest {

    private long nanos;
    private final RemovalLimits limits = new RemovalLimits(() -> nanos);

    /** Counts a request for a pod of the node itself. */
    private boolean removes(String node) {
        return limits.asks(node) && limits.ends(node);
    }

    @Test
    void nodesThatRequestWithoutEndLeaveRoomForTheFirstRequestOfTheOthers() {
        int hostile = 0;
        for (int second = 0; second < 3600; second++) {
            nanos += Duration.ofSeconds(1).toNanos();
            for (int node = 0; node < 20; node++) {
                hostile += removes("hostile-" + node) ? 1 : 0;
            }
            if (second % 60 == 0) {
                assertThat(removes("honest-" + second)).as("second %d", second).isTrue();
            }
        }
        assertThat(hostile).as("what all may have").isLessThan(2 * (30 + 3600 / 2));
    }

    @Test
    void aNodeThatIsRefusedIsBoundedToo() {
        for (int i = 0; i < RemovalLimits.BURST; i++) {
            assertThat(limits.asks("a")).isTrue();
        }
        assertThat(limits.asks("a")).isFalse();
        assertThat(limits.asks("b")).isTrue();
        nanos += Duration.ofSeconds(10).toNanos();
        assertThat(limits.asks("a")).isTrue();
        assertThat(limits.asks("a")).isFalse();
    }

    @Test
    void aBurstOfManyNodesIsServed() {
        for (int node = 0; node < RemovalLimits.BURST_OF_ALL; node++) {
            assertThat(removes("node-" + node)).isTrue();
        }
        for (int node = 0; node < RemovalLimits.BURST_OF_ALL; node++) {
            assertThat(removes("node-" + node)).isTrue();
        }
        assertThat(removes("node-1")).isFalse();
        nanos += Duration.ofSeconds(2).toNanos();
        assertThat(removes("node-31")).isTrue();
    }
}
