package dev.gpuwarden.aggregator.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.fleet.FleetReader;
import dev.gpuwarden.aggregator.remediation.NodePipeline;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import dev.gpuwarden.aggregator.remediation.RepairTemplates;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.HealthEventFields;
import dev.gpuwarden.aggregator.web.FleetPage;
import dev.gpuwarden.aggregator.web.FleetView;
import dev.gpuwarden.aggregator.web.PageOptions;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.cli.web.ListenAddress;
import dev.gpuwarden.cli.web.WebServer;
import dev.gpuwarden.testkit.browser.Browser;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the stages of a repair on the page in a real browser, and for readers with some rights, against a real API server. */
@Tag("api")
class RepairPageClusterTest {

    @TempDir
    Path folder;

    private final Closer parts = new Closer();
    private TestFleet fleet;
    private String bad;

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
        bad = fleet.named("bad");
        parts.add(fleet);
    }

    @AfterEach
    void end() {
        parts.close();
    }

    /** A repair as the parts of this program leave it on the Node and in its resource, with a text of a stranger. */
    private void repaired() {
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        fleet.node(bad);
        fleet.fail(bad);
        String name = "maintenance-" + bad;
        Map<String, Object> annotations = new LinkedHashMap<>();
        annotations.put(
                "quarantineHealthEvent",
                Json.write(List.of(HealthEventFields.of(fleet.xid(bad).build()))));
        annotations.put("quarantineHealthEventIsCordoned", "True");
        annotations.put("gpuwarden.dev/quarantined-at", now.minusSeconds(600).toString());
        annotations.put(
                "gpuwarden.dev/drain",
                Json.write(Map.of(
                        "full", now.minusSeconds(590).toString(),
                        "why", "SysLogsXIDError 79",
                        "finished", now.minusSeconds(200).toString())));
        annotations.put(
                "gpuwarden.dev/repairs",
                Json.write(List.of(Map.of(
                        "resource",
                        name,
                        "kind",
                        "GPUReset",
                        "fault",
                        "f",
                        "for",
                        "SysLogsXIDError 79",
                        "at",
                        now.minusSeconds(199).toString(),
                        "gpus",
                        List.of(Workshop.GPU)))));
        annotations.put(
                "latestFaultRemediationState",
                Json.write(Map.of("equivalenceGroups", Map.of("reset", Map.of("maintenanceCR", name)))));
        fleet.client.patch(
                "node/" + bad,
                Json.write(
                        Map.of("metadata", Map.of("annotations", annotations), "spec", Map.of("unschedulable", true))));
        fleet.client.apply(
                "{apiVersion: janitor.dgxc.nvidia.com/v1alpha1, kind: GPUReset, metadata: {name: %s}, spec: {nodeName: %s, selector: {uuids: [%s]}}}"
                        .formatted(name, bad, Workshop.GPU));
        status(name, now, "Services", "their pods have ended");
    }

    private void status(String name, Instant now, String reason, String message) {
        String since = now.minusSeconds(100).toString();
        Map<String, Object> stopped = Map.of(
                "type",
                "ServicesTornDown",
                "status",
                "True",
                "reason",
                reason,
                "message",
                message,
                "lastTransitionTime",
                since);
        Map<String, Object> failed = Map.of(
                "type",
                "ResetJobCompleted",
                "status",
                "False",
                "reason",
                "ResetJobFailed",
                "message",
                "expected a reset, seen <img src=x onerror=document.title='stranger'>",
                "lastTransitionTime",
                now.minusSeconds(40).toString());
        Map<String, Object> created = Map.of(
                "type", "ResetJobCreated", "status", "True", "reason", "R", "message", "", "lastTransitionTime", since);
        fleet.client.patch(
                "gpureset/" + name + "/status",
                Json.write(Map.of(
                        "status",
                        Map.of(
                                "startTime",
                                now.minusSeconds(150).toString(),
                                "conditions",
                                List.of(stopped, created, failed)))));
    }

    @Test
    void repairIsShownAsAPictureWithTimes() throws Exception {
        fleet.client.apply(FleetPageClusterTest.READER);
        repaired();
        KubeClient api = parts.add(fleet.asAggregator());
        Controllers controllers = parts.add(TestPods.repairing(
                api,
                "one",
                new RepairReconciler.Settings(
                        false, false, 2, Duration.ofDays(7), Duration.ofMinutes(5), RepairTemplates.NONE, "gpuwarden"),
                new ArrayList<>()));
        FleetView board = new FleetView(controllers.view(), api, List::of, Clock.systemUTC());
        int port = parts.add(
                        WebServer.start(new ListenAddress("127.0.0.1", 0), FleetPage.of(board, api, new PageOptions())))
                .address()
                .getPort();
        try (Browser browser = Browser.start(folder.resolve("browser"), 1600, 1000)) {
            FleetPageClusterTest.open(browser, FleetPageClusterTest.token(fleet, "reader"), port, "#node=" + bad);
            browser.until("(document.querySelector('.pipeline')?.innerText ?? '').includes('services restored')");
            String text = FleetPageClusterTest.text(browser, ".pipeline").replaceAll("\\s+", " ");
            assertThat(text)
                    .containsSubsequence(
                            "fault done",
                            "quarantine done",
                            "drain done 7 min",
                            "lock done",
                            "services stopped done 50 s",
                            "reset failed 60 s",
                            "seen <img src=x onerror=",
                            "services restored in progress",
                            "so far",
                            "back in service not yet");
            assertThat(browser.evaluate("document.title")).isEqualTo("gpuwarden: the fleet");
            assertThat(browser.evaluate("document.querySelectorAll('.pipeline img').length"))
                    .isEqualTo(0);
            assertThat(((Number) browser.evaluate("[...document.querySelectorAll('.pipeline rect')]"
                                    + ".filter(rect => rect.getBoundingClientRect().width > 3).length"))
                            .intValue())
                    .as("bars that are seen, without a style that the page's policy forbids")
                    .isGreaterThanOrEqualTo(5);
            picture(browser, "wide");
            browser.size(360, 2400);
            picture(browser, "narrow");
            assertThat(((Number) browser.evaluate("document.querySelector('#node').scrollWidth"
                                    + " - document.querySelector('#node').clientWidth"))
                            .intValue())
                    .as("nothing is beyond the edge of a telephone")
                    .isLessThanOrEqualTo(0);
            fleet.client.delete("gpureset/maintenance-" + bad);
            browser.until("document.querySelector('.pipeline').innerText.includes('its resource is gone')");
        }
    }

    @Test
    void missingRightToReadResourcesIsNoAbsence() throws Exception {
        fleet.client.apply("""
                {apiVersion: v1, kind: ServiceAccount, metadata: {name: partial, namespace: gpuwarden}}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRole
                metadata: {name: partial}
                rules:
                - {apiGroups: [""], resources: [nodes], verbs: [get]}
                - {apiGroups: [gpuwarden.dev], resources: [nodehealths], verbs: [get]}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRoleBinding
                metadata: {name: partial}
                roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: partial}
                subjects: [{kind: ServiceAccount, name: partial, namespace: gpuwarden}]
                """);
        repaired();
        try (KubeClient some = fleet.as("partial")) {
            NodePipeline seen = new FleetReader(some, "gpuwarden", Optional.empty())
                    .node(bad, Instant.now())
                    .orElseThrow()
                    .pipeline()
                    .orElseThrow();
            assertThat(seen.stages())
                    .filteredOn(stage -> stage.name().equals("reset"))
                    .singleElement()
                    .satisfies(stage -> assertThat(stage.why())
                            .contains("its steps could not be read: gpuresets.janitor.dgxc.nvidia.com: ", "forbidden"));
        }
    }

    private void picture(Browser browser, String name) throws Exception {
        browser.screenshot(
                Path.of(System.getenv().getOrDefault("FLEET_PICTURE", folder + "/fleet") + "-" + name + ".png"));
    }
}
