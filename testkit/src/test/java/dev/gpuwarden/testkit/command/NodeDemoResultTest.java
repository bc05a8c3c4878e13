package dev.gpuwarden.testkit.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class NodeDemoResultTest {

    private static NodeDemoStep.Result after(double seconds, boolean metrics) {
        return new NodeDemoStep.Result(
                new TreeMap<>(Map.of("scan", true, "metrics", metrics)),
                Duration.ofMillis((long) (seconds * 1000)),
                Duration.ofSeconds(2));
    }

    @Test
    void lateResultIsReportedAsLate() {
        NodeDemoStep.Result late = after(4.2, true);
        assertThat(late.text()).isEqualTo("-> after 4.2 s, later than 2 s, seen in metrics, seen in scan");
        assertThat(late.late()).isTrue();
        assertThat(late.missed()).isEmpty();
    }

    @Test
    void missedPlaceIsNamed() {
        NodeDemoStep.Result missed = after(12, false);
        assertThat(missed.text()).contains("NOT SEEN IN metrics, seen in scan");
        assertThat(missed.missed()).containsExactly("metrics");
    }

    @Test
    void inTime() {
        assertThat(after(1.3, true).text()).startsWith("-> after 1.3 s of 2 s, seen");
        assertThat(after(1.3, true).late()).isFalse();
    }
}
