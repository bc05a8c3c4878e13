package dev.gpuwarden.nat.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class VisibleDevicesTest {

    @Test
    void aVariableThatHidesGpusIsNamed() {
        assertThat(VisibleDevices.hiding(Map.of("CUDA_VISIBLE_DEVICES", "0,2")))
                .contains("CUDA_VISIBLE_DEVICES=\"0,2\"");
        assertThat(VisibleDevices.ofStart(100, Map.of("CUDA_VISIBLE_DEVICES", "")))
                .contains("CUDA_VISIBLE_DEVICES=\"\"");
        assertThat(VisibleDevices.hiding(Map.of())).isEmpty();
        assertThat(VisibleDevices.ofStart(999, Map.of("CUDA_VISIBLE_DEVICES", "")))
                .isEmpty();
    }

    @Test
    void theMultiProcessServiceIsNamedWithItsFolder() {
        assertThat(VisibleDevices.ofStart(807, Map.of("CUDA_MPS_PIPE_DIRECTORY", "/tmp/mps")))
                .contains("Multi-Process Service", "/tmp/mps");
        assertThat(VisibleDevices.ofStart(805, Map.of())).contains("not set");
    }
}
