package dev.gpuwarden.aggregator.ruleset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.RuleCondition;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.Unanswered;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests of the conditions of rule sets from evaluations. No API server is there. */
class RuleSetStoreTest {

    private final KubeClient api = KubeClient.connect(
            new ConfigBuilder().withMasterUrl("https://127.0.0.1:1").build());
    private final RuleSetStore store = new RuleSetStore(api, Clock.systemUTC(), () -> {}, name -> {});
    private final ResourceInformer.Listener watch = store.listener();

    @AfterEach
    void end() {
        api.close();
    }

    private void deliver(String name, long generation, String expression) {
        watch.onUpsert(
                name,
                Map.of(
                        "metadata",
                        Map.of("name", name, "generation", generation),
                        "spec",
                        Map.of(
                                "enabled",
                                true,
                                "match",
                                Map.of("all", List.of(Map.of("kind", "Node", "expression", expression))),
                                "cordon",
                                Map.of("shouldCordon", true))));
    }

    private Map<String, String> reasons() {
        return store.conditions().stream().collect(Collectors.toMap(RuleCondition::ruleSet, RuleCondition::reason));
    }

    @Test
    void changeOfARuleSetForgetsItsErrorsAlone() {
        deliver("rack", 1, "node.metadata.labels['rack'] == 'r1'");
        deliver("row", 1, "node.metadata.labels['row'] == 'a'");
        watch.onSynced();
        assertThat(reasons()).containsOnly(Map.entry("rack", "Ready"), Map.entry("row", "Ready"));
        store.evaluated("node-1", List.of(new Unanswered("rack", "no rack"), new Unanswered("row", "no row")));
        assertThat(reasons().values()).containsOnly("ClauseErrors");
        deliver("row", 2, "'row' in node.metadata.labels");
        assertThat(reasons()).containsOnly(Map.entry("rack", "ClauseErrors"), Map.entry("row", "Ready"));
        watch.onDelete("row");
        assertThat(reasons()).containsOnly(Map.entry("rack", "ClauseErrors"));
        store.evaluated("node-1", List.of());
        assertThat(reasons()).containsOnly(Map.entry("rack", "Ready"));
    }
}
