package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.breaker.Breaker;
import dev.gpuwarden.aggregator.breaker.BreakerState;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.aggregator.rules.Clause;
import dev.gpuwarden.aggregator.rules.Label;
import dev.gpuwarden.aggregator.rules.RuleBook;
import dev.gpuwarden.aggregator.rules.RuleSet;
import dev.gpuwarden.aggregator.rules.Taint;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuarantineTest {

    private static final Instant T0 = Instant.parse("2026-11-22T03:00:00Z");
    private static final Breaker.Answer YES = new Breaker.Answer(true, "room", BreakerState.NEW);
    private static final Breaker.Answer NO = new Breaker.Answer(false, "breaker open", BreakerState.NEW);
    private static final Taint GPU_ERROR = new Taint("nvidia.com/gpu-error", "true", "NoSchedule");

    private static final RuleBook RULES = RuleBook.compile(List.of(
            rule("fatal", "event.isFatal && event.componentClass == 'GPU'", 0, true, null, null),
            rule("taints", "event.checkName == 'Taints'", 5, false, GPU_ERROR, null),
            rule("labels", "event.checkName == 'Labels'", 5, false, null, new Label("gpu-fault", "active")),
            rule("labels-more", "event.checkName == 'Worse'", 9, false, null, new Label("gpu-fault", "worse"))));

    private final FaultTable table = new FaultTable();
    private final TestNode node = new TestNode("""
            {"metadata": {"name": "node-1", "uid": "u-1", "labels": {"zone": "a"},
                          "annotations": {"node.alpha.kubernetes.io/ttl": "0"}},
             "spec": {"podCIDR": "10.0.0.0/24",
                      "taints": [{"key": "dedicated", "value": "ml", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}]}}
            """);
    private final NodeRead before = node.read();
    private RuleBook rules = RULES;
    private int seconds;

    private static RuleSet rule(String name, String cel, int priority, boolean cordon, Taint taint, Label label) {
        return new RuleSet(
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

    private static HealthEvent.Builder xid(String... codes) {
        return event("SysLogsXIDError", "GPU")
                .fatal(true)
                .message("fallen off the bus")
                .action(RecommendedAction.RESTART_BM)
                .errorCodes(List.of(codes))
                .entities(List.of(new Entity("PCI", "0000:3b:00"), new Entity("NVLINK", "3")));
    }

    private static HealthEvent.Builder event(String check, String component) {
        return HealthEvent.of("syslog-health-monitor", component, check)
                .nodeName("node-1")
                .id("e-1");
    }

    private void tell(HealthEvent.Builder event) {
        table.apply(event.build(), 1, T0.plusSeconds(seconds++));
    }

    private void mend(HealthEvent.Builder event) {
        tell(event.healthy(true).fatal(false));
    }

    private Decision decide(Breaker.Answer breaker) {
        return Quarantine.decide(
                node.read(), Report.trusted("node-1", table.faults()), rules, any -> breaker, Mode.ARMED, T0);
    }

    /** Decides, writes, and sees that there is nothing left to decide. */
    private Decision.Act act(Decision.Kind kind) {
        Decision decision = decide(YES);
        assertThat(decision).isInstanceOf(Decision.Act.class);
        Decision.Act act = (Decision.Act) decision;
        assertThat(act.kind()).isEqualTo(kind);
        node.apply(act.patch());
        assertThat(decide(YES)).isInstanceOf(Decision.Leave.class);
        return act;
    }

    private void nothing(String reason) {
        assertThat(decide(YES))
                .isInstanceOfSatisfying(
                        Decision.Leave.class,
                        leave -> assertThat(leave.reason()).contains(reason));
    }

    /** What stays for who asks later. */
    private static Map<String, String> without(Map<String, String> texts, String prefix) {
        Map<String, String> less = new java.util.HashMap<>(texts);
        less.keySet().removeIf(key -> key.startsWith(prefix));
        return less;
    }

    private void isAsBefore() {
        NodeRead now = node.read();
        assertThat(without(now.labels(), "k8saas.nvidia.com/uncordon-")).isEqualTo(before.labels());
        assertThat(without(now.annotations(), "gpuwarden.dev/quarantine")).isEqualTo(before.annotations());
        assertThat(now.taints()).isEqualTo(before.taints());
        assertThat(now.unschedulable()).isEqualTo(before.unschedulable());
    }

    @Test
    void aFatalFaultCordonsInOnePatchThatSaysWhyAndItsEndGivesTheNodeBack() {
        tell(xid("79"));
        Decision.Act act = act(Decision.Kind.QUARANTINE);
        assertThat(act.audit().breaker()).isEqualTo("room");
        assertThat(act.patch().get(0))
                .containsEntry("op", "test")
                .containsEntry("path", "/metadata/resourceVersion")
                .containsEntry("value", before.resourceVersion());
        assertThat(node.read().unschedulable()).isTrue();
        assertThat(node.annotation("quarantineHealthEventIsCordoned")).isEqualTo("True");
        assertThat(node.annotation("quarantineHealthEvent"))
                .isEqualTo("[{\"version\":1,\"agent\":\"syslog-health-monitor\",\"componentClass\":\"GPU\","
                        + "\"checkName\":\"SysLogsXIDError\",\"isFatal\":true,\"message\":\"fallen off the bus\","
                        + "\"recommendedAction\":24,\"errorCode\":[\"79\"],\"entitiesImpacted\":["
                        + "{\"entityType\":\"PCI\",\"entityValue\":\"0000:3b:00\"},"
                        + "{\"entityType\":\"NVLINK\",\"entityValue\":\"3\"}],"
                        + "\"generatedTimestamp\":{\"seconds\":0,\"nanos\":0},\"nodeName\":\"node-1\","
                        + "\"processingStrategy\":1,\"id\":\"e-1\"}]");
        assertThat(node.annotation("gpuwarden.dev/quarantine-reason"))
                .startsWith("SysLogsXIDError 79 on NVLINK 3 since 2026-11-22T03:00:00Z: fallen off the bus; ")
                .contains("Rules: fatal. ");
        assertThat(act.audit().toLine())
                .contains("\"decision\":\"quarantine\"", "\"breaker\":\"room\"", "\"rules\":[\"fatal\"]");

        mend(xid("79").entities(List.of(new Entity("PCI", "0000:3b:00"))));
        act(Decision.Kind.CHANGE);
        assertThat(node.annotation("quarantineHealthEvent"))
                .doesNotContain("3b:00")
                .contains("NVLINK");
        mend(xid().entities(List.of()));
        act(Decision.Kind.RETURN);
        isAsBefore();
    }

    @Test
    void anAdminsOwnCordonSurvives() {
        node.spec().put("unschedulable", true);
        tell(xid("79"));
        act(Decision.Kind.QUARANTINE);
        assertThat(node.annotation("quarantineHealthEventCordonPreExisting")).isEqualTo("True");
        mend(xid().entities(List.of()));
        assertThat(act(Decision.Kind.RETURN).reason()).contains("stays cordoned");
        assertThat(node.read().unschedulable()).isTrue();
    }

    @Test
    void rulesThatOnlyLaterFaultsMeetAreAppliedToo() {
        tell(xid("79"));
        act(Decision.Kind.QUARANTINE);
        tell(event("Taints", "GPU"));
        tell(event("Labels", "GPU"));
        Decision.Act act = act(Decision.Kind.CHANGE);
        assertThat(act.audit().breaker())
                .as("the node is out of service already")
                .isEmpty();
        assertThat(node.read().has(GPU_ERROR)).isTrue();
        assertThat(node.read().labels()).containsEntry("gpu-fault", "active");
        assertThat(node.annotation("quarantineHealthEventAppliedTaints"))
                .isEqualTo("[{\"key\":\"nvidia.com/gpu-error\",\"value\":\"true\",\"effect\":\"NoSchedule\","
                        + "\"preExisting\":false,\"priority\":5}]");
        mend(event("Taints", "GPU"));
        mend(event("Labels", "GPU"));
        act(Decision.Kind.CHANGE);
        mend(xid().entities(List.of()));
        act(Decision.Kind.RETURN);
        isAsBefore();
    }

    @Test
    void taintsAndLabelsOfOthersSurvive() {
        node.spec()
                .put(
                        "taints",
                        new ArrayList<>(List.of(
                                Map.of("key", GPU_ERROR.key(), "value", "true", "effect", "NoSchedule"),
                                Map.of("key", "other", "effect", "NoSchedule"))));
        node.texts("labels").put("gpu-fault", "theirs");
        NodeRead was = node.read();
        tell(event("Taints", "GPU"));
        tell(event("Labels", "GPU"));
        act(Decision.Kind.QUARANTINE);
        assertThat(node.read().labels()).containsEntry("gpu-fault", "active");
        mend(event("Taints", "GPU"));
        mend(event("Labels", "GPU"));
        act(Decision.Kind.RETURN);
        assertThat(node.read().taints()).isEqualTo(was.taints());
        assertThat(node.read().labels()).isEqualTo(was.labels());
    }

    @Test
    void anotherValueOfOthersForTheSameTaintIsNotReplacedAndTold() {
        node.spec().put("taints", List.of(Map.of("key", GPU_ERROR.key(), "value", "theirs", "effect", "NoSchedule")));
        tell(event("Taints", "GPU"));
        nothing("in the way of others' taints");
        tell(xid("79"));
        act(Decision.Kind.QUARANTINE);
        assertThat(node.read().taints()).hasSize(1);
        assertThat(node.annotation("gpuwarden.dev/quarantine-reason"))
                .contains("Left out, since others have these with another value: nvidia.com/gpu-error=true:NoSchedule");
    }

    @Test
    void theHigherPriorityKeepsALabelForTheWholeSession() {
        tell(event("Worse", "GPU"));
        act(Decision.Kind.QUARANTINE);
        tell(event("Labels", "GPU"));
        mend(event("Worse", "GPU"));
        act(Decision.Kind.CHANGE);
        assertThat(node.read().labels()).containsEntry("gpu-fault", "worse");
        mend(event("Labels", "GPU"));
        act(Decision.Kind.RETURN);
        isAsBefore();
    }

    @Test
    void ofTwoEffectsOfOneTaintTheHigherPriorityWins() {
        Taint harder = new Taint(GPU_ERROR.key(), GPU_ERROR.value(), "NoExecute");
        rules = RuleBook.compile(List.of(
                rule("a", "event.checkName == 'Taints'", 1, false, GPU_ERROR, null),
                rule("b", "event.checkName == 'Harder'", 2, false, harder, null)));
        tell(event("Taints", "GPU"));
        act(Decision.Kind.QUARANTINE);
        tell(event("Harder", "GPU"));
        act(Decision.Kind.CHANGE);
        assertThat(node.read().has(harder)).isTrue();
        assertThat(node.read().has(GPU_ERROR)).isFalse();
    }

    @Test
    void aPersonsUncordonTakesTheRestOffAndHoldsUntilSomethingNewHappens() {
        tell(xid("79"));
        tell(event("Taints", "GPU"));
        act(Decision.Kind.QUARANTINE);
        node.spec().remove("unschedulable");
        act(Decision.Kind.CANCEL);
        assertThat(node.annotation("quarantinedNodeUncordonedManually")).isEqualTo("True");
        assertThat(node.annotation("quarantineHealthEvent")).isNull();
        assertThat(node.read().taints()).isEqualTo(before.taints());
        nothing("no fault that a rule asks to act on");

        tell(xid("94"));
        act(Decision.Kind.QUARANTINE);
        assertThat(node.annotation("quarantinedNodeUncordonedManually")).isNull();
        assertThat(node.annotation("quarantineHealthEvent")).contains("94").doesNotContain("79");
        mend(xid("94"));
        act(Decision.Kind.RETURN);
        nothing("no fault");
        mend(xid("79"));
        tell(xid("79"));
        act(Decision.Kind.QUARANTINE);
    }

    @Test
    void aPersonsUntaintDoesTheSame() {
        tell(xid("79"));
        tell(event("Taints", "GPU"));
        act(Decision.Kind.QUARANTINE);
        node.spec().remove("taints");
        act(Decision.Kind.CANCEL);
        assertThat(node.annotation("quarantinedNodeUntaintedManually")).isEqualTo("True");
        assertThat(node.read().unschedulable()).isFalse();
        nothing("no fault");
    }

    @Test
    void aFaultOfTheSameMomentAsAnUncordonIsNews() {
        tell(xid("79"));
        act(Decision.Kind.QUARANTINE);
        node.spec().remove("unschedulable");
        tell(xid("48"));
        Decision.Act cancel = (Decision.Act) decide(YES);
        node.apply(cancel.patch());
        act(Decision.Kind.QUARANTINE);
        assertThat(node.annotation("quarantineHealthEvent")).contains("48").doesNotContain("79");
    }

    @ParameterizedTest
    @EnumSource(
            value = Report.Standing.class,
            names = {"STALE", "PARTIAL", "IMPLAUSIBLE"})
    void whatIsNotToBeTrustedNeitherTakesANodeNorGivesItBack(Report.Standing standing) {
        tell(xid("79"));
        Report told = new Report("node-1", "u-1", standing, "because", table.faults(), 0);
        assertThat(Quarantine.decide(node.read(), told, rules, any -> YES, Mode.ARMED, T0))
                .isInstanceOf(Decision.Leave.class);
        act(Decision.Kind.QUARANTINE);
        Report nothing = new Report("node-1", "u-1", standing, "because", List.of(), 0);
        assertThat(Quarantine.decide(node.read(), nothing, rules, any -> YES, Mode.ARMED, T0)
                        .reason())
                .contains("because");
    }

    @Test
    void reportsOfOtherNodesAreLeft() {
        tell(xid("79").nodeName("node-2"));
        nothing("it has a fault of node node-2");
        Report old = new Report("node-1", "u-0", Report.Standing.TRUSTED, "", List.of(), 0);
        assertThat(Quarantine.decide(node.read(), old, rules, any -> YES, Mode.ARMED, T0)
                        .reason())
                .contains("uid u-0");
    }

    @Test
    void aNodeWithFaultsThatNobodyListedDoesNotReturn() {
        tell(xid("79"));
        act(Decision.Kind.QUARANTINE);
        Report cut = new Report("node-1", "", Report.Standing.TRUSTED, "", List.of(), 3);
        assertThat(Quarantine.decide(node.read(), cut, rules, any -> YES, Mode.ARMED, T0)
                        .reason())
                .contains("3 faults of it are not listed");
    }

    @Test
    void whatIsStoredOnlyNeverActsAndADowngradeFreesNobody() {
        tell(xid("79").strategy(ProcessingStrategy.STORE_ONLY));
        tell(xid("94").strategy(ProcessingStrategy.STORE_AND_ANALYSE));
        nothing("no fault");
        tell(xid("79"));
        act(Decision.Kind.QUARANTINE);
        assertThat(node.annotation("quarantineHealthEvent")).doesNotContain("94");
        tell(xid("79").strategy(ProcessingStrategy.STORE_AND_ANALYSE));
        act(Decision.Kind.CHANGE);
        assertThat(node.read().unschedulable()).isTrue();
    }

    @Test
    void rulesThatGoAwayGiveNoFaultyNodeBack() {
        tell(xid("79"));
        act(Decision.Kind.QUARANTINE);
        rules = RuleBook.EMPTY;
        act(Decision.Kind.CHANGE);
        assertThat(node.read().unschedulable()).isTrue();
        mend(xid("79"));
        act(Decision.Kind.RETURN);
        isAsBefore();
    }

    @Test
    void anotherActionForTheSameFaultReachesTheNode() {
        tell(xid("79"));
        act(Decision.Kind.QUARANTINE);
        tell(xid("79").action(RecommendedAction.REPLACE_VM));
        act(Decision.Kind.CHANGE);
        assertThat(node.annotation("quarantineHealthEvent")).contains("\"recommendedAction\":25");
    }

    @Test
    void sendersCanForceAndSkip() {
        tell(event("Harmless", "GPU").quarantine(new Overrides(true, false)));
        Decision decision = decide(NO);
        assertThat(decision).as("the breaker is not asked").isInstanceOf(Decision.Act.class);
        act(Decision.Kind.QUARANTINE);
        assertThat(node.read().unschedulable()).isTrue();
        tell(event("Harmless", "GPU").quarantine(new Overrides(true, true)));
        act(Decision.Kind.RETURN);
        tell(xid("79").quarantine(new Overrides(false, true)));
        nothing("no fault");
    }

    @ParameterizedTest
    @ValueSource(strings = {"nvsentinel.dgxc.nvidia.com/managed", "k8saas.nvidia.com/ManagedByNVSentinel"})
    void aNodeThatOptsOutIsLeftAsItIs(String label) {
        node.texts("labels").put(label, "false");
        tell(xid("79").quarantine(new Overrides(true, false)));
        nothing(label);
        node.texts("labels").remove(label);
        act(Decision.Kind.QUARANTINE);
        node.texts("labels").put(label, "false");
        mend(xid("79"));
        nothing(label);
        node.texts("labels").put(label, "true");
        act(Decision.Kind.RETURN);
    }

    @Test
    void anOpenBreakerTakesNoNodeAndKeepsNoneFromReturning() {
        tell(xid("79"));
        assertThat(decide(NO)).isEqualTo(new Decision.Leave("breaker open", true));
        act(Decision.Kind.QUARANTINE);
        tell(xid("94"));
        assertThat(decide(NO)).as("it is out of service already").isInstanceOf(Decision.Act.class);
        mend(xid("79", "94"));
        assertThat(decide(NO))
                .isInstanceOfSatisfying(
                        Decision.Act.class, act -> assertThat(act.kind()).isEqualTo(Decision.Kind.RETURN));
    }

    @Test
    void labelsAloneAreNoneOfTheBreakersBusiness() {
        tell(event("Labels", "GPU"));
        assertThat(decide(NO)).isInstanceOf(Decision.Act.class);
    }

    @Test
    void aDryRunDecidesAndWritesNothing() {
        tell(xid("79"));
        Decision dry = Quarantine.decide(
                node.read(), Report.trusted("node-1", table.faults()), rules, any -> YES, Mode.DRY_RUN, T0);
        assertThat(dry).isInstanceOfSatisfying(Decision.Act.class, act -> {
            assertThat(act.writes()).isFalse();
            assertThat(act.audit().toLine()).contains("\"mode\":\"dry_run\"");
        });
        assertThat(((Decision.Act) decide(YES)).writes()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "[1]", "[{}]", "7"})
    void whatSomebodyElseWroteThereIsNotGuessedAt(String text) {
        node.texts("annotations").put("quarantineHealthEvent", text);
        tell(xid("79"));
        nothing("annotations quarantineHealthEvent* cannot be read");
    }

    @Test
    void takesOverWhatNvsentinelLeft() {
        node.texts("annotations").put("quarantineHealthEvent", """
                {"NodeName":"node-1","CheckName":"SysLogsXIDError","Agent":"syslog-health-monitor","Version":1,
                 "ComponentClass":"GPU","EntitiesImpacted":[{"EntityType":"PCI","EntityValue":"0000:3b:00"}],"ErrorCode":["79"]}""");
        node.texts("annotations")
                .put(
                        "quarantineHealthEventAppliedTaints",
                        "[{\"Key\":\"nvidia.com/gpu-error\",\"Value\":\"true\",\"Effect\":\"NoSchedule\"}]");
        node.texts("annotations").put("quarantineHealthEventIsCordoned", "True");
        node.spec().put("unschedulable", true);
        node.spec().put("taints", List.of(Map.of("key", GPU_ERROR.key(), "value", "true", "effect", "NoSchedule")));
        rules = RuleBook.EMPTY;
        tell(xid("79"));
        act(Decision.Kind.CHANGE);
        mend(xid("79"));
        act(Decision.Kind.RETURN);
        assertThat(node.read().unschedulable()).isFalse();
        assertThat(node.read().taints()).isEmpty();
    }

    @Test
    void manyFaultsFitAndTheNodeReturnsWhenAllAreGone() {
        for (int check = 0; check < 40; check++) {
            tell(event("Check" + check, "GPU")
                    .fatal(true)
                    .message("m".repeat(3000))
                    .entities(IntStream.range(0, 50)
                            .mapToObj(i -> new Entity("NVLINK", Integer.toString(i)))
                            .toList()));
        }
        act(Decision.Kind.QUARANTINE);
        assertThat(node.annotation("quarantineHealthEvent").length()).isLessThanOrEqualTo(EventsText.LONGEST);
        node.spec().remove("unschedulable");
        act(Decision.Kind.CANCEL);
        assertThat(node.annotation("gpuwarden.dev/quarantine-cancelled").length())
                .isLessThan(32 * 1024);
        for (int check = 0; check < 40; check++) {
            mend(event("Check" + check, "GPU"));
        }
        nothing("no fault");
    }

    /** Whatever happens in whatever order: others' things survive, the second look finds nothing, the end is as the beginning. */
    @Test
    void whateverHappensOthersThingsSurviveAndTheEndIsTheBeginning() {
        Random random = new Random(11);
        String[] checks = {"SysLogsXIDError", "Taints", "Labels", "Worse"};
        for (int step = 0; step < 3000; step++) {
            String check = checks[random.nextInt(checks.length)];
            HealthEvent.Builder event = event(check, "GPU")
                    .errorCodes(List.of(Integer.toString(random.nextInt(3))))
                    .entities(List.of(new Entity("GPU", Integer.toString(random.nextInt(3)))));
            if (random.nextBoolean()) {
                tell(event.fatal(true));
            } else {
                mend(event);
            }
            if (random.nextInt(10) == 0) {
                node.texts("labels").put("of-others", Integer.toString(step));
                node.changed();
            }
            if (random.nextInt(20) == 0) {
                node.spec().remove("unschedulable");
            }
            if (decide(random.nextInt(5) == 0 ? NO : YES) instanceof Decision.Act act) {
                node.apply(act.patch());
                if (act.kind() == Decision.Kind.CANCEL && decide(YES) instanceof Decision.Act news) {
                    node.apply(news.patch());
                }
                assertThat(decide(YES)).isInstanceOf(Decision.Leave.class);
            }
            assertThat(node.read().taints()).contains(before.taints().get(0));
            boolean held = node.annotation("quarantineHealthEvent") != null;
            assertThat(held || !node.read().unschedulable()).isTrue();
        }
        for (String check : checks) {
            mend(event(check, "GPU"));
        }
        if (decide(YES) instanceof Decision.Act act) {
            node.apply(act.patch());
        }
        nothing("no fault");
        node.texts("labels").remove("of-others");
        node.texts("annotations").remove("quarantinedNodeUncordonedManually");
        node.texts("annotations").remove("gpuwarden.dev/quarantine-cancelled");
        isAsBefore();
    }
}
