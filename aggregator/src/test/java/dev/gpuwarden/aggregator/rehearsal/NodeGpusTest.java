package dev.gpuwarden.aggregator.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.rehearsal.NodeGpus.Gpu;
import dev.gpuwarden.core.event.Entity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NodeGpusTest {

    private static final String A = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";
    private static final String B = "GPU-07bf6b30-9192-8167-70ae-909c383d543a";
    private static final String C = "GPU-17bf6b30-9192-8167-70ae-909c383d543a";

    private static Map<String, Object> row(String type, String value) {
        return Map.of("gpu", "GPU 4 (0000:89:00.0)", "entityType", type, "entityValue", value);
    }

    private static final NodeGpus NODE = NodeGpus.of(
            Map.of(
                    "status",
                    Map.of(
                            "faults",
                            List.of(row(Entity.PCI, "0000:89:00"), row(Entity.GPU_UUID, A)),
                            "holdings",
                            Map.of("holders", List.of(Map.of("gpu", B), Map.of("gpu", A))))),
            List.of("nvidia.com/gpu=" + C + "::3", "MIG-17bf6b30-9192-8167-70ae-909c383d543a"));

    @Test
    void gpusComeFromFaultsThenHoldersThenPods() {
        assertThat(NODE.gpus()).extracting(Gpu::uuid).containsExactly(A, B, C);
        assertThat(NODE.choose("n", Optional.empty()).names())
                .containsExactly(new Entity(Entity.PCI, "0000:89:00"), Entity.gpu(A));
    }

    @Test
    void healthyNodeHasTheGpusThatItsDaemonReports() {
        NodeGpus healthy = NodeGpus.of(
                Map.of(
                        "status",
                        Map.of(
                                "gpus",
                                List.of(
                                        Map.of("index", 0, "uuid", A, "pciAddress", "0000:3b:00.0"),
                                        Map.of("index", 1, "uuid", B),
                                        Map.of("index", 2)))),
                List.of());
        assertThat(healthy.choose("n", Optional.empty()))
                .isEqualTo(new Gpu(
                        A,
                        "GPU 0 (0000:3b:00.0)",
                        List.of(new Entity(Entity.PCI, "0000:3b:00"), Entity.gpu(A)),
                        "the report of its daemon"));
        assertThat(healthy.choose("n", Optional.of("1")).uuid()).isEqualTo(B);
        assertThat(healthy.gpus()).as("one without a UUID is none").hasSize(2);
    }

    @Test
    void gpuIsChosenByIndexOrUuid() {
        assertThat(NODE.choose("n", Optional.of("4")).uuid()).isEqualTo(A);
        assertThat(NODE.choose("n", Optional.of(B.toUpperCase(java.util.Locale.ROOT)))
                        .source())
                .isEqualTo("the last answer about the holders of its GPUs");
        String other = A.replace('4', '5');
        assertThat(NODE.choose("n", Optional.of(other)))
                .isEqualTo(new Gpu(other, other, List.of(Entity.gpu(other)), ""));
    }

    @Test
    void gpusWithoutRoomInTheReportAreNamedAsMore() {
        NodeGpus cut = NodeGpus.of(
                Map.of("status", Map.of("gpus", List.of(Map.of("index", 0, "uuid", A)), "unlistedGpuCount", 5)),
                List.of());
        assertThatThrownBy(() -> cut.choose("n", Optional.of("7"))).hasMessageContaining(" and 5 more, or a UUID");
    }

    @Test
    void unknownGpuAndUnknownInventoryAreRefused() {
        assertThatThrownBy(() -> NODE.choose("n", Optional.of("7")))
                .hasMessageContaining("--gpu 7: expected one of GPU 4 (0000:89:00.0) " + A + ", " + B);
        assertThatThrownBy(() -> NodeGpus.of(Map.of(), List.of()).choose("n", Optional.empty()))
                .hasMessageContaining("node n: expected a GPU")
                .hasMessageContaining("give its UUID");
    }
}
