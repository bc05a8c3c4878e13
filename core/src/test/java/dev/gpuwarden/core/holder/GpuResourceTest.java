package dev.gpuwarden.core.holder;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GpuResourceTest {

    @ParameterizedTest
    @CsvSource({
        "nvidia.com/gpu, true, true",
        "nvidia.com/gpu.shared, true, true",
        "nvidia.com/gpu-a100, true, true",
        "nvidia.com/mig-1g.10gb, true, true",
        "nvidia.com/mig-1g.10gb.shared, true, true",
        "nvidia.com/pgpu, true, true",
        "nvidia.com/gpumem, false, false",
        "nvidia.com/gpumem-percentage, false, false",
        "nvidia.com/gpucores, false, false",
        "nvidia.com/priority, false, false",
        "nvidia.com/a100, false, true",
        "nvidia.com/hostdev, false, true",
        "amd.com/gpu, false, false",
        "cpu, false, false",
    })
    void aShareOfAGpuIsNoGpu(String resource, boolean gpu, boolean possible) {
        assertThat(GpuResource.isGpu(resource)).isEqualTo(gpu);
        assertThat(GpuResource.mayBeGpu(resource)).isEqualTo(possible);
    }
}
