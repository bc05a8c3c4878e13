package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MaintenanceCacheTest {

    private final List<String> changed = new ArrayList<>();
    private final MaintenanceCache cache = new MaintenanceCache(changed::add);
    private final ResourceInformer.Listener watch = cache.of(MaintenanceKind.REBOOT_NODE, () -> {});

    private static Map<String, Object> tree(String version) {
        return Map.of(
                "metadata",
                Map.of("name", "m", "uid", "u", "resourceVersion", version),
                "spec",
                Map.of("nodeName", "n1"),
                "status",
                Map.of());
    }

    private static Maintenance answer(String version) {
        return Maintenance.of(MaintenanceKind.REBOOT_NODE, tree(version));
    }

    private String version() {
        return cache.ofNode("n1").get(0).version();
    }

    @Test
    void aLateAnswerHidesNoNewerDelivery() {
        watch.onUpsert("m", tree("9"));
        cache.keep(answer("10"));
        assertThat(version()).isEqualTo("10");
        watch.onUpsert("m", tree("11"));
        cache.keep(answer("10"));
        cache.answered(answer("10"));
        assertThat(version()).isEqualTo("11");
        watch.onUpsert("m", tree("5"));
        assertThat(version()).as("the store of the API server was restored").isEqualTo("5");
        assertThat(changed).containsExactly("n1", "n1", "n1");
    }

    @Test
    void anOwnVersionNeedsNoDeliveryOnce() {
        watch.onUpsert("m", tree("9"));
        cache.answered(answer("10"));
        cache.answered(answer("11"));
        assertThat(watch.has("m", "u", "10")).isTrue();
        assertThat(watch.has("m", "u", "12")).as("another writer's").isFalse();
        assertThat(watch.has("m", "u", "11"))
                .as("a version after another writer's is delivered")
                .isFalse();
    }
}
