package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.aggregator.app.TestFleet.settings;
import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.LeaderElector;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.quarantine.AuditRecord;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests of quarantine on a real API server with the shipped rights: from NodeHealths to Nodes. */
@Tag("api")
@ExtendWith(UsedRights.class)
class ControllersClusterTest {

    private final List<AuditRecord> audits = new CopyOnWriteArrayList<>();
    private TestFleet fleet;
    private String bad;

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
        bad = fleet.named("bad");
    }

    @AfterEach
    void end() {
        if (fleet != null) {
            fleet.close();
        }
    }

    @Test
    void faultyNodeIsQuarantinedWithItsReasonAndReturns() {
        String good = fleet.named("good");
        fleet.node(good);
        fleet.node(bad);
        fleet.cordon(good);
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = Controllers.start(api, settings("one", ActionMode.ARMED, 100), audits::add)) {
            until(controllers::works, "it leads");
            fleet.fail(bad);
            until(() -> fleet.cordoned(bad), "the node is cordoned");
            until(() -> fleet.condition(bad).equals("True"), "its condition is written");
            assertThat(fleet.get(bad, ".status.conditions[?(@.type==\"SysLogsXIDError\")].message"))
                    .contains("ErrorCode:79", "fallen off the bus");
            until(() -> fleet.eventReasons(bad).contains("Quarantined"), "its Event is written");
            assertThat(audits).hasSize(1);
            assertThat(Json.write(audits.get(0).toTree())).contains("syslog-fatal", "\"decision\":\"quarantine\"");
            until(
                    () -> fleet.client
                            .get("quarantineruleset/syslog-fatal", ".status.conditions[?(@.type==\"Ready\")].status")
                            .equals("True"),
                    "the rule set is reported ready");
            assertThat(fleet.plane.kubectl("get", "quarantineruleset", "syslog-fatal", "--no-headers"))
                    .contains("True");

            fleet.heal(bad);
            until(() -> !fleet.cordoned(bad), "the node returns");
            until(() -> fleet.condition(bad).equals("False"), "its condition is written");
            until(() -> fleet.eventReasons(bad).contains("ReturnedToService"), "its Event is written");
            assertThat(fleet.cordoned(good)).as("the cordon of another user").isTrue();
            assertThat(controllers.failing()).isZero();
        }
    }

    @Test
    void ruleSetThatCannotBeEvaluatedForAFaultReportsItInItsCondition() {
        fleet.node(bad);
        String rule = fleet.named("rack");
        fleet.client.apply("""
            apiVersion: gpuwarden.dev/v1alpha1
            kind: QuarantineRuleSet
            metadata: {name: %s}
            spec:
              enabled: true
              match: {all: [{kind: Node, expression: "node.metadata.labels['rack'] == 'r1'"}]}
              cordon: {shouldCordon: true}
            """.formatted(rule));
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers =
                        Controllers.start(api, settings("one", ActionMode.DRY_RUN, 100), audits::add)) {
            until(() -> condition(rule, "reason").equals("Ready"), "it compiles");
            fleet.fail(bad);
            until(() -> condition(rule, "reason").equals("ClauseErrors"), "its condition has the error");
            assertThat(condition(rule, "status")).isEqualTo("False");
            assertThat(condition(rule, "message")).contains(bad + ": ", "rack");
            assertThat(controllers.ruleConditions())
                    .anyMatch(one -> one.ruleSet().equals(rule) && !one.ready());
            fleet.heal(bad);
            until(() -> condition(rule, "reason").equals("Ready"), "the error is over");
        } finally {
            fleet.plane.kubectl("delete", "quarantineruleset", rule);
        }
    }

    private String condition(String ruleSet, String field) {
        return fleet.client.get("quarantineruleset/" + ruleSet, ".status.conditions[?(@.type==\"Ready\")]." + field);
    }

    @Test
    void nodeWithoutDaemonIsQuarantinedAndReturnsByMonitorReports() {
        String mute = fleet.named("mute");
        fleet.silentNode(mute, "zone");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = Controllers.start(api, settings("one", ActionMode.ARMED, 100), audits::add)) {
            until(controllers::works, "it leads");
            fleet.monitored(mute, fleet.xid(mute).build());
            until(() -> fleet.cordoned(mute), "the node is cordoned");
            until(() -> fleet.condition(mute).equals("True"), "its condition is written");
            fleet.monitored(mute, fleet.xid(mute).fatal(false).healthy(true).build());
            until(() -> !fleet.cordoned(mute), "the node returns");
            until(() -> fleet.condition(mute).equals("False"), "its condition is written");
        }
    }

    @Test
    void dryRunReportsWithoutChangesOrTheRightToChange() throws Exception {
        fleet.node(bad);
        String before = fleet.get(bad, ".metadata.resourceVersion");
        try (KubeClient api = fleet.asDryRun();
                Controllers controllers =
                        Controllers.start(api, settings("one", ActionMode.DRY_RUN, 100), audits::add)) {
            until(controllers::works, "it leads");
            fleet.fail(bad);
            until(() -> !audits.isEmpty(), "it is audited");
            until(() -> fleet.eventReasons(bad).contains("DryRun"), "its Event is written");
            assertThat(fleet.get(bad, ".metadata.resourceVersion")).isEqualTo(before);
            assertThat(controllers.failing()).isZero();

            Optional<DrainReconciler.Settings> drains = Optional.of(new DrainReconciler.Settings(
                    true, DrainPolicies.DEFAULT, DrainPolicies.DrainTimes.DEFAULT, false, false));
            StartCheck.check(
                    api,
                    Optional.of(settings("one", ActionMode.DRY_RUN, 100)),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty());
            assertThatThrownBy(() -> StartCheck.check(
                            api,
                            Optional.of(settings("one", ActionMode.ARMED, 100)),
                            Optional.empty(),
                            Optional.empty(),
                            Optional.empty(),
                            Optional.empty()))
                    .hasMessageContaining("patch nodes, patch nodes/status")
                    .hasMessageContaining("components/quarantine-armed");
            assertThatThrownBy(() -> StartCheck.check(
                            api, Optional.empty(), drains, Optional.empty(), Optional.empty(), Optional.empty()))
                    .hasMessageContaining("create pods/eviction. ")
                    .hasMessageContaining("components/drain-armed");
            try (KubeClient armed = fleet.asAggregator()) {
                StartCheck.check(
                        armed,
                        Optional.of(settings("one", ActionMode.ARMED, 100)),
                        drains,
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty());
            }
        }
    }

    @Test
    void breakerTripsStaysOpenAndCanBeClosedByAnOperator() {
        List<String> nodes = Stream.of("n1", "n2", "n3", "n4").map(fleet::named).toList();
        nodes.forEach(fleet::node);
        nodes.forEach(fleet::fail);
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = Controllers.start(api, settings("one", ActionMode.ARMED, 50), audits::add)) {
            until(() -> controllers.breaker().waiting().size() == 2, "two are refused");
            until(() -> nodes.stream().filter(fleet::cordoned).count() == 2, "the others are cordoned");
            until(() -> breaker().contains("\"status\":\"open\""), "it is kept");
        }
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = Controllers.start(api, settings("two", ActionMode.ARMED, 50), audits::add)) {
            until(() -> controllers.breaker().waiting().size() == 2, "another one still refuses");
            assertThat(nodes.stream().filter(fleet::cordoned).count()).isEqualTo(2);
            fleet.client.patch(
                    "configmap/gpuwarden/gpuwarden-breaker",
                    "{\"data\":{\"all\":\"{\\\"status\\\":\\\"half_open\\\",\\\"since\\\":\\\""
                            + java.time.Instant.now() + "\\\",\\\"letThrough\\\":1}\"}}");
            until(() -> nodes.stream().filter(fleet::cordoned).count() == 3, "one more passes on request");
            nodes.forEach(fleet::heal);
            until(() -> nodes.stream().noneMatch(fleet::cordoned), "recoveries flow");
        }
    }

    private String breaker() {
        return fleet.client.find("configmap/gpuwarden/gpuwarden-breaker", ".data.all");
    }

    /** A Lease that is not released outlasts each wait of a test. */
    private static QuarantineSettings longLease(String identity) {
        QuarantineSettings tests = settings(identity, ActionMode.ARMED, 100);
        LeaderElector.Times times =
                new LeaderElector.Times(Duration.ofHours(2), Duration.ofHours(1), Duration.ofMillis(500));
        return new QuarantineSettings(tests.namespace(), identity, tests.mode(), tests.pools(), times, false);
    }

    private Controllers secondAfter(Controllers first, KubeClient api) {
        until(first::works, "the first leads");
        return Controllers.start(api, longLease("second"), audits::add);
    }

    @Test
    void secondReplicaContinuesWhenTheLeaderStops() {
        fleet.node(bad);
        KubeClient api = fleet.asAggregator();
        Controllers first = Controllers.start(api, longLease("first"), audits::add);
        boolean stopped = false;
        try (Controllers second = secondAfter(first, api)) {
            until(() -> second.waitingFor().isEmpty() && first.waitingFor().isEmpty(), "both know all");
            assertThat(second.works()).isFalse();
            first.close();
            stopped = true;
            fleet.fail(bad);
            until(() -> fleet.cordoned(bad), "the other one goes on");
        } finally {
            // Otherwise it keeps the Lease from the tests after this one.
            if (!stopped) {
                first.close();
            }
            api.close();
        }
    }
}
