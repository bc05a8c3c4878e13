package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import org.junit.jupiter.api.Test;

/** An operator's undoing of a quarantine, which holds until a new fault. */
class QuarantineDeciderCancelTest extends QuarantineSetup {

    @Test
    void uncordonByAnOperatorRemovesTheRestAndHoldsUntilAnotherFault() {
        report(xid("79"));
        report(event("Taints", "GPU"));
        act(Decision.Kind.QUARANTINE);
        node.spec().remove("unschedulable");
        act(Decision.Kind.CANCEL);
        assertThat(node.annotation("quarantinedNodeUncordonedManually")).isEqualTo("True");
        assertThat(node.annotation("quarantineHealthEvent")).isNull();
        assertThat(node.read().taints()).isEqualTo(before.taints());
        nothing("no fault that a rule matches");

        report(xid("94"));
        act(Decision.Kind.QUARANTINE);
        assertThat(node.annotation("quarantinedNodeUncordonedManually")).isNull();
        assertThat(node.annotation("quarantineHealthEvent")).contains("94").doesNotContain("79");
        mend(xid("94"));
        act(Decision.Kind.RETURN);
        nothing("no fault");
        mend(xid("79"));
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
    }

    @Test
    void removalOfATaintByAnOperatorCancelsTheQuarantine() {
        report(xid("79"));
        report(event("Taints", "GPU"));
        act(Decision.Kind.QUARANTINE);
        node.spec().remove("taints");
        act(Decision.Kind.CANCEL);
        assertThat(node.annotation("quarantinedNodeUntaintedManually")).isEqualTo("True");
        assertThat(node.read().unschedulable()).isFalse();
        nothing("no fault");
    }

    @Test
    void faultAtTheMomentOfAnUncordonIsNew() {
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        node.spec().remove("unschedulable");
        report(xid("48"));
        Decision.Act cancel = (Decision.Act) decide(YES);
        node.apply(cancel.patch());
        act(Decision.Kind.QUARANTINE);
        assertThat(node.annotation("quarantineHealthEvent")).contains("48").doesNotContain("79");
    }
}
