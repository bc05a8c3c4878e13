package dev.gpuwarden.aggregator.remediation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests of the order in which an answer and the deliveries of a watch arrive. No API server is there. */
class MaintenanceResourcesTest {

    private static final MaintenanceKind KIND = MaintenanceKind.GPU_RESET;

    private final List<String> changed = new ArrayList<>();
    private final KubeClient api = KubeClient.connect(
            new ConfigBuilder().withMasterUrl("https://127.0.0.1:1").build());
    private final MaintenanceResources resources =
            new MaintenanceResources(api, List.of(), Optional.empty(), changed::add, () -> {});

    @AfterEach
    void end() {
        resources.close();
        api.close();
    }

    private static Map<String, Object> tree(String uid, Map<String, Object> status) {
        return Map.of(
                "metadata",
                Map.of(
                        "name",
                        "maintenance-n1",
                        "uid",
                        uid,
                        "labels",
                        Map.of(MaintenanceResource.MANAGED_BY, MaintenanceResource.US),
                        "annotations",
                        Map.of(MaintenanceResource.NODE_UID, "node-uid")),
                "spec",
                Map.of("nodeName", "n1"),
                "status",
                status);
    }

    private boolean inProgress() {
        return resources.of("n1", "node-uid").stream().anyMatch(MaintenanceResource::inProgress);
    }

    @Test
    void aLateAnswerToACreateHidesNoEnd() {
        resources.delivered(KIND, tree("a", Map.of()));
        resources.delivered(KIND, tree("a", Map.of("completionTime", "2026-06-01T00:00:00Z")));
        assertThat(inProgress()).isFalse();
        resources.answered(KIND, tree("a", Map.of()));
        assertThat(inProgress()).isFalse();

        resources.deleted(KIND, "maintenance-n1");
        resources.answered(KIND, tree("a", Map.of()));
        assertThat(resources.of("n1", "node-uid")).isEmpty();
        assertThat(changed).containsExactly("n1", "n1", "n1");
    }

    @Test
    void anAnswerBeforeTheWatchIsStored() {
        resources.answered(KIND, tree("a", Map.of()));
        assertThat(inProgress()).isTrue();
        resources.delivered(KIND, tree("a", Map.of("completionTime", "2026-06-01T00:00:00Z")));
        assertThat(inProgress()).isFalse();
        resources.answered(KIND, tree("b", Map.of()));
        assertThat(inProgress()).as("another object of the same name").isTrue();
    }
}
