package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import dev.gpuwarden.aggregator.remediation.RepairTemplates;
import dev.gpuwarden.aggregator.remediation.TemplateFile;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Users' own ways of repair on a real API server. The test ends the resources like their controllers. */
@Tag("api")
@ExtendWith(UsedRights.class)
class TemplateClusterTest extends RepairFixture {

    private static final String DEFINITION = """
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: tickets.example.org}
        spec:
          group: example.org
          scope: Cluster
          names: {kind: Ticket, plural: tickets, singular: ticket}
          versions:
            - name: v1
              served: true
              storage: true
              subresources: {status: {}}
              schema:
                openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
        """;

    private static final String RIGHTS = """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: templates-of-a-test}
        rules:
          - {apiGroups: [example.org], resources: [tickets], verbs: [get, list, watch%s]}
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: templates-of-a-test}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: templates-of-a-test}
        subjects: [{kind: ServiceAccount, name: gpuwarden-aggregator, namespace: gpuwarden}]
        """;

    @TempDir
    Path folder;

    private RepairTemplates templates = RepairTemplates.NONE;

    @BeforeEach
    void configure() throws Exception {
        fleet.client.apply(DEFINITION);
        templates = TemplateFile.read(Files.writeString(folder.resolve("templates.yaml"), """
            templates:
              - name: ticket
                actions: [CONTACT_SUPPORT]
                resource: tickets
                drain: none
                complete: Resolved
                after: operator
                object:
                  apiVersion: example.org/v1
                  kind: Ticket
                  spec: {node: "${node}", gpus: "${gpus}", fault: "${fault}"}
              - name: hook
                actions: ["CUSTOM:hook"]
                resource: jobs
                object:
                  apiVersion: batch/v1
                  kind: Job
                  metadata: {namespace: gpuwarden}
                  spec:
                    template:
                      spec:
                        restartPolicy: Never
                        containers: [{name: hook, image: hook, env: [{name: FAULT, value: "${fault}"}]}]
            """));
    }

    @AfterEach
    void forbid() {
        if (fleet != null) {
            fleet.client.deleteNow("clusterrolebinding/templates-of-a-test");
            fleet.client.deleteNow("rolebinding/gpuwarden/gpuwarden-remediation");
            fleet.client.delete("jobs/gpuwarden?propagationPolicy=Background");
        }
    }

    private void permit(String more) {
        fleet.client.apply(RIGHTS.formatted(more));
        fleet.apply("components/remediation-templates/rights.yaml");
    }

    private RepairReconciler.Settings settings(boolean armed) {
        return new RepairReconciler.Settings(
                armed, false, 2, Duration.ofDays(7), Duration.ofMinutes(1), templates, "gpuwarden");
    }

    private void fail(RecommendedAction action, String custom) {
        fleet.report(
                bad, event().fatal(true).action(action).customAction(custom).build());
    }

    private HealthEvent.Builder event() {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .nodeName(bad)
                .id("event-" + bad)
                .message("\"}} ${node} $(HOME) <unknown>")
                .errorCodes(List.of("95"))
                .entities(List.of(Entity.gpu(GPU)));
    }

    private List<Map<String, Object>> tickets() {
        return JsonTrees.objects(fleet.client.get("tickets"), "items").stream()
                .filter(each ->
                        JsonTrees.text(JsonTrees.object(each, "spec"), "node").equals(bad))
                .toList();
    }

    private List<Map<String, Object>> jobs() {
        return JsonTrees.objects(fleet.client.get("jobs/gpuwarden"), "items");
    }

    private String lease() {
        return "lease/gpuwarden/" + bad;
    }

    private Controllers lead(KubeClient api, String identity, boolean armed) {
        return TestPods.repairing(api, identity, settings(armed), audits);
    }

    @Test
    void ticketIsMadeOnceAlsoAfterTheLeaderIsKilledAndItsEndIsRecorded() throws Exception {
        permit("");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = lead(api, "one", true)) {
            until(controllers::works, "it leads");
            fail(RecommendedAction.CONTACT_SUPPORT, "");
            until(() -> annotation("latestFaultRemediationState").contains("Ticket"), "the attempt is recorded");
            until(() -> controllers.failing() > 0, "its create is refused");
        }
        assertThat(tickets())
                .as("the leader ended between the record and the create")
                .isEmpty();
        permit(", create");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = lead(api, "two", true)) {
            until(controllers::works, "it leads");
            until(() -> !tickets().isEmpty(), "the next leader makes it");
            Map<String, Object> ticket = tickets().get(0);
            assertThat(annotation("gpuwarden.dev/repairs")).contains(name(ticket), "\"template\"");
            Map<String, Object> spec = JsonTrees.object(ticket, "spec");
            assertThat(spec).containsEntry("gpus", List.of(GPU));
        }
        RepairTemplates removed = templates;
        templates = RepairTemplates.NONE;
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = lead(api, "three", true)) {
            until(controllers::works, "it leads");
            until(
                    () -> annotation("gpuwarden.dev/repair").contains("is no longer configured"),
                    "the node waits for an operator while the ticket is there");
            assertThat(fleet.client.find(lease())).isPresent();
        }
        templates = removed;
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = lead(api, "four", true)) {
            Map<String, Object> ticket = tickets().get(0);
            Map<String, Object> spec = JsonTrees.object(ticket, "spec");
            assertThat(Json.readObject(JsonTrees.text(spec, "fault")))
                    .containsEntry("message", "\"}} ${node} $(HOME) <unknown>")
                    .containsEntry("action", "CONTACT_SUPPORT");
            fleet.client.patch(
                    "tickets/" + name(ticket) + "/status",
                    "{\"status\": {\"conditions\": [{\"type\": \"Resolved\", \"status\": \"True\","
                            + " \"lastTransitionTime\": \"%s\"}]}}".formatted(Instant.now()));
            until(
                    () -> annotation("gpuwarden.dev/repair").contains("check and release the node"),
                    "its end is recorded");
            assertThat(annotation("gpuwarden.dev/repairs")).contains("\"result\":\"succeeded\"");
            assertThat(tickets()).hasSize(1);
            assertThat(fleet.client.find(lease())).as("the lock is released").isEmpty();
            // A result is in the audit log after the node has it.
            until(() -> decisions().equals(List.of("act", "person", "succeeded")), "the audit log has it");
            until(() -> controllers.failing() == 0, "no node is tried again");
        }
    }

    @Test
    void jobReceivesTheFaultAndItsNodeReturnsOnlyWithTheEndOfItsLock() {
        permit(", create");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = lead(api, "one", true)) {
            until(controllers::works, "it leads");
            fleet.client.apply(
                    "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: %s, namespace: gpuwarden}}"
                            .formatted(bad));
            fail(RecommendedAction.CUSTOM, "hook");
            until(() -> state().equals("remediating"), "the attempt is recorded");
            assertThat(jobs()).as("another program has the lock of the node").isEmpty();
            fleet.client.delete(lease());
            until(() -> !jobs().isEmpty(), "the Job is made");
            assertThat(jobs().get(0).toString()).contains("name=FAULT", "CUSTOM:hook", "\\u0024{node}");
            assertThat(fleet.client.get(lease(), ".metadata.annotations.gpuwarden\\.dev/locked-for"))
                    .isEqualTo(name(jobs().get(0)));
        }
        RepairTemplates removed = templates;
        templates = RepairTemplates.NONE;
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = lead(api, "without-template", true)) {
            until(controllers::works, "it leads");
            until(
                    () -> annotation("gpuwarden.dev/repair").contains("is no longer configured"),
                    "the node waits for an operator while the Job is there");
            fleet.report(bad, event().fatal(false).healthy(true).build());
            until(
                    () -> fleet.client
                            .get("nodehealth/" + bad, ".status.faultCount")
                            .equals("0"),
                    "the fault is over");
            until(() -> controllers.held().contains(bad), "it stays for its Job");
        }
        templates = removed;
        assertThat(fleet.cordoned(bad)).as("its Job may still act").isTrue();
        String now = Instant.now().toString();
        fleet.client.patch("job/gpuwarden/" + name(jobs().get(0)) + "/status", """
            {"status": {"startTime": "%s", "conditions": [
            {"type": "FailureTarget", "status": "True", "lastTransitionTime": "%s"},
            {"type": "Failed", "status": "True", "lastTransitionTime": "%s"}]}}
            """.formatted(now, now, now));
        assertThat(fleet.client.find(lease())).isPresent();
        fleet.client.patch("node/" + bad, "{\"metadata\": {\"annotations\": {\"gpuwarden.dev/repairs\": null}}}");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = lead(api, "two", true)) {
            until(controllers::works, "it leads");
            until(() -> fleet.client.find(lease()).isEmpty(), "the lock is released, also without the record");
            until(() -> !fleet.cordoned(bad), "the node returns");
            assertThat(jobs()).hasSize(1);
        }
    }

    @Test
    void missingRightIsNamedAndADryRunMakesNothing() throws Exception {
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = lead(api, "one", false)) {
            assertThatThrownBy(() -> check(api))
                    .isInstanceOf(UserError.class)
                    .hasMessageContaining("--remediation.templates needs rights")
                    .hasMessageContaining("get tickets.example.org, list tickets.example.org,")
                    .hasMessageContaining("list jobs.batch in gpuwarden")
                    .hasMessageContaining("gpuwarden.dev/aggregate-to-remediation");
            until(controllers::works, "it leads");
            fail(RecommendedAction.CONTACT_SUPPORT, "");
            until(() -> fleet.eventReasons(bad).contains("RepairDryRun"), "its Event is written");
            assertThat(audits.get(0).reason()).isEqualTo("template ticket for SysLogsXIDError 95");
            assertThat(tickets()).isEmpty();
            permit(", create");
            assertThatCode(() -> check(api)).doesNotThrowAnyException();
            String file = Files.readString(folder.resolve("templates.yaml"));
            templates = TemplateFile.read(Files.writeString(
                    folder.resolve("wrong.yaml"),
                    file.replace("kind: Ticket", "kind: Card")
                            .replace("metadata: {namespace", "metadata: {labels")
                            .replace("kind: Job", "kind: CronJob")
                            .replace("resource: jobs", "resource: cronjobs\n    complete: Complete")));
            assertThatThrownBy(() -> check(api))
                    .hasMessageContaining("template ticket: expected the kind Card with the plural tickets in"
                            + " example.org/v1, but the API server has the kind Ticket there")
                    .hasMessageContaining("template hook: expected object.metadata with a namespace");
        }
    }

    private void check(KubeClient api) throws InterruptedException {
        StartCheck.check(
                api,
                Optional.empty(),
                Optional.empty(),
                Optional.of(settings(true)),
                Optional.empty(),
                Optional.empty());
    }
}
