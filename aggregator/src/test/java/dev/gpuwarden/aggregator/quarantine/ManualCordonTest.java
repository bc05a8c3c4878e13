package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import org.junit.jupiter.api.Test;

/** Cordons and releases by an operator, beside the automatic quarantine. */
class ManualCordonTest extends QuarantineSetup {

    private ManualCordon.Plan cordon() {
        ManualCordon.Plan plan = ManualCordon.cordon(node.read(), "noisy fan", "ann");
        node.apply(plan.patch());
        return plan;
    }

    private ManualCordon.Plan release() {
        ManualCordon.Plan plan = ManualCordon.release(node.read());
        node.apply(plan.patch());
        return plan;
    }

    @Test
    void cordonNamesItsOperatorAndReasonAndCanBeReleased() {
        assertThat(cordon().done()).isTrue();
        assertThat(node.read().unschedulable()).isTrue();
        assertThat(ManualCordon.reason(node.read())).contains("ann: noisy fan");
        assertThat(cordon().patch()).isEmpty();
        assertThat(release().why()).contains("takes pods again");
        isAsBefore();
        assertThat(release().why()).contains("in service already");
    }

    @Test
    void cordonOutlivesAQuarantineThatBeganBeforeIt() {
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        assertThat(cordon().why()).contains("stay cordoned");
        nothing("in quarantine already");
        mend(xid("79"));
        act(Decision.Kind.RETURN);
        assertThat(node.read().unschedulable()).isTrue();
        assertThat(release().done()).isTrue();
        isAsBefore();
    }

    @Test
    void cordonOutlivesAQuarantineThatBeganAfterIt() {
        cordon();
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        mend(xid("79"));
        act(Decision.Kind.RETURN);
        assertThat(node.read().unschedulable()).isTrue();
        assertThat(ManualCordon.reason(node.read())).isPresent();
    }

    @Test
    void releaseEndsTheQuarantineAndItsFaultsDoNotBringItBack() {
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        assertThat(release().why()).contains("do not bring it back");
        act(Decision.Kind.CANCEL);
        assertThat(node.read().unschedulable()).isFalse();
        nothing("no fault");
    }

    @Test
    void releaseEndsTheQuarantineAndTheManualCordon() {
        cordon();
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        assertThat(release().done()).isTrue();
        act(Decision.Kind.CANCEL);
        assertThat(node.read().unschedulable()).isFalse();
        assertThat(ManualCordon.reason(node.read())).isEmpty();
    }

    @Test
    void cordonsOfOtherWritersStay() {
        node.spec().put("unschedulable", true);
        node.changed();
        assertThat(cordon().patch()).isEmpty();
        assertThat(release().why()).contains("has not cordoned it");
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        ManualCordon.Plan refused = release();
        assertThat(refused.done()).isFalse();
        assertThat(refused.why()).contains("cordoned it before");
        assertThat(node.read().unschedulable()).isTrue();
    }

    @Test
    void releaseRefusesAQuarantineWithoutACordon() {
        report(event("Taints", "GPU"));
        act(Decision.Kind.QUARANTINE);
        assertThat(release().why()).endsWith("no cordon: remove one of its taints with kubectl");
        assertThat(cordon().done()).isTrue();
        assertThat(node.read().unschedulable()).isTrue();
    }

    @Test
    void releaseAdvisesNoRemovalOfLabelsWhichWouldNotEndTheQuarantine() {
        report(event("Labels", "GPU"));
        act(Decision.Kind.QUARANTINE);
        node.texts("labels").remove("gpu-fault");
        node.changed();
        assertThat(release().why()).endsWith("it ends with its faults");
        act(Decision.Kind.CHANGE);
        assertThat(node.read().labels()).containsEntry("gpu-fault", "active");
    }

    @Test
    void unreadableAnnotationsStopCordonAndRelease() {
        node.texts("annotations").put("quarantineHealthEvent", "{");
        assertThat(ManualCordon.release(node.read()).why()).contains("repair or remove");
        assertThat(ManualCordon.cordon(node.read(), "", "ann").done()).isFalse();
    }

    @Test
    void longReasonIsTruncated() {
        ManualCordon.Plan plan = ManualCordon.cordon(node.read(), "x".repeat(2000), "ann");
        node.apply(plan.patch());
        assertThat(ManualCordon.reason(node.read()).orElseThrow()).hasSize(ManualCordon.LONGEST_REASON);
    }
}
