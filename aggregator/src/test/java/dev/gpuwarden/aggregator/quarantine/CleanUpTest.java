package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class CleanUpTest extends QuarantineSetup {

    private CleanUp clean() throws IOException {
        CleanUp plan = CleanUp.of(node.read());
        node.apply(plan.patch());
        return plan;
    }

    private void isUntouched() {
        assertThat(node.read().labels()).isEqualTo(before.labels());
        assertThat(node.read().annotations()).isEqualTo(before.annotations());
        assertThat(node.read().taints()).isEqualTo(before.taints());
        assertThat(node.read().unschedulable()).isEqualTo(before.unschedulable());
    }

    @Test
    void cleanUpRemovesAllMarksOfTheQuarantine() throws Exception {
        assertThat(clean().patch()).isEmpty();
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        assertThat(clean().takes())
                .contains("the cordon", "annotation gpuwarden.dev/quarantine-reason")
                .contains("label dgxc.nvidia.com/nvsentinel-state");
        isUntouched();
        assertThat(clean().patch()).isEmpty();
    }

    @Test
    void cleanUpRemovesTheMarksOfAFormerQuarantine() throws Exception {
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        mend(xid("79"));
        act(Decision.Kind.RETURN);
        assertThat(clean().takes()).contains("label k8saas.nvidia.com/uncordon-by");
        isUntouched();
    }

    @Test
    void cordonsOfOthersStayAndAreListed() throws Exception {
        node.apply(ManualCordon.cordon(node.read(), "new cables", "ann").patch());
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        assertThat(clean().stays()).containsExactly("the cordon of ann: new cables");
        assertThat(node.read().unschedulable()).isTrue();
        assertThat(clean().stays()).containsExactly("a cordon that this program has not made");
    }

    @Test
    void quarantineOfAnotherProgramStays() throws Exception {
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        node.texts("annotations").keySet().removeIf(name -> name.startsWith("gpuwarden.dev/"));
        CleanUp plan = clean();
        assertThat(plan.patch()).isEmpty();
        assertThat(plan.stays()).first().asString().contains("another program");
    }
}
