package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.ProcessingStrategy;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What may be done because of a report. */
class QuarantineDeciderReportsTest extends QuarantineSetup {

    @ParameterizedTest
    @EnumSource(
            value = FaultReport.Standing.class,
            names = {"STALE", "PARTIAL", "IMPLAUSIBLE"})
    void whatIsNotToBeTrustedNeitherTakesANodeNorGivesItBack(FaultReport.Standing standing) {
        tell(xid("79"));
        FaultReport told = new FaultReport("node-1", "u-1", standing, "because", table.faults(), Set.of(), 0);
        assertThat(decide(told, YES)).isInstanceOf(Decision.Leave.class);
        act(Decision.Kind.QUARANTINE);
        FaultReport nothing = new FaultReport("node-1", "u-1", standing, "because", List.of(), Set.of(), 0);
        assertThat(decide(nothing, YES).reason()).contains("because");
    }

    /** As one is while only monitors of the cluster are heard. */
    private FaultReport monitored(FaultReport.Standing standing) {
        return new FaultReport(
                "node-1",
                "",
                standing,
                "the node says nothing",
                table.faults(),
                table.faults().stream().map(Fault::key).collect(Collectors.toSet()),
                0);
    }

    @ParameterizedTest
    @EnumSource(
            value = FaultReport.Standing.class,
            names = {"MONITORED", "SILENT"})
    void whatMonitorsSaySufficesForWhatTheySaid(FaultReport.Standing standing) {
        assertThat(decide(monitored(standing), YES).reason()).contains("the node says nothing");
        tell(xid("79"));
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
    void whatTheNodeItselfSaidHoldsUntilItSaysOtherwise(FaultReport.Standing standing) {
        tell(xid("79"));
        act(Decision.Kind.QUARANTINE);
        mend(xid("79"));
        assertThat(decide(monitored(standing), YES).reason())
                .contains("stays in quarantine for what it has told itself");
        act(Decision.Kind.RETURN);
    }

    @Test
    void whatTheNodeSaysTooIsNoLongerTheMonitorsAlone() {
        tell(xid("79"));
        act(Decision.Kind.QUARANTINE, monitored(FaultReport.Standing.SILENT));
        act(Decision.Kind.CHANGE);
        assertThat(node.annotation("gpuwarden.dev/quarantined-by-monitors")).isNull();
    }

    @Test
    void reportsOfOtherNodesAreLeft() {
        tell(xid("79").nodeName("node-2"));
        nothing("it has a fault of node node-2");
        FaultReport old = new FaultReport("node-1", "u-0", FaultReport.Standing.TRUSTED, "", List.of(), Set.of(), 0);
        assertThat(decide(old, YES).reason()).contains("uid u-0");
    }

    @Test
    void aNodeWithFaultsThatNobodyListedDoesNotReturn() {
        tell(xid("79"));
        act(Decision.Kind.QUARANTINE);
        FaultReport cut = new FaultReport("node-1", "", FaultReport.Standing.TRUSTED, "", List.of(), Set.of(), 3);
        assertThat(decide(cut, YES).reason()).contains("3 faults of it are not listed");
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
}
