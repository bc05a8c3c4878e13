package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.CachedNode.Taint;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Clause;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Label;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A fixture: a node, its faults, rules with each kind of effect, and the decisions from them. */
abstract class QuarantineSetup {

    static final Instant T0 = Instant.parse("2026-11-22T03:00:00Z");
    static final BreakerPolicy.Answer YES = new BreakerPolicy.Answer(true, "room", BreakerState.NEW);
    static final BreakerPolicy.Answer NO = new BreakerPolicy.Answer(false, "breaker open", BreakerState.NEW);
    static final Taint GPU_ERROR = new Taint("nvidia.com/gpu-error", "true", "NoSchedule");

    private static final RuleEvaluator RULES = RuleEvaluator.compile(List.of(
            rule("fatal", "event.isFatal && event.componentClass == 'GPU'", 0, true, null, null),
            rule("taints", "event.checkName == 'Taints'", 5, false, GPU_ERROR, null),
            rule("labels", "event.checkName == 'Labels'", 5, false, null, new Label("gpu-fault", "active")),
            rule("labels-more", "event.checkName == 'Worse'", 9, false, null, new Label("gpu-fault", "worse"))));

    final FaultTable table = new FaultTable();
    final InMemoryNode node = new InMemoryNode("""
            {"metadata": {"name": "node-1", "uid": "u-1", "labels": {"zone": "a"},
                          "annotations": {"node.alpha.kubernetes.io/ttl": "0"}},
             "spec": {"podCIDR": "10.0.0.0/24",
                      "taints": [{"key": "dedicated", "value": "ml", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}]}}
            """);
    final CachedNode before = node.read();
    RuleEvaluator rules = RULES;
    private int seconds;

    static QuarantineRuleSet rule(String name, String cel, int priority, boolean cordon, Taint taint, Label label) {
        return new QuarantineRuleSet(
                name,
                1,
                true,
                priority,
                List.of(new Clause(Clause.Kind.HEALTH_EVENT, cel)),
                List.of(),
                cordon,
                Optional.ofNullable(taint),
                Optional.ofNullable(label));
    }

    static HealthEvent.Builder xid(String... codes) {
        return event("SysLogsXIDError", "GPU")
                .fatal(true)
                .message("fallen off the bus")
                .action(RecommendedAction.RESTART_BM)
                .errorCodes(List.of(codes))
                .entities(List.of(new Entity("PCI", "0000:3b:00"), new Entity("NVLINK", "3")));
    }

    static HealthEvent.Builder event(String check, String component) {
        return HealthEvent.of("syslog-health-monitor", component, check)
                .nodeName("node-1")
                .id("e-1");
    }

    void report(HealthEvent.Builder event) {
        table.apply(event.build(), 1, T0.plusSeconds(seconds++));
    }

    void mend(HealthEvent.Builder event) {
        report(event.healthy(true).fatal(false));
    }

    Decision decide(BreakerPolicy.Answer breaker) {
        return decide(FaultReport.trusted("node-1", table.faults()), breaker);
    }

    Decision decide(FaultReport report, BreakerPolicy.Answer breaker) {
        return QuarantineDecider.decide(node.read(), report, rules, any -> breaker, ActionMode.ARMED, T0);
    }

    Decision.Act act(Decision.Kind kind) {
        return act(kind, FaultReport.trusted("node-1", table.faults()));
    }

    /** Decides, applies the patch, and asserts that a second decision changes nothing. */
    Decision.Act act(Decision.Kind kind, FaultReport report) {
        Decision decision = decide(report, YES);
        assertThat(decision).isInstanceOf(Decision.Act.class);
        Decision.Act act = (Decision.Act) decision;
        assertThat(act.kind()).isEqualTo(kind);
        node.apply(act.patch());
        assertThat(decide(report, YES)).isInstanceOf(Decision.Leave.class);
        return act;
    }

    void nothing(String reason) {
        assertThat(decide(YES))
                .isInstanceOfSatisfying(
                        Decision.Leave.class,
                        leave -> assertThat(leave.reason()).contains(reason));
    }

    /** Returns a copy without the texts that stay after a quarantine. */
    private static Map<String, String> without(Map<String, String> texts, String prefix) {
        Map<String, String> less = new java.util.HashMap<>(texts);
        less.keySet().removeIf(key -> key.startsWith(prefix));
        return less;
    }

    void isAsBefore() {
        CachedNode now = node.read();
        assertThat(without(now.labels(), "k8saas.nvidia.com/uncordon-")).isEqualTo(before.labels());
        assertThat(without(now.annotations(), "gpuwarden.dev/quarantine")).isEqualTo(before.annotations());
        assertThat(now.taints()).isEqualTo(before.taints());
        assertThat(now.unschedulable()).isEqualTo(before.unschedulable());
    }
}
