package dev.gpuwarden.aggregator.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NodeCacheTest {

    private final List<String> changes = new ArrayList<>();
    private final NodeCache cache = new NodeCache(
            new NodeCache.Listener() {
                @Override
                public void node(String name, Optional<CachedNode> node, boolean ours) {
                    changes.add(
                            name + " " + node.map(CachedNode::resourceVersion).orElse("gone") + (ours ? " ours" : ""));
                }

                @Override
                public void health(String name, Optional<Map<String, Object>> health) {
                    changes.add(name + " health");
                }
            },
            Clock.systemUTC());

    private static Map<String, Object> node(String uid, long version) {
        return Map.of(
                "metadata", Map.of("name", "a", "uid", uid, "resourceVersion", Long.toString(version)),
                "status", Map.of("images", List.of("large"), "phase", "x"));
    }

    /** Delivers an object like the informer. */
    private static void deliver(ResourceInformer.Listener listener, Map<String, Object> tree) {
        Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
        if (!listener.has("a", JsonTrees.text(metadata, "uid"), JsonTrees.text(metadata, "resourceVersion"))) {
            listener.onUpsert("a", tree);
        }
    }

    @Test
    void ownWriteNeedsNoDelivery() {
        deliver(cache.nodes(), node("u", 7));
        var unused = cache.wrote(node("u", 8));
        assertThat(cache.nodes().has("a", "u", "8")).isTrue();
        assertThat(cache.nodes().has("a", "u", "9")).isFalse();
        assertThat(cache.nodes().has("a", "other", "8")).isFalse();
        assertThat(cache.nodes().has("b", "u", "8")).isFalse();
        deliver(cache.healths(), health("h", 7));
        cache.answered(health("h", 8));
        assertThat(cache.healths().has("a", "h", "8")).isTrue();
        assertThat(cache.healths().has("a", "h", "9")).isFalse();
    }

    @Test
    void ownWriteIsCachedImmediatelyAndReportedOnce() {
        deliver(cache.nodes(), node("u", 7));
        var unused = cache.wrote(node("u", 8));
        assertThat(cache.node("a").map(CachedNode::resourceVersion)).contains("8");
        deliver(cache.nodes(), node("u", 8));
        deliver(cache.nodes(), node("u", 9));
        assertThat(changes).containsExactly("a 7", "a 8 ours", "a 9");
    }

    @Test
    void lateAnswerRestoresNoDeletedNode() {
        deliver(cache.nodes(), node("u", 7));
        deliver(cache.nodes(), node("u", 9));
        var unused = cache.wrote(node("u", 8));
        assertThat(cache.node("a").map(CachedNode::resourceVersion)).contains("9");
        cache.nodes().onDelete("a");
        unused = cache.wrote(node("u", 10));
        assertThat(cache.node("a")).isEmpty();
        deliver(cache.nodes(), node("other", 3));
        unused = cache.wrote(node("u", 11));
        assertThat(cache.node("a").map(CachedNode::uid)).contains("other");
        assertThat(changes).containsExactly("a 7", "a 9", "a gone", "a 3");
    }

    private static Map<String, Object> health(String uid, long version) {
        return Map.of("metadata", Map.of("name", "a", "uid", uid, "resourceVersion", Long.toString(version)));
    }

    @Test
    void answerWithNodeHealthIsReportedAndLaterWatchEventIsNot() {
        cache.answered(health("u", 6));
        assertThat(cache.healthRead("a"))
                .as("the watch has not delivered it yet")
                .isEmpty();
        deliver(cache.healths(), health("u", 7));
        assertThat(cache.healthRead("a").orElseThrow().answered()).isFalse();
        cache.answered(health("u", 8));
        assertThat(cache.healthRead("a").orElseThrow().answered()).isTrue();
        deliver(cache.healths(), health("u", 8));
        cache.answered(health("u", 7));
        assertThat(cache.healthRead("a").orElseThrow().answered()).isTrue();
        deliver(cache.healths(), health("u", 9));
        cache.answered(health("u", 9));
        assertThat(cache.healthRead("a").orElseThrow().answered())
                .as("the watch was faster")
                .isTrue();
        deliver(cache.healths(), health("other", 2));
        cache.answered(health("u", 10));
        cache.healths().onDelete("a");
        cache.answered(health("other", 3));
        assertThat(cache.healthRead("a")).isEmpty();
        assertThat(changes).containsExactly("a health", "a health", "a health", "a health", "a health");
    }

    @Test
    void watchEventWithOlderVersionIsAcceptedAfterRestore() {
        deliver(cache.nodes(), node("u", 7));
        var unused = cache.wrote(node("u", 9));
        deliver(cache.nodes(), node("u", 8));
        assertThat(cache.node("a").map(CachedNode::resourceVersion))
                .as("a late event of an older version")
                .contains("9");
        deliver(cache.nodes(), node("u", 9));
        deliver(cache.nodes(), node("u", 3));
        assertThat(cache.node("a").map(CachedNode::resourceVersion)).contains("3");
        deliver(cache.nodes(), node("u", 4));
        assertThat(changes).containsExactly("a 7", "a 9 ours", "a 3", "a 4");
        changes.clear();

        deliver(cache.healths(), health("h", 7));
        cache.answered(health("h", 9));
        deliver(cache.healths(), health("h", 9));
        deliver(cache.healths(), health("h", 5));
        deliver(cache.healths(), health("h", 6));
        assertThat(changes).hasSize(4);
    }

    @Test
    void largeFieldsAreNotCached() {
        deliver(cache.nodes(), node("u", 7));
        assertThat(cache.node("a").orElseThrow().tree().get("status")).isEqualTo(Map.of("phase", "x"));
    }
}
