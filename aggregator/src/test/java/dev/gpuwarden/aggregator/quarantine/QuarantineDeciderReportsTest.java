package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.Unanswered;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.ProcessingStrategy;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Decisions by the standing of the report. */
class QuarantineDeciderReportsTest extends QuarantineSetup {

    @ParameterizedTest
    @EnumSource(
            value = FaultReport.Standing.class,
            names = {"STALE", "PARTIAL", "IMPLAUSIBLE"})
    void untrustedReportNeitherQuarantinesNorReleasesANode(FaultReport.Standing standing) {
        report(xid("79"));
        FaultReport untrusted = new FaultReport("node-1", "u-1", standing, "because", table.faults(), Set.of(), 0);
        assertThat(decide(untrusted, YES)).isInstanceOf(Decision.Leave.class);
        act(Decision.Kind.QUARANTINE);
        FaultReport nothing = new FaultReport("node-1", "u-1", standing, "because", List.of(), Set.of(), 0);
        assertThat(decide(nothing, YES).reason()).contains("because");
    }

    /** Returns a report in which only monitors of the cluster have faults. */
    private FaultReport monitored(FaultReport.Standing standing) {
        return new FaultReport(
                "node-1",
                "",
                standing,
                "the node reports nothing",
                table.faults(),
                table.faults().stream().map(Fault::key).collect(Collectors.toSet()),
                0);
    }

    @ParameterizedTest
    @EnumSource(
            value = FaultReport.Standing.class,
            names = {"MONITORED", "SILENT"})
    void reportOfMonitorsEndsAQuarantineThatMonitorsCaused(FaultReport.Standing standing) {
        assertThat(decide(monitored(standing), YES).reason()).contains("the node reports nothing");
        report(xid("79"));
        act(Decision.Kind.QUARANTINE, monitored(standing));
        assertThat(node.read().unschedulable()).isTrue();
        mend(xid("79"));
        act(Decision.Kind.RETURN, monitored(standing));
        assertThat(node.read().unschedulable()).isFalse();
        assertThat(node.annotation("gpuwarden.dev/quarantined-by-monitors")).isNull();
    }

    @ParameterizedTest
    @EnumSource(
            value = FaultReport.Standing.class,
            names = {"MONITORED", "SILENT"})
    void quarantineByTheNodesReportHoldsUntilTheNodeReportsTheEnd(FaultReport.Standing standing) {
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        mend(xid("79"));
        assertThat(decide(monitored(standing), YES).reason())
                .contains("stays in quarantine for faults that the node itself reported");
        act(Decision.Kind.RETURN);
    }

    @Test
    void faultThatTheNodeReportsTooIsNoLongerOfMonitorsAlone() {
        report(xid("79"));
        act(Decision.Kind.QUARANTINE, monitored(FaultReport.Standing.SILENT));
        act(Decision.Kind.CHANGE);
        assertThat(node.annotation("gpuwarden.dev/quarantined-by-monitors")).isNull();
    }

    @Test
    void decisionHasTheRuleSetsThatFailOnlyIfTheyWereEvaluated() {
        rules = RuleEvaluator.compile(List.of(rule("rack", "event.metadata['rack'] == 'r1'", 0, true, null, null)));
        report(xid("79"));
        List<Unanswered> failed = decide(YES).unanswered().orElseThrow();
        assertThat(failed).extracting(Unanswered::ruleSet).containsExactly("rack");
        assertThat(decide(monitored(FaultReport.Standing.SILENT), YES).unanswered())
                .contains(failed);
        FaultReport stale = new FaultReport("node-1", "u-1", FaultReport.Standing.STALE, "", List.of(), Set.of(), 0);
        assertThat(decide(stale, YES).unanswered()).as("nothing is evaluated").isEmpty();
        mend(xid("79"));
        assertThat(decide(monitored(FaultReport.Standing.SILENT), YES).unanswered())
                .as("the node's own faults are not evaluated")
                .isEmpty();
        assertThat(decide(YES).unanswered()).contains(List.of());
        node.texts("annotations").put("quarantineHealthEvent", "[{");
        assertThat(decide(YES).unanswered()).as("no state, no evaluation").isEmpty();
    }

    @Test
    void reportsOfOtherNodesAreIgnored() {
        report(xid("79").nodeName("node-2"));
        nothing("it has a fault of node node-2");
        FaultReport old = new FaultReport("node-1", "u-0", FaultReport.Standing.TRUSTED, "", List.of(), Set.of(), 0);
        assertThat(decide(old, YES).reason()).contains("uid u-0");
    }

    @Test
    void nodeWithUnlistedFaultsDoesNotReturn() {
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        FaultReport cut = new FaultReport("node-1", "", FaultReport.Standing.TRUSTED, "", List.of(), Set.of(), 3);
        assertThat(decide(cut, YES).reason()).contains("3 faults of it are not listed");
    }

    @Test
    void storedOnlyFaultsNeverActAndADowngradeReleasesNoNode() {
        report(xid("79").strategy(ProcessingStrategy.STORE_ONLY));
        report(xid("94").strategy(ProcessingStrategy.STORE_AND_ANALYSE));
        nothing("no fault");
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        assertThat(node.annotation("quarantineHealthEvent")).doesNotContain("94");
        report(xid("79").strategy(ProcessingStrategy.STORE_AND_ANALYSE));
        act(Decision.Kind.CHANGE);
        assertThat(node.read().unschedulable()).isTrue();
    }
}
