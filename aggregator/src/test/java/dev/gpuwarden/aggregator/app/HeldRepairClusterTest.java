package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.JsonTrees;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of repairs that are not made, or not yet: they wait for an approval, for another program, or are a dry run. */
@Tag("api")
class HeldRepairClusterTest extends RepairFixture {

    @Test
    void approvalIsAwaitedAndBoundToTheAttempt() {
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.repairing(api, "one", settings(true, true), audits)) {
            until(controllers::works, "it leads");
            fail48(GPU);
            until(() -> fleet.eventReasons(bad).contains("RepairAwaitsApproval"), "it stops");
            assertThat(resources("gpuresets")).isEmpty();
            String approval = bad + ": approved: reset of " + GPU + " for SysLogsXIDError 48\n";
            assertThat(approve("--dry-run")).isEqualTo(new Answer(0, approval + "dry run: nothing was changed\n"));
            fleet.client.patch("node/" + bad, """
                {"metadata": {"annotations": {"gpuwarden.dev/repair-approved": "maintenance-of-another"}}}\
                """);
            fail48(GPU);
            assertThat(resources("gpuresets")).isEmpty();
            assertThat(approve()).isEqualTo(new Answer(0, approval));
            finish("gpuresets", only("gpuresets"), "Complete", false);
            assertThat(JsonTrees.object(resources("gpuresets").get(0), "metadata")
                            .toString())
                    .contains("SysLogsXIDError 48, approved by ");
            assertThat(audits.stream().filter(audit -> audit.decision().equals("act")))
                    .singleElement()
                    .satisfies(audit -> assertThat(audit.reason()).contains("SysLogsXIDError 48, approved by "));
            until(
                    () -> annotation("gpuwarden.dev/repair").contains("RebootNode"),
                    () -> "the reboot needs its own approval, " + seen());
            assertThat(resources("rebootnodes")).isEmpty();
            assertThat(approve().out()).startsWith(bad + ": approved: reboot for SysLogsXIDError 48");
            finish("rebootnodes", only("rebootnodes"), "NodeReady", false);
            until(() -> fleet.eventReasons(bad).contains("RepairNeedsHelp"), "it waits for an operator");
            assertThat(approve()).isEqualTo(new Answer(1, bad + ": not done: it waits for no approval\n"));
        }
    }

    @Test
    void dryRunMakesNothingAndReportsIt() throws Exception {
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.repairing(api, "one", settings(false, false), audits)) {
            until(controllers::works, "it leads");
            fail48(GPU);
            until(() -> fleet.eventReasons(bad).contains("RepairDryRun"), "its Event is written");
            until(() -> state().equals("drain-succeeded"), "it is drained");
            assertThat(resources("gpuresets")).isEmpty();
            assertThat(annotation("latestFaultRemediationState")).isEmpty();
            assertThat(audits).hasSize(1);
            assertThat(audits.get(0).dryRun()).isTrue();
            assertThat(audits.get(0).reason()).isEqualTo("reset of " + GPU + " for SysLogsXIDError 48");
            assertThat(JsonTrees.textList(audits.get(0).more(), "faults").get(0))
                    .startsWith("SysLogsXIDError 48 since ");
        }
        try (KubeClient api = fleet.asDryRun()) {
            assertThatThrownBy(() -> StartCheck.check(
                            api,
                            Optional.empty(),
                            Optional.empty(),
                            Optional.of(settings(true, false)),
                            Optional.empty(),
                            Optional.empty()))
                    .isInstanceOf(UserError.class)
                    .hasMessageContaining("--remediation.mode=armed needs rights")
                    .hasMessageContaining("components/remediation-armed");
        }
    }

    @Test
    void otherProgramsRepairStopsThisOne() {
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.repairing(api, "one", settings(true, false), audits)) {
            until(controllers::works, "it leads");
            foreign("other", "elsewhere");
            fleet.client.patch(
                    "node/" + bad, "{\"metadata\": {\"annotations\": {\"latestFaultRemediationState\": \"{}\"}}}");
            fail48(GPU);
            until(() -> decisions().contains("blocked"), "it stops");
            assertThat(audits.get(0).reason()).contains("another program has written the annotation");
            until(() -> state().equals("drain-succeeded"), "it is drained");
            assertThat(resources("gpuresets")).isEmpty();
            fleet.client.patch(
                    "node/" + bad, "{\"metadata\": {\"annotations\": {\"latestFaultRemediationState\": null}}}");
            String reset = only("gpuresets");
            until(() -> state().equals("remediating"), "it is recorded");

            foreign("foreign", bad);
            until(controllers::works, "it leads");
            fail48(OTHER);
            until(
                    () -> audits.stream().anyMatch(audit -> audit.reason().contains("another janitor works")),
                    "it stops");
            // Its end is written in the label that has the repair's result too.
            until(
                    () -> annotation("gpuwarden.dev/drain").matches(".*\"done\":\\[[^]]*" + OTHER + ".*"),
                    "both are drained");
            finish("gpuresets", reset, "Complete", true);
            until(
                    () -> state().equals("remediation-succeeded"),
                    () -> "the result of its own resource is stored, " + seen());
            assertThat(resources("gpuresets")).as("with the other janitor's").hasSize(2);
        }
    }

    /** Creates a resource that another janitor carries out. */
    private void foreign(String name, String node) {
        fleet.client.apply("""
            {apiVersion: janitor.dgxc.nvidia.com/v1alpha1, kind: GPUReset,
            metadata: {name: %s, finalizers: [janitor.dgxc.nvidia.com/finalizer]}, spec: {nodeName: %s}}
            """.formatted(fleet.named(name), node));
    }

    private record Answer(int code, String out) {}

    /** Runs the command of an operator with an operator's own rights. */
    private Answer approve(String... words) {
        List<String> all = new ArrayList<>(List.of("approve", bad));
        all.addAll(List.of(words));
        all.addAll(List.of("--kubeconfig", fleet.plane.adminKubeconfig().toString()));
        CommandRun run = CommandRun.of(new AggregatorCommands(), all);
        return new Answer(run.code(), run.out() + run.err());
    }
}
