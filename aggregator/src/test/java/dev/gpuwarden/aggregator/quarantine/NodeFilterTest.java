package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache.Trim;
import dev.gpuwarden.aggregator.client.Json;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeFilterTest {

    private final NodeFilter attention = new NodeFilter();

    private static Optional<CachedNode> node(String metadata) throws IOException {
        return Optional.of(CachedNode.of(Trim.node(Json.readObject("{\"metadata\":" + metadata + "}"))));
    }

    private static Optional<Map<String, Object>> health(String status) throws IOException {
        return Optional.of(Json.readObject("{\"status\":" + status + "}"));
    }

    @Test
    void healthyNodeWithoutMarksIsLeftAlone() throws IOException {
        assertThat(attention.node(
                        "a", node("{\"annotations\":{\"other\":\"x\"},\"managedFields\":[{\"manager\":\"kubelet\"}]}")))
                .isFalse();
        assertThat(attention.health("a", health("{\"faults\":[],\"reported\":\"2026-11-22T03:00:00Z\"}")))
                .isFalse();
        assertThat(attention.health("a", Optional.empty())).isFalse();
        assertThat(attention.all()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"annotations\":{\"quarantineHealthEvent\":\"broken\"}}",
                "{\"annotations\":{\"gpuwarden.dev/quarantine-cancelled\":\"x\"}}",
                "{\"labels\":{\"dgxc.nvidia.com/nvsentinel-state\":\"quarantined\"}}",
                "{\"managedFields\":[{\"manager\":\"gpuwarden-aggregator-conditions\"}]}"
            })
    void nodeWithMarksOfThisProgramIsReconciled(String metadata) throws IOException {
        assertThat(attention.node("a", node(metadata))).isTrue();
        assertThat(attention.all()).containsExactly("a");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"faults\":[{\"unreadable\":1}]}",
                "{\"faults\":[],\"unlistedCount\":1}",
                "{\"faults\":[],\"monitors\":[{\"name\":\"m\"}]}"
            })
    void nodeWithFaultsIsReconciledAndOnceMoreAfterTheyEnd(String status) throws IOException {
        assertThat(attention.health("a", health(status))).isTrue();
        assertThat(attention.node("a", node("{}"))).isTrue();
        assertThat(attention.health("a", health("{\"faults\":[]}")))
                .as("a cordon may be under way")
                .isTrue();
        assertThat(attention.health("a", health("{\"faults\":[]}"))).isFalse();
        assertThat(attention.all()).isEmpty();
    }
}
