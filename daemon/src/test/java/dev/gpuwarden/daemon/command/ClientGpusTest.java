package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.GpuCodec;
import dev.gpuwarden.api.v1.GpuView;
import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.event.Entity;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClientGpusTest {

    private final ClientGpus gpus = new ClientGpus(NodeFixture.node(2).gpus().stream()
            .map(gpu -> GpuCodec.toWire(gpu, GpuView.GPU_VIEW_BASIC))
            .toList());

    /** Users copy names from logs and tools that write them in capitals. */
    @ParameterizedTest
    @CsvSource({"1", "GPU-00000000-0000-0000-0000-000000000001", "gpu-00000000-0000-0000-0000-000000000001"})
    void gpuNamesIgnoreCase(String name) {
        assertThat(gpus.named(name)).contains(Entity.gpu("GPU-00000000-0000-0000-0000-000000000001"));
    }

    @ParameterizedTest
    @CsvSource({"GPU-AAAAAAAA-0000-0000-0000-000000000001", "gpu-aaaaaaaa-0000-0000-0000-000000000001"})
    void unlistedGpuNamesIgnoreCase(String name) {
        assertThat(gpus.named(name)).isEqualTo(List.of(Entity.gpu("GPU-aaaaaaaa-0000-0000-0000-000000000001")));
    }
}
