package dev.gpuwarden.aggregator.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServiceLabelsTest {

    private static final String PREFIX = "nvidia.com/gpu.deploy.";

    @ParameterizedTest(name = "a pod of a {0}, with a GPU: {1}, that selects {2}={3}")
    @CsvSource({
        "DaemonSet, false, device-plugin, true, true",
        "DaemonSet, false, dcgm-exporter, true, true",
        "DaemonSet, true, dcgm-exporter, true, false",
        "DaemonSet, false, dcgm-exporter, special, false",
        "DaemonSet, false, dcgm-other, true, false",
        "DaemonSet, false, operands, true, false",
        "DaemonSet, false, driver, true, false",
        "ReplicaSet, false, device-plugin, true, false",
        "'', false, device-plugin, true, false",
    })
    void isWhatTheResetStops(String owner, boolean wantsGpu, String label, String value, boolean service) {
        assertThat(ServiceLabels.of(owner, wantsGpu, Map.of(PREFIX + label, value)))
                .hasSize(service ? 1 : 0);
    }
}
