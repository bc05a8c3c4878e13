package dev.gpuwarden.testkit.sim;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.Unchecked;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

class UptimeTest {

    private static double seconds(SimulatedNode node) {
        String text = Unchecked.get(() -> Files.readString(node.procfs().resolve("uptime")));
        return Double.parseDouble(text.split(" ")[0]);
    }

    @Test
    void theUptimeOfARunningNodeAdvancesWithoutAChange() {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            double start = seconds(node);
            until(() -> seconds(node) > start + 0.3);
            node.reboot();
            assertThat(seconds(node)).isBetween(60.0, 180.0);
            until(() -> seconds(node) > 60.3);
        }
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .doesNotContain("simulated-node-uptime");
    }
}
