package dev.gpuwarden.aggregator.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.breaker.PoolCounts.PoolCount;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.controller.StepModes;
import dev.gpuwarden.aggregator.drain.DrainEvents.DrainText;
import dev.gpuwarden.aggregator.fleet.ClusterContext.Leader;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.Cause;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.FleetState;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.NodeFacts;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Clause;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

public class NodeAssessorTest {

    public static final Instant NOW = Instant.parse("2026-11-22T06:00:00Z");
    private static final String FATAL = fault(true, "");
    private static final RuleEvaluator RULES = RuleEvaluator.compile(List.of(ruleSet(true)));

    private static QuarantineRuleSet ruleSet(boolean enabled) {
        return new QuarantineRuleSet(
                "fatal",
                1,
                enabled,
                0,
                List.of(new Clause(Clause.Kind.HEALTH_EVENT, "event.isFatal")),
                List.of(),
                true,
                Optional.empty(),
                Optional.empty());
    }

    public static final BreakerPolicy LIMITS =
            new BreakerPolicy(Pool.Parser.parseAll(List.of("all;;rate=100%/5m;level=50%")));

    private Seen<RuleEvaluator> rules = Seen.of(RULES);
    private Seen<BreakerState> breaker = Seen.of(BreakerState.NEW);
    private Seen<Leader> leader = Seen.of(new Leader("one", NOW.plusSeconds(10)));
    private Seen<BreakerPolicy> limits = Seen.of(LIMITS);
    private Seen<ActionMode> mode = Seen.of(ActionMode.ARMED);
    public static final Seen<StepModes> ARMED =
            Seen.of(new StepModes(Optional.of(ActionMode.ARMED), Optional.of(ActionMode.ARMED)));

    private Seen<StepModes> steps = ARMED;
    private Set<String> out = Set.of();

    public static Map<String, Object> tree(String json) {
        try {
            return Json.readObject(json);
        } catch (IOException e) {
            throw new AssertionError(json, e);
        }
    }

    public static String fault(boolean fatal, String more) {
        return """
            {"agent": "a", "componentClass": "GPU", "checkName": "Xid", "errorCode": "79", "fatal": %s,
             "entityType": "PCI", "entityValue": "0000:3b:00", "message": "off the bus", "recommendedAction": "RESTART_BM",
             "processingStrategy": "EXECUTE_REMEDIATION", "sequence": 4, "eventID": "e", "occurrences": 1,
             "since": "2026-11-22T05:00:00Z", "lastSeen": "2026-11-22T05:59:00Z" %s}\
            """.formatted(fatal, more);
    }

    public static Optional<Map<String, Object>> health(String reported, String... faults) {
        return Optional.of(tree("""
            {"metadata": {"name": "n", "ownerReferences": [{"kind": "Node", "name": "n", "uid": "u"}]},
             "status": {"generation": 1, "reported": "%s", "unlistedCount": 0, "faults": [%s]}}
            """.formatted(reported, String.join(",", faults))));
    }

    private static Optional<Map<String, Object>> fresh(String... faults) {
        return health("2026-11-22T05:59:30Z", faults);
    }

    private NodeAssessment assess(String metadata, String spec, Optional<Map<String, Object>> health) {
        NodeFacts facts = NodeFacts.of(tree("""
            {"metadata": {"name": "n", "uid": "u", "resourceVersion": "7" %s}, "spec": {%s}}
            """.formatted(metadata, spec)));
        PoolCount census = new PoolCount(2, out, Map.of(), Map.of());
        return NodeAssessor.of(
                facts,
                health,
                new ClusterContext(
                        rules, new BreakerStatus(breaker, limits, mode, steps), Seen.of(Map.of("all", census)), leader),
                NOW);
    }

    private NodeAssessment assess(Optional<Map<String, Object>> health) {
        return assess("", "", health);
    }

    private void faulty(NodeAssessment node, Cause cause, String why) {
        assertThat(node.state()).isEqualTo(FleetState.FAULTY);
        assertThat(node.cause()).contains(cause);
        assertThat(node.why()).contains(why);
        assertThat(node.unfit()).isTrue();
    }

    @Test
    void nodeIsHealthyWithoutFaultsAndDegradedWithMinorOnes() {
        assertThat(assess(fresh()).state()).isEqualTo(FleetState.HEALTHY);
        NodeAssessment minor = assess(fresh(fault(false, "")));
        assertThat(minor.state()).isEqualTo(FleetState.DEGRADED);
        assertThat(minor.unfit()).isFalse();
        String stored = fault(true, "").replace("EXECUTE_REMEDIATION", "STORE_ONLY");
        assertThat(assess(fresh(stored)).state()).as("for statistics alone").isEqualTo(FleetState.HEALTHY);
    }

    @Test
    void nodeWithoutAReportIsSilentOnlyIfItHasGpus() {
        assertThat(assess(Optional.empty()).state()).isEqualTo(FleetState.OTHER);
        assertThat(assess(", \"labels\": {\"nvidia.com/gpu.present\": \"true\"}", "", Optional.empty())
                        .state())
                .isEqualTo(FleetState.SILENT);
        NodeAssessment stale = assess(health("2026-11-22T05:40:00Z"));
        assertThat(stale.state()).isEqualTo(FleetState.SILENT);
        assertThat(stale.why()).contains("stale", "05:40");
        Map<String, Object> other = fresh(FATAL).orElseThrow();
        NodeAssessment reused = assess(Optional.of(tree(Json.write(other).replace("\"u\"", "\"gone\""))));
        assertThat(reused.state()).isEqualTo(FleetState.SILENT);
        assertThat(reused.faults()).as("of another machine").isEmpty();
    }

    @Test
    void faultyNodeInServiceHasACause() {
        faulty(assess(fresh(FATAL)), Cause.PENDING, "fatal asks to take it out of service");
        faulty(assess(health("2026-11-22T05:40:00Z", FATAL)), Cause.REPORT, "stale");
        faulty(
                assess(", \"labels\": {\"k8saas.nvidia.com/ManagedByNVSentinel\": \"false\"}", "", fresh(FATAL)),
                Cause.OPTED_OUT,
                "ManagedByNVSentinel");
        faulty(assess(fresh(fault(true, ", \"quarantineOverride\": \"Skip\""))), Cause.OVERRIDDEN, "skip");
        mode = Seen.of(ActionMode.DRY_RUN);
        NodeAssessment dry = assess(fresh(FATAL));
        faulty(dry, Cause.DRY_RUN, "dry run: fatal asks");
        assertThat(dry.next())
                .isEqualTo("you: drain the node and reboot it; or cordon it, or run the aggregator with"
                        + " --quarantine.mode=armed");
        leader = Seen.of(new Leader("one", NOW.minusSeconds(60)));
        faulty(assess(fresh(FATAL)), Cause.NO_LEADER, "no aggregator acts");
        out = Set.of("another");
        faulty(assess(fresh(FATAL)), Cause.BREAKER, "breaker all: 1 of 2 nodes are out of service, limit 1");
        out = Set.of();
        breaker = Seen.of(BreakerState.of(
                Map.of("all", "{\"status\": \"open\", \"reason\": \"3 of 4\", \"since\": \"2026-11-22T05:00:00Z\"}"),
                NOW));
        faulty(assess(fresh(FATAL)), Cause.BREAKER, "open since 2026-11-22T05:00:00Z, 3 of 4");
        rules = Seen.of(RuleEvaluator.EMPTY);
        faulty(assess(fresh(FATAL)), Cause.NO_RULE, "no rule set");
        rules = Seen.of(RuleEvaluator.compile(List.of(ruleSet(false))));
        faulty(assess(fresh(FATAL)), Cause.NO_RULE, "; disabled: fatal");
    }

    @Test
    void unknownFactsNeverCountAsGood() {
        breaker = Seen.unknown("403");
        faulty(assess(fresh(FATAL)), Cause.UNKNOWN, "it is unknown if the breaker keeps it in service");
        breaker = Seen.of(BreakerState.NEW);
        limits = Seen.unknown("no annotation");
        out = Set.of("another");
        faulty(assess(fresh(FATAL)), Cause.UNKNOWN, "it is unknown if the breaker keeps it in service");
        limits = Seen.of(LIMITS);
        faulty(assess(fresh(FATAL)), Cause.BREAKER, "limit 1");
        out = Set.of();
        mode = Seen.unknown("no annotation");
        faulty(assess(fresh(FATAL)), Cause.UNKNOWN, "the mode (dry run or armed) is unknown");
        rules = Seen.unknown("403 of rules");
        faulty(assess(fresh(FATAL)), Cause.UNKNOWN, "403 of rules");
        assertThat(assess(fresh()).state()).isEqualTo(FleetState.HEALTHY);
    }

    @Test
    void quarantineNamesTheFaultsThatMustEnd() {
        String annotations = """
            , "annotations": {"quarantineHealthEvent": "[{\\"agent\\":\\"a\\",\\"componentClass\\":\\"GPU\\",\\"checkName\\":\\"Xid\\",\\"nodeName\\":\\"n\\",\\"errorCode\\":[\\"79\\"],\\"entitiesImpacted\\":[{\\"entityType\\":\\"PCI\\",\\"entityValue\\":\\"0000:3b:00\\"}]}]",
            "quarantineHealthEventIsCordoned": "True", "gpuwarden.dev/quarantine-reason": "because",
            "gpuwarden.dev/quarantined-at": "2026-11-22T05:01:00Z"}\
            """;
        String cordoned = "\"unschedulable\": true";
        NodeAssessment held = assess(annotations, cordoned, fresh(FATAL));
        assertThat(held.state()).isEqualTo(FleetState.QUARANTINED);
        assertThat(held.since()).contains(Instant.parse("2026-11-22T05:01:00Z"));
        assertThat(held.why()).isEqualTo("because");
        assertThat(held.next()).isEqualTo("returns when this is over: Xid 79 on PCI 0000:3b:00");
        assertThat(assess(annotations, cordoned, fresh()).next()).startsWith("returns now");
        String maintained = annotations + ", \"labels\": {\"dgxc.nvidia.com/nvsentinel-state\": \"remediating\"}";
        assertThat(assess(maintained, cordoned, fresh()).next()).startsWith("returns when its maintenance has ended");
        assertThat(assess(annotations, "", fresh(FATAL)).next())
                .startsWith("leaves quarantine now: an operator uncordoned");
        assertThat(assess(annotations, cordoned, health("2026-11-22T05:40:00Z", FATAL))
                        .next())
                .startsWith("stays as it is: the report is stale");
        mode = Seen.of(ActionMode.DRY_RUN);
        assertThat(assess(annotations, cordoned, fresh()).next()).endsWith("but the aggregator makes a dry run");
        rules = Seen.unknown("403");
        assertThat(assess(annotations, cordoned, fresh(FATAL)).next())
                .as("rules bring nodes in, and do not let them out")
                .isEqualTo("returns when this is over: Xid 79 on PCI 0000:3b:00");
        leader = Seen.of(new Leader("", NOW));
        assertThat(assess(annotations, cordoned, fresh()).next()).endsWith("but no aggregator acts");
        NodeAssessment broken = assess(", \"annotations\": {\"quarantineHealthEvent\": \"{\"}", cordoned, fresh(FATAL));
        assertThat(broken.state()).isEqualTo(FleetState.QUARANTINED);
        assertThat(broken.next()).isEqualTo("repair or remove them");
    }

    /** Without an operator the node would wait without limit. */
    @Test
    void aRepairThatNoProgramMakesIsTheOperators() {
        String annotations = """
            , "annotations": {"quarantineHealthEvent": "[]", "quarantineHealthEventIsCordoned": "True",
            "gpuwarden.dev/quarantine-rules": "fatal", "gpuwarden.dev/quarantine-reason": "because",
            "gpuwarden.dev/quarantined-at": "2026-11-22T05:01:00Z"}\
            """;
        String cordoned = "\"unschedulable\": true";
        String reboot = "drain the node and reboot it";
        steps = Seen.of(new StepModes(Optional.of(ActionMode.ARMED), Optional.of(ActionMode.DRY_RUN)));
        NodeAssessment waits = assess(annotations, cordoned, fresh(FATAL));
        assertThat(waits.next()).isEqualTo("you (automatic repair is off: --remediation.mode=dry-run): " + reboot);
        assertThat(waits.repair().orElseThrow().text()).isEqualTo("waits for you: reboot for Xid 79");
        assertThat(waits.repair().orElseThrow().tree()).containsEntry("stage", "waits-for-you");
        steps = Seen.of(new StepModes(Optional.of(ActionMode.DRY_RUN), Optional.empty()));
        assertThat(assess(annotations, cordoned, fresh(FATAL)).next())
                .isEqualTo("you (automatic drain and repair are off: --drain.mode=dry-run, --remediation.mode=off): "
                        + reboot);
        String none = FATAL.replace("RESTART_BM", "NONE");
        assertThat(assess(annotations, cordoned, fresh(none)).next())
                .isEqualTo("returns when this is over: Xid 79 on PCI 0000:3b:00; its pods stay (automatic drain is off:"
                        + " --drain.mode=dry-run): gpuwarden drain n");
        assertThat(assess(annotations, cordoned, fresh()).next()).startsWith("returns now");
        steps = Seen.unknown("the leader is older");
        assertThat(assess(annotations, cordoned, fresh(FATAL)).next())
                .isEqualTo("returns when this is over: Xid 79 on PCI 0000:3b:00");
    }

    @Test
    void cordonOfAnotherWriterIsNoQuarantine() {
        String fields = """
            , "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}, {"manager": "kubectl-cordon",
            "time": "2026-11-22T04:00:00Z", "fieldsV1": {"f:spec": {"f:unschedulable": {}}}}]\
            """;
        NodeAssessment theirs = assess(fields, "\"unschedulable\": true", fresh());
        assertThat(theirs.state()).isEqualTo(FleetState.CORDONED);
        assertThat(theirs.why()).isEqualTo("cordoned with kubectl-cordon");
        assertThat(theirs.since()).contains(Instant.parse("2026-11-22T04:00:00Z"));
        assertThat(theirs.unfit()).isFalse();
        assertThat(assess(fields, "\"unschedulable\": true", fresh(FATAL)).unfit())
                .isTrue();
    }

    @Test
    void faultsOfMonitorsCountBeforeTheNodesFirstReport() {
        String health = """
            {"metadata": {"name": "n", "ownerReferences": [{"kind": "Node", "name": "n", "uid": "u"}]},
             "status": {"monitors": [{"name": "gpuwarden/cloud", "reported": "2026-11-22T05:59:00Z", "faultCount": 1,
                                      "fatalCount": 1, "faults": [%s]}]}}\
            """;
        faulty(assess(Optional.of(tree(health.formatted(FATAL)))), Cause.PENDING, "is being taken out of service");
        assertThat(assess(Optional.of(tree(health.formatted("")))).state())
                .as("no GPUs, and no faults")
                .isEqualTo(FleetState.OTHER);
    }

    @Test
    void drainOnTheNodeIsShown() {
        String metadata = """
            , "annotations": {"quarantineHealthEvent": "[{\\"agent\\": \\"a\\", \\"checkName\\": \\"Xid\\"}]",
            "gpuwarden.dev/drain": "%s"}
            """;
        String drain = "{'full': '2026-11-22T05:30:00Z', 'why': 'Xid 79', 'left': 2, 'waiting': [{'pod': 'team/a',"
                + " 'step': 'evict', 'why': 'budget web', 'since': '2026-11-22T05:31:00Z'}]}";
        String spec = "\"unschedulable\": true";
        NodeAssessment node = assess(metadata.formatted(drain.replace("'", "\\\"")), spec, fresh(FATAL));
        assertThat(node.state()).isEqualTo(FleetState.QUARANTINED);
        assertThat(node.drain()).isPresent();
        assertThat(DrainText.of(node.drain().get()))
                .isEqualTo("being drained of all pods for Xid 79, 2 pods left: team/a: budget web, since"
                        + " 2026-11-22T05:31:00Z; and 1 more");
        assertThat(assess(metadata.formatted("nonsense"), spec, fresh(FATAL)).drain())
                .isEmpty();
    }
}
