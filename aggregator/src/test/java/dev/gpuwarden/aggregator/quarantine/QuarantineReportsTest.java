package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.ProcessingStrategy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What may be done because of a report. */
class QuarantineReportsTest extends QuarantineSetup {

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
}
