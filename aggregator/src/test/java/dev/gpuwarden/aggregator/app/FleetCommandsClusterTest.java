package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.aggregator.app.TestFleet.settings;
import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.part.AuditLog.Entry;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.MicroTime;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the commands of an operator on a real API server with a running aggregator. */
@Tag("api")
class FleetCommandsClusterTest {

    @TempDir
    Path folder;

    private TestFleet fleet;
    private Path kubeconfig;
    private String bad;
    private String good;

    private record Answer(int code, String out, String err) {
        Map<String, Object> tree() throws Exception {
            return Json.readObject(out);
        }

        /** Returns a node of the fleet by its name. */
        Map<String, Object> node(String name) throws Exception {
            return JsonTrees.objects(tree(), "nodes").stream()
                    .filter(node -> name.equals(node.get("name")))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(name + " is not in " + out));
        }
    }

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
        bad = fleet.named("bad");
        good = fleet.named("good");
        kubeconfig = fleet.plane.adminKubeconfig();
    }

    @AfterEach
    void end() {
        if (fleet != null) {
            fleet.close();
        }
    }

    private Answer run(String... words) {
        List<String> all = new ArrayList<>(Arrays.asList(words));
        all.addAll(List.of("--kubeconfig", kubeconfig.toString()));
        CommandRun run = CommandRun.of(new AggregatorCommands(), all);
        return new Answer(run.code(), run.out(), run.err());
    }

    private Answer fleet(String... words) {
        List<String> all = new ArrayList<>(List.of("fleet", "-o", "json", "--all"));
        all.addAll(Arrays.asList(words));
        return run(all.toArray(String[]::new));
    }

    @Test
    void causeThatBlocksADrainIsReported() throws Exception {
        fleet.node(bad);
        TestPods pods = new TestPods(fleet, fleet.named("work"));
        pods.run(bad, "lonely");
        List<Entry> audits = new CopyOnWriteArrayList<>();
        DrainPolicies careful = TestPods.policies(DrainMode.IMMEDIATE, Duration.ofHours(1), false);
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.steer(api, "one", true, careful, audits)) {
            until(controllers::works, "it leads");
            fleet.fail(bad);
            until(() -> fleet.eventReasons(bad).contains("DrainNeedsHelp"), "its Event is written");
            assertThat(run("explain", bad).out())
                    .containsPattern("drain +not drained of all pods for SysLogsXIDError 79, 1 pod left: "
                            + pods.path("lonely") + ": no controller would start it again")
                    .contains("move or delete what is left by hand");
            assertThat(run("fleet").out()).contains("not drained of all pods");
            assertThat(JsonTrees.objects(JsonTrees.object(fleet().node(bad), "drain"), "waiting"))
                    .singleElement()
                    .satisfies(pod -> assertThat(pod).containsEntry("pod", pods.path("lonely")));
            assertThat(pods.untouched()).containsExactly("lonely");
            pods.end("lonely");
            until(() -> run("explain", bad).out().contains("drained of all pods at"), "a person has seen to it");
        }
    }

    @Test
    void statesOfNodesFollowTheAggregator() throws Exception {
        String minor = fleet.named("minor");
        String theirs = fleet.named("theirs");
        String mute = fleet.named("mute");
        String cpu = fleet.named("cpu");
        List.of(bad, good, minor, theirs, fleet.named("more")).forEach(fleet::node);
        fleet.client.apply("{apiVersion: v1, kind: Node, metadata: {name: %s}}".formatted(cpu));
        fleet.client.apply(
                "{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {nvidia.com/gpu.present: 'true'}}}"
                        .formatted(mute));
        fleet.plane.kubectl("cordon", theirs);
        fleet.report(
                minor,
                HealthEvent.of("a", "GPU", "GpuThermal").nodeName(minor).id("e").build());
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = Controllers.start(api, settings("one", ActionMode.ARMED, 100), audit -> {})) {
            until(controllers::works, "it leads");
            until(() -> run("breaker").code() == 0, "nothing has tripped");
            assertThat(run("breaker").out()).containsPattern("all +closed ").doesNotContain("note:");
            fleet.fail(bad);
            until(() -> fleet.cordoned(bad), "the node is cordoned");
            Answer answer = fleet();
            assertThat(answer.err()).isEmpty();
            assertThat(answer.code()).isEqualTo(1);
            assertThat(answer.node(bad))
                    .containsEntry("state", "quarantined")
                    .containsEntry("rules", List.of("syslog-fatal"))
                    .containsEntry(
                            "next",
                            "returns when this is over: SysLogsXIDError 79 on PCI 0000:3b:00; its pods stay (automatic"
                                    + " drain is off: --drain.mode=off): gpuwarden drain " + bad);
            assertThat(answer.node(good)).containsEntry("state", "healthy");
            assertThat(answer.node(minor)).containsEntry("state", "degraded");
            assertThat(answer.node(mute)).containsEntry("state", "silent");
            assertThat(answer.node(cpu)).containsEntry("state", "other");
            assertThat(answer.node(theirs))
                    .containsEntry("state", "cordoned")
                    .containsEntry("why", "cordoned with kubectl");
            assertThat(fleet("--selector", "zone!=a", "--state", "silent").out())
                    .contains("\"" + mute + "\"")
                    .doesNotContain("\"" + bad + "\"", "\"" + cpu + "\"");

            String table = run("fleet").out();
            assertThat(table)
                    .startsWith("quarantine armed · drain OFF · repair OFF\n")
                    .containsPattern("quarantined +1 ")
                    .containsPattern(bad
                            + " +quarantined .* SysLogsXIDError 79 on PCI 0000:3b:00 .* for syslog-fatal; returns when")
                    .doesNotContain(good + " ")
                    .contains("verdict: not fit (1 of 6 nodes)");

            until(() -> run("explain", bad).out().contains("Quarantined"), "its Event is listed");
            assertThat(run("explain", bad))
                    .satisfies(explained -> assertThat(explained.code()).isEqualTo(1))
                    .extracting(Answer::out)
                    .asString()
                    .contains("cordon      by gpuwarden", "GPU has fallen off the bus", "rules       syslog-fatal");
            assertThat(run("explain", theirs).out()).contains("cordon      by another writer, with kubectl");
            assertThat(run("explain", good).code()).isZero();
            assertThat(run("explain", "nobody").code()).isEqualTo(2);
        }
    }

    @Test
    void dryRunAndMissingLeaderAreDistinct() throws Exception {
        fleet.node(bad);
        fleet.node(good);
        fleet.fail(bad);
        assertThat(fleet().node(bad))
                .as("without an aggregator")
                .containsEntry("state", "faulty")
                .containsEntry("cause", "unknown");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers =
                        Controllers.start(api, settings("one", ActionMode.DRY_RUN, 100), audit -> {})) {
            until(controllers::works, "it leads");
            until(() -> fleet().out().contains("\"cause\": \"dry_run\""), "a dry run is seen");
            assertThat(JsonTrees.object(fleet().tree(), "breaker")).containsEntry("mode", "dry-run");
        }
        assertThat(fleet().out()).as("a moment later").doesNotContain("no_leader");
        fleet.client.patch("lease/gpuwarden/gpuwarden-aggregator", """
                {"spec": {"renewTime": "%s"}}""".formatted(
                        MicroTime.of(Instant.now().minusSeconds(17))));
        until(() -> fleet().out().contains("\"cause\": \"no_leader\""), "its absence is seen");
        assertThat(fleet().code()).isEqualTo(1);
    }

    @Test
    void missingRightToReadConfigMapIsReported() throws Exception {
        fleet.node(bad);
        fleet.fail(bad);
        fleet.client.apply("""
                {apiVersion: v1, kind: ServiceAccount, metadata: {name: reader, namespace: gpuwarden}}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRole
                metadata: {name: reader}
                rules:
                - {apiGroups: [""], resources: [nodes], verbs: [get, list]}
                - {apiGroups: [gpuwarden.dev], resources: [nodehealths], verbs: [get, list]}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRoleBinding
                metadata: {name: reader}
                roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
                subjects: [{kind: ServiceAccount, name: reader, namespace: gpuwarden}]
                """);
        kubeconfig = fleet.plane.kubeconfig(fleet.plane.token("gpuwarden", "reader"));
        Answer answer = fleet();
        assertThat(answer.node(bad)).containsEntry("state", "faulty").containsEntry("cause", "unknown");
        assertThat(answer.tree().get("notes").toString())
                .contains("the state of the breaker is unknown", "the rule sets are unknown", "403");
        assertThat(JsonTrees.object(answer.tree(), "breaker")).containsEntry("known", false);

        kubeconfig = fleet.plane.kubeconfig("nonsense");
        assertThat(fleet().code()).isEqualTo(3);
        kubeconfig = folder.resolve("absent");
        assertThat(fleet().code()).isEqualTo(2);
    }

    @Test
    void commandClosesTheBreaker() throws Exception {
        List<String> nodes = Stream.of("n1", "n2", "n3", "n4").map(fleet::named).toList();
        nodes.forEach(fleet::node);
        nodes.forEach(fleet::fail);
        assertThat(run("breaker"))
                .satisfies(explained -> assertThat(explained.code()).isEqualTo(3))
                .extracting(Answer::out)
                .asString()
                .contains("no aggregator with quarantine has led here yet")
                .doesNotContain("closed");
        assertThat(run("breaker", "close", "all").code()).as("nothing to close").isEqualTo(2);
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = Controllers.start(api, settings("one", ActionMode.ARMED, 50), audit -> {})) {
            until(() -> controllers.breaker().waiting().size() == 2, "two are refused");
            until(() -> run("breaker").code() == 1, "it is kept that it is open");
            assertThat(run("breaker").out())
                    .containsPattern("all +open .* 4 +2 +2 +3 of 4 nodes within 5 min, limit 2");
            assertThat(JsonTrees.objects(fleet().tree(), "nodes").stream()
                            .filter(node -> "breaker".equals(node.get("cause")))
                            .count())
                    .isEqualTo(2);

            Answer dry = run("breaker", "half-open", "all", "--nodes", "1", "--dry-run");
            assertThat(dry.code()).as(dry.err()).isZero();
            assertThat(dry.out()).contains("is open since", "2 nodes wait: ", "one node passes", "nothing was changed");
            assertThat(run("breaker").code()).as("it was dry").isEqualTo(1);

            Answer done = run("breaker", "half-open", "all", "--nodes", "1", "-o", "json");
            assertThat(done.code()).as(done.err()).isZero();
            assertThat(done.tree()).containsEntry("dryRun", false).containsKey("by");
            assertThat(JsonTrees.object(done.tree(), "before")).containsEntry("status", "open");
            assertThat(JsonTrees.object(done.tree(), "after")).containsEntry("status", "half-open");
            until(() -> nodes.stream().filter(fleet::cordoned).count() == 3, "one more passes");

            Instant before = controllers.breaker().state().pools().get("all").since();
            // The aggregator may close it first, since the counts are within the limits again.
            until(() -> run("breaker", "close", "all").code() == 0, "it is closed");
            until(
                    () -> controllers
                            .breaker()
                            .state()
                            .pools()
                            .get("all")
                            .since()
                            .isAfter(before),
                    "the aggregator takes it");
            assertThat(controllers.breaker().state().pools().get("all").status())
                    .isEqualTo(PoolState.Status.CLOSED);
            assertThat(run("breaker", "close", "all", "--dry-run").out())
                    .contains("closed: the limits hold again", "one node waits: ", "audit: {");
            assertThat(nodes.stream().filter(fleet::cordoned).count())
                    .as("too many are out for the fourth")
                    .isEqualTo(3);
            assertThat(run("breaker").code()).isZero();
        }
        assertThat(run("breaker", "half-open", "all").code()).isEqualTo(2);
        assertThat(run("breaker", "open", "all").code()).isEqualTo(2);
    }

    @Test
    void nodesAreCordonedAndReleasedByHand() throws Exception {
        List.of(bad, good).forEach(fleet::node);
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = Controllers.start(api, settings("one", ActionMode.ARMED, 100), audit -> {})) {
            until(controllers::works, "it leads");
            Answer would = run("cordon", good, "--reason", "new cables", "--dry-run", "-o", "json");
            assertThat(would.tree()).containsEntry("dryRun", true);
            assertThat(would.node(good).get("patch").toString()).contains("new cables");
            assertThat(fleet.cordoned(good)).isFalse();

            assertThat(run("cordon", good, "none", "--reason", "new cables"))
                    .satisfies(explained -> assertThat(explained.code()).isEqualTo(1))
                    .extracting(Answer::out)
                    .asString()
                    .contains(good + ": it takes no new pods", "none: not done: the cluster has no such Node");
            assertThat(fleet.cordoned(good)).isTrue();
            assertThat(String.valueOf(fleet().node(good).get("why"))).contains("cordoned by", ": new cables");

            fleet.fail(bad);
            until(() -> fleet.cordoned(bad), "the node is cordoned");
            assertThat(run("release", bad, good).code()).isZero();
            assertThat(fleet.cordoned(good)).isFalse();
            until(() -> fleet.get(bad, ".metadata.annotations").contains("UncordonedManually"), "it is cancelled");
            assertThat(fleet.cordoned(bad)).isFalse();
            Map<String, Object> released = fleet().node(bad);
            assertThat(released).containsEntry("state", "faulty").containsEntry("cause", "overridden");
            assertThat(String.valueOf(released.get("why")))
                    .contains(
                            "uncordoned or untainted it: SysLogsXIDError 79 on PCI 0000:3b:00 does not bring it back");
            assertThat(String.valueOf(released.get("next"))).startsWith("you: ").endsWith("; or cordon it");
            assertThat(run("release", "Bad").code()).isEqualTo(2);
            assertThat(run("clean-nodes", "--all", "--yes"))
                    .satisfies(explained -> assertThat(explained.code()).isEqualTo(2))
                    .extracting(Answer::err)
                    .asString()
                    .contains("the aggregator one acts", "scale deployment");
            until(() -> fleet.condition(bad).equals("True"), "it has a condition");
        }
        assertThat(run("clean-nodes").code()).as("nothing named is not all").isEqualTo(2);
        assertThat(run("clean-nodes", "--all").out())
                .contains(bad + ": would take away ", "conditions by gpuwarden-aggregator-conditions", "dry run");
        assertThat(fleet.condition(bad)).isEqualTo("True");
        fleet.client.delete("lease/gpuwarden/gpuwarden-aggregator");
        Answer cleaned = run("clean-nodes", "--all", "--yes");
        assertThat(cleaned.code()).as(cleaned.out() + cleaned.err()).isZero();
        assertThat(fleet.condition(bad)).isEmpty();
        assertThat(fleet.get(bad, ".metadata.annotations")).doesNotContain("gpuwarden", "Uncordoned");
        assertThat(run("clean-nodes", bad).out()).contains("nothing of gpuwarden is there");
    }
}
