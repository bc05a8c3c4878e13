package dev.gpuwarden.aggregator.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NodeCacheTest {

    private final List<String> told = new ArrayList<>();
    private final NodeCache fleet = new NodeCache(
            new NodeCache.Listener() {
                @Override
                public void node(String name, Optional<CachedNode> node, boolean ours) {
                    told.add(name + " " + node.map(CachedNode::resourceVersion).orElse("gone") + (ours ? " ours" : ""));
                }

                @Override
                public void health(String name, Optional<Map<String, Object>> health) {
                    told.add(name + " health");
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
        fleet.nodes().onUpsert("a", node("u", 7));
        var unused = fleet.wrote(node("u", 8));
        assertThat(fleet.node("a").map(CachedNode::resourceVersion)).contains("8");
        fleet.nodes().onUpsert("a", node("u", 8));
        fleet.nodes().onUpsert("a", node("u", 9));
        assertThat(told).containsExactly("a 7", "a 8 ours", "a 9");
    }

    @Test
    void lateAnswerRestoresNoDeletedNode() {
        fleet.nodes().onUpsert("a", node("u", 7));
        fleet.nodes().onUpsert("a", node("u", 9));
        var unused = fleet.wrote(node("u", 8));
        assertThat(fleet.node("a").map(CachedNode::resourceVersion)).contains("9");
        fleet.nodes().onDelete("a");
        unused = fleet.wrote(node("u", 10));
        assertThat(fleet.node("a")).isEmpty();
        fleet.nodes().onUpsert("a", node("other", 3));
        unused = fleet.wrote(node("u", 11));
        assertThat(fleet.node("a").map(CachedNode::uid)).contains("other");
        assertThat(told).containsExactly("a 7", "a 9", "a gone", "a 3");
    }

    private static Map<String, Object> health(String uid, long version) {
        return Map.of("metadata", Map.of("name", "a", "uid", uid, "resourceVersion", Long.toString(version)));
    }

    @Test
    void answerWithNodeHealthIsReportedAndLaterWatchEventIsNot() {
        fleet.answered(health("u", 6));
        assertThat(fleet.healthRead("a"))
                .as("the watch has not delivered it yet")
                .isEmpty();
        fleet.healths().onUpsert("a", health("u", 7));
        assertThat(fleet.healthRead("a").orElseThrow().answered()).isFalse();
        fleet.answered(health("u", 8));
        assertThat(fleet.healthRead("a").orElseThrow().answered()).isTrue();
        fleet.healths().onUpsert("a", health("u", 8));
        fleet.answered(health("u", 7));
        assertThat(fleet.healthRead("a").orElseThrow().answered()).isTrue();
        fleet.healths().onUpsert("a", health("u", 9));
        fleet.answered(health("u", 9));
        assertThat(fleet.healthRead("a").orElseThrow().answered())
                .as("the watch was faster")
                .isTrue();
        fleet.healths().onUpsert("a", health("other", 2));
        fleet.answered(health("u", 10));
        fleet.healths().onDelete("a");
        fleet.answered(health("other", 3));
        assertThat(fleet.healthRead("a")).isEmpty();
        assertThat(told).containsExactly("a health", "a health", "a health", "a health", "a health");
    }

    @Test
    void watchEventWithOlderVersionIsAcceptedAfterRestore() {
        fleet.nodes().onUpsert("a", node("u", 7));
        var unused = fleet.wrote(node("u", 9));
        fleet.nodes().onUpsert("a", node("u", 8));
        assertThat(fleet.node("a").map(CachedNode::resourceVersion))
                .as("a late event of an older version")
                .contains("9");
        fleet.nodes().onUpsert("a", node("u", 9));
        fleet.nodes().onUpsert("a", node("u", 3));
        assertThat(fleet.node("a").map(CachedNode::resourceVersion)).contains("3");
        fleet.nodes().onUpsert("a", node("u", 4));
        assertThat(told).containsExactly("a 7", "a 9 ours", "a 3", "a 4");
        told.clear();

        fleet.healths().onUpsert("a", health("h", 7));
        fleet.answered(health("h", 9));
        fleet.healths().onUpsert("a", health("h", 9));
        fleet.healths().onUpsert("a", health("h", 5));
        fleet.healths().onUpsert("a", health("h", 6));
        assertThat(told).hasSize(4);
    }

    @Test
    void largeFieldsAreNotCached() {
        fleet.nodes().onUpsert("a", node("u", 7));
        assertThat(fleet.node("a").orElseThrow().tree().get("status")).isEqualTo(Map.of("phase", "x"));
    }
}
