package dev.gpuwarden.aggregator.cache;

import static org.assertj.core.api.Assertions.assertThat;

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

    @Test
    void ownWriteIsCachedImmediatelyAndReportedOnce() {
        cache.nodes().onUpsert("a", node("u", 7));
        var unused = cache.wrote(node("u", 8));
        assertThat(cache.node("a").map(CachedNode::resourceVersion)).contains("8");
        cache.nodes().onUpsert("a", node("u", 8));
        cache.nodes().onUpsert("a", node("u", 9));
        assertThat(changes).containsExactly("a 7", "a 8 ours", "a 9");
    }

    @Test
    void lateAnswerRestoresNoDeletedNode() {
        cache.nodes().onUpsert("a", node("u", 7));
        cache.nodes().onUpsert("a", node("u", 9));
        var unused = cache.wrote(node("u", 8));
        assertThat(cache.node("a").map(CachedNode::resourceVersion)).contains("9");
        cache.nodes().onDelete("a");
        unused = cache.wrote(node("u", 10));
        assertThat(cache.node("a")).isEmpty();
        cache.nodes().onUpsert("a", node("other", 3));
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
        cache.healths().onUpsert("a", health("u", 7));
        assertThat(cache.healthRead("a").orElseThrow().answered()).isFalse();
        cache.answered(health("u", 8));
        assertThat(cache.healthRead("a").orElseThrow().answered()).isTrue();
        cache.healths().onUpsert("a", health("u", 8));
        cache.answered(health("u", 7));
        assertThat(cache.healthRead("a").orElseThrow().answered()).isTrue();
        cache.healths().onUpsert("a", health("u", 9));
        cache.answered(health("u", 9));
        assertThat(cache.healthRead("a").orElseThrow().answered())
                .as("the watch was faster")
                .isTrue();
        cache.healths().onUpsert("a", health("other", 2));
        cache.answered(health("u", 10));
        cache.healths().onDelete("a");
        cache.answered(health("other", 3));
        assertThat(cache.healthRead("a")).isEmpty();
        assertThat(changes).containsExactly("a health", "a health", "a health", "a health", "a health");
    }

    @Test
    void watchEventWithOlderVersionIsAcceptedAfterRestore() {
        cache.nodes().onUpsert("a", node("u", 7));
        var unused = cache.wrote(node("u", 9));
        cache.nodes().onUpsert("a", node("u", 8));
        assertThat(cache.node("a").map(CachedNode::resourceVersion))
                .as("a late event of an older version")
                .contains("9");
        cache.nodes().onUpsert("a", node("u", 9));
        cache.nodes().onUpsert("a", node("u", 3));
        assertThat(cache.node("a").map(CachedNode::resourceVersion)).contains("3");
        cache.nodes().onUpsert("a", node("u", 4));
        assertThat(changes).containsExactly("a 7", "a 9 ours", "a 3", "a 4");
        changes.clear();

        cache.healths().onUpsert("a", health("h", 7));
        cache.answered(health("h", 9));
        cache.healths().onUpsert("a", health("h", 9));
        cache.healths().onUpsert("a", health("h", 5));
        cache.healths().onUpsert("a", health("h", 6));
        assertThat(changes).hasSize(4);
    }

    @Test
    void largeFieldsAreNotCached() {
        cache.nodes().onUpsert("a", node("u", 7));
        assertThat(cache.node("a").orElseThrow().tree().get("status")).isEqualTo(Map.of("phase", "x"));
    }
}
