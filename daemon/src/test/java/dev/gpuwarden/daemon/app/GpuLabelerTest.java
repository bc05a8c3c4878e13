package dev.gpuwarden.daemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class GpuLabelerTest {

    private static final String UUID =
            NodeFixture.identity(1).uuid().asOptional().orElseThrow();

    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicLong now = new AtomicLong();
    private int gpus = 2;
    private final GpuLabeler words = new GpuLabeler(
            () -> {
                asked.incrementAndGet();
                return NodeFixture.node(gpus);
            },
            now::get);

    @Test
    void gpuKeepsItsLabelAfterItIsNoLongerListed() {
        String name = "GPU 1 (" + NodeFixture.identity(1).pci().asOptional().orElseThrow() + ")";
        assertThat(words.apply(UUID + " is lost, " + UUID)).isEqualTo(name + " is lost, " + name);
        gpus = 1;
        now.addAndGet(120_000_000_000L);
        assertThat(words.apply("of " + UUID)).isEqualTo("of " + name);
    }

    @Test
    void unknownUuidsDoNotCauseSnapshots() {
        String other = UUID.replace("GPU-0", "GPU-f");
        for (int i = 0; i < 100; i++) {
            assertThat(words.apply("of " + other)).isEqualTo("of " + other);
        }
        assertThat(words.apply("GPU-Z, and nothing else")).isEqualTo("GPU-Z, and nothing else");
        assertThat(asked).hasValue(1);
    }
}
