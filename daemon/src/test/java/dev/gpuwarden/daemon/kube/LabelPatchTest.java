package dev.gpuwarden.daemon.kube;

import static dev.gpuwarden.core.event.Told.faults;
import static dev.gpuwarden.core.event.Told.xid79;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.kube.NodeView;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.Told;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LabelPatchTest {

    private static final String LABEL = "autopilot.ibm.com/gpuhealth";
    private static final List<Fault> FATAL = faults(xid79("0000:3b:00").build());
    private static final List<Fault> MILD = faults(xid79("0000:3b:00")
            .fatal(false)
            .action(RecommendedAction.CONTACT_SUPPORT)
            .build());

    private static final List<CheckResult> WELL = List.of(CheckResult.of(
            CheckInfo.of("gpu-state", "GPU", "Asks."),
            Told.NOON,
            Duration.ZERO,
            List.of(Finding.pass("answers", Subject.NODE, "it answers"))));

    private static NodeView labelled(Map<String, String> labels) {
        return new NodeView(Map.of(), Set.of(), labels);
    }

    private static Map<String, String> change(boolean complete, List<Fault> faults, Map<String, String> there) {
        return NodeReconciler.labelChanges(WELL, complete, faults, labelled(there));
    }

    @Test
    void theLabelFollowsFaultsAndEvidence() {
        assertThat(change(true, FATAL, Map.of())).containsOnly(Map.entry(LABEL, "EVICT"));
        assertThat(change(true, MILD, Map.of(LABEL, "PASS"))).containsOnly(Map.entry(LABEL, "WARN"));
        assertThat(change(true, List.of(), Map.of(LABEL, "EVICT"))).containsOnly(Map.entry(LABEL, "PASS"));
    }

    @Test
    void equalLabelsAreNotWrittenAndOthersNotTouched() {
        assertThat(change(true, FATAL, Map.of(LABEL, "EVICT", "other", "x"))).isEmpty();
        assertThat(change(true, List.of(), Map.of(LABEL, "PASS"))).isEmpty();
    }

    @Test
    void withoutEvidenceTheLabelGoes() {
        Map<String, String> change =
                NodeReconciler.labelChanges(List.of(), true, List.of(), labelled(Map.of(LABEL, "PASS")));
        assertThat(change).containsOnlyKeys(LABEL).containsEntry(LABEL, null);
        assertThat(dev.gpuwarden.cli.Output.jsonLine(NodeReconciler.labelPatch(change))
                        .replace(" ", ""))
                .isEqualTo("{\"metadata\":{\"labels\":{\"" + LABEL + "\":null}}}");
    }

    @Test
    void beforeAllChecksHaveRunOnlyAFatalFaultCounts() {
        assertThat(change(false, FATAL, Map.of(LABEL, "PASS"))).containsOnly(Map.entry(LABEL, "EVICT"));
        assertThat(change(false, MILD, Map.of(LABEL, "EVICT"))).isEmpty();
        assertThat(change(false, List.of(), Map.of(LABEL, "WARN"))).isEmpty();
        assertThat(change(false, List.of(), Map.of())).isEmpty();
    }
}
