package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.command.DrainCommand;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson;
import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.NamedCommand;
import dev.gpuwarden.cli.SettingSources;
import dev.gpuwarden.cli.run.ShutdownSignal;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the command `drain` on a real API server without an aggregator. Each test has a node and a namespace of its own. */
@Tag("api")
class DrainCommandClusterTest {

    private static final String GPU = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";
    private static final String OTHER = "GPU-07bf6b30-9192-8167-70ae-909c383d543a";
    private static final String OWNED = owned("ReplicaSet");
    private static final Path DOCS = Path.of(System.getProperty("gpuwarden.repository"), "docs/operating/drain.md");

    @TempDir
    static Path folder;

    private static TestFleet fleet;

    private final CountDownLatch interrupt = new CountDownLatch(1);
    private Path kubeconfig = fleet.plane.adminKubeconfig();

    @BeforeAll
    static void start() {
        fleet = TestFleet.start();
    }

    @AfterAll
    static void end() {
        if (fleet != null) {
            fleet.close();
        }
    }

    // ---- the command ----

    /** A command that may still run. */
    private record Running(CompletableFuture<Integer> code, StringWriter out, StringWriter err) {
        int end() throws Exception {
            return code.get(60, TimeUnit.SECONDS);
        }

        void awaitMessage(String text) {
            until(() -> err.toString().contains(text) || code.isDone(), "the message " + text);
            assertThat(err.toString()).contains(text);
        }

        Map<String, Object> tree() throws Exception {
            return Json.readObject(out.toString());
        }

        /** Returns the states of pods by their names without namespace. */
        Map<String, String> states() throws Exception {
            Map<String, String> states = new LinkedHashMap<>();
            JsonTrees.objects(tree(), "pods")
                    .forEach(pod -> states.put(
                            JsonTrees.text(pod, "pod").replaceFirst(".*/", ""), JsonTrees.text(pod, "state")));
            return states;
        }
    }

    private Running drain(String... words) {
        List<String> all = new ArrayList<>(List.of("drain", "--kubeconfig", kubeconfig.toString(), "-o", "json"));
        all.addAll(Arrays.asList(words));
        CommandGroup group =
                () -> List.of(new NamedCommand("drain", () -> new DrainCommand(Map.of(), Clock.systemUTC(), stop())));
        var line = Main.commandLine(
                SettingSources.none(), List.<CommandGroup>of(group).iterator());
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return new Running(CompletableFuture.supplyAsync(() -> line.execute(all.toArray(String[]::new))), out, err);
    }

    /** Returns a signal that the test sends, like Ctrl-C. */
    private ShutdownSignal stop() {
        return () -> new ShutdownSignal.Registration() {
            @Override
            public void await() throws InterruptedException {
                interrupt.await();
            }

            @Override
            public boolean await(Duration most) throws InterruptedException {
                return interrupt.await(most.toNanos(), TimeUnit.NANOSECONDS);
            }

            @Override
            public void close() {}
        };
    }

    // ---- the cluster ----

    private static String owned(String kind) {
        return ", ownerReferences: [{apiVersion: apps/v1, kind: %s, name: o, uid: o-1, controller: true}]"
                .formatted(kind);
    }

    private static TestPods pods(String node) {
        fleet.node(node);
        return new TestPods(fleet, node);
    }

    private static void runWithGpu(TestPods pods, String node, String name, String gpu) {
        pods.run(
                node,
                name,
                OWNED,
                ", resources: {limits: {nvidia.com/gpu: 1}}",
                gpu.isEmpty() ? "" : """
                        , "allocatedResourcesStatus": [{"name": "nvidia.com/gpu", "resources": [{"resourceID": "%s", "health": "Healthy"}]}]
                        """.formatted(gpu));
    }

    /** Writes a budget with the count of a controller, which does not run here. */
    private static void budget(String namespace, int allowed) {
        fleet.client.apply("""
                {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: %s},
                spec: {minAvailable: 1, selector: {matchLabels: {app: %s}}}}
                """.formatted(namespace, namespace));
        fleet.client.patch("poddisruptionbudget/" + namespace + "/web/status", """
                {"status": {"observedGeneration": 1, "disruptionsAllowed": %d, "currentHealthy": %d, "desiredHealthy": 1, "expectedPods": 2}}
                """.formatted(allowed, 1 + allowed));
    }

    /** Returns the kubeconfig of a user with the documented rights, without one of the lines. */
    private static Path person(String name, String without) {
        try {
            String docs = Files.readString(DOCS);
            String role = docs.substring(docs.indexOf("apiVersion: rbac"));
            role = role.substring(0, role.indexOf("```"))
                    .replace("name: gpuwarden-drain", "name: " + name)
                    .lines()
                    .filter(line -> without.isEmpty() || !line.contains(without))
                    .reduce("", (a, b) -> a + b + "\n");
            fleet.client.apply(role);
            fleet.client.apply("""
                    {apiVersion: v1, kind: ServiceAccount, metadata: {name: NAME, namespace: gpuwarden}}
                    ---
                    apiVersion: rbac.authorization.k8s.io/v1
                    kind: ClusterRoleBinding
                    metadata: {name: NAME}
                    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}
                    subjects: [{kind: ServiceAccount, name: NAME, namespace: gpuwarden}]
                    """.replace("NAME", name));
            return fleet.plane.kubeconfig(fleet.plane.token("gpuwarden", name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void podsAreEvictedAsBudgetsPermitAndOthersAreListed() throws Exception {
        TestPods pods = pods("budgeted");
        pods.run("budgeted", "web", OWNED, "");
        pods.run("budgeted", "agent", owned("DaemonSet"), "");
        pods.run("budgeted", "done", OWNED, "");
        pods.status("done", "{\"phase\": \"Succeeded\"}");
        budget("budgeted", 0);
        Running drain = drain("budgeted", "--grace-period", "7");
        drain.awaitMessage("budgeted/web: refused since ");
        assertThat(drain.err().toString())
                .contains("budgeted: cordoned", "one pod to go, 2 pods that may stay", "The disruption budget web");
        assertThat(fleet.cordoned("budgeted")).isTrue();
        assertThat(pods.untouched()).contains("web");

        budget("budgeted", 1);
        drain.awaitMessage("budgeted/web: evicted, it has until");
        assertThat(pods.get("web", ".metadata.deletionGracePeriodSeconds")).isEqualTo("7");
        assertThat(pods.get("web", ".status.conditions[?(@.type==\"DisruptionTarget\")].reason"))
                .isEqualTo("EvictionByEvictionAPI");
        pods.end("web");
        assertThat(drain.end()).as(drain.err().toString()).isZero();
        assertThat(drain.tree())
                .containsEntry("schema", "gpuwarden.drain/v1")
                .containsEntry("outcome", "drained")
                .containsEntry("by", "admin");
        assertThat(drain.states()).containsEntry("web", "gone").containsEntry("agent", "left");
        assertThat(drain.tree().toString()).doesNotContainPattern("[0-9]{2}\\.[0-9]{4}");
        assertThat(pods.untouched()).containsExactly("agent", "done");
    }

    @Test
    void podWithoutControllerStaysUnlessForced() throws Exception {
        TestPods pods = pods("lonely");
        pods.run("lonely", "one");
        Running careful = drain("lonely");
        assertThat(careful.end()).isEqualTo(1);
        assertThat(careful.tree()).containsEntry("outcome", "left");
        assertThat(careful.out().toString()).contains("no controller would start it again (--force)");
        assertThat(pods.untouched()).containsExactly("one");

        Running forced = drain("lonely", "--force", "--ignore-daemonsets");
        forced.awaitMessage("lonely: it was cordoned already");
        forced.awaitMessage("lonely/one: evicted");
        pods.end("one");
        assertThat(forced.end()).as(forced.err().toString()).isZero();
        assertThat(fleet.cordoned("lonely")).isTrue();
    }

    @Test
    void onlyTheHolderOfTheGpuIsEvicted() throws Exception {
        TestPods pods = pods("listed");
        runWithGpu(pods, "listed", "holds", GPU);
        runWithGpu(pods, "listed", "other", OTHER);
        pods.run("listed", "none", OWNED, "");
        kubeconfig = person("without-daemons", "nodehealths");
        Running drain = drain("listed", "--gpu", GPU.toUpperCase(java.util.Locale.ROOT));
        drain.awaitMessage("listed/holds: evicted");
        pods.end("holds");
        assertThat(drain.end()).as(drain.err().toString()).isZero();
        assertThat(drain.tree()).containsEntry("gpus", List.of(GPU));
        assertThat(pods.untouched()).containsExactly("none", "other");
        assertThat(fleet.lookup("listed")).as("no lookup was needed").isEmpty();
    }

    @Test
    void holdersAreRequestedFromTheDaemonIfPodStatusLacksThem() throws Exception {
        TestPods pods = pods("asked");
        runWithGpu(pods, "asked", "holds", "");
        runWithGpu(pods, "asked", "other", "");
        kubeconfig = person("person", "");
        Running drain = drain("asked", "--gpu", GPU);
        drain.awaitMessage("its daemon is asked which pods hold its GPUs");
        until(() -> !fleet.lookup("asked").isEmpty(), "the node is asked");
        assertThat(fleet.cordoned("asked")).as("after the cordon").isTrue();
        assertThat(pods.untouched()).containsExactly("holds", "other");
        answer(
                "asked",
                new Reading.Present<>(new GpuHolders(
                        Instant.now(),
                        List.of(new GpuHolder("asked", "holds", "main", GPU, GpuHolder.Kind.EXCLUSIVE, GPU)),
                        List.of(),
                        0)));
        drain.awaitMessage("asked/holds: evicted");
        pods.end("holds");
        assertThat(drain.end()).as(drain.err().toString()).isZero();
        assertThat(pods.untouched()).containsExactly("other");
    }

    /** Writes an answer of the daemon, like the replica that the node reports to. */
    private static void answer(String node, Reading<GpuHolders> holders) throws Exception {
        try (KubeClient api = fleet.asAggregator()) {
            assertThat(new GpuHolderRequests(api, NodeHealthCache.NONE, Clock.systemUTC())
                            .answer(
                                    node,
                                    fleet.lookup(node),
                                    GpuHoldersJson.of(fleet.lookup(node), holders, Instant.now())))
                    .isTrue();
        }
    }

    @Test
    void noPodIsEvictedIfHoldersAreUnknown() throws Exception {
        fleet.silentNode("mute", "zone");
        TestPods pods = new TestPods(fleet, "mute");
        runWithGpu(pods, "mute", "one", "");
        Running silent = drain("mute", "--gpu", GPU);
        assertThat(silent.end()).isEqualTo(3);
        assertThat(silent.tree()).containsEntry("outcome", "undecided");
        assertThat(silent.out().toString())
                .contains("does not name its GPUs", "no daemon that reports", "without --gpu all pods");

        TestPods broken = pods("broken");
        runWithGpu(broken, "broken", "one", "");
        Running drain = drain("broken", "--gpu", GPU);
        for (String asked = ""; !drain.code().isDone(); ) {
            String before = asked;
            until(() -> drain.code().isDone() || !fleet.lookup("broken").equals(before), "it is asked");
            asked = fleet.lookup("broken");
            if (!drain.code().isDone()) {
                answer("broken", Reading.absent(Absence.FAILED, 0, "the kubelet does not answer"));
            }
            String answered = asked;
            until(() -> drain.code().isDone() || !fleet.lookup("broken").equals(answered), "it is asked again");
        }
        assertThat(drain.end()).isEqualTo(3);
        assertThat(drain.out().toString()).contains("the kubelet does not answer");
        assertThat(pods.untouched()).containsExactly("one");
        assertThat(broken.untouched()).containsExactly("one");
    }

    @Test
    void dryRunReportsAllAndChangesNothing() throws Exception {
        TestPods pods = pods("dry");
        pods.run("dry", "web", OWNED, "");
        pods.run("dry", "lonely");
        budget("dry", 0);
        String before = fleet.get("dry", ".metadata.resourceVersion");
        String pod = pods.get("web", ".metadata.resourceVersion");
        Running refused = drain("dry", "--dry-run");
        assertThat(refused.end()).isEqualTo(1);
        assertThat(refused.states()).containsEntry("web", "refused").containsEntry("lonely", "stays");
        assertThat(refused.tree()).containsEntry("dryRun", true);
        budget("dry", 1);
        Running free = drain("dry", "--dry-run", "--force");
        assertThat(free.end()).as(free.out().toString()).isZero();
        assertThat(free.states()).containsEntry("web", "evict").containsEntry("lonely", "evict");

        runWithGpu(pods, "dry", "mute", "");
        Running unknown = drain("dry", "--dry-run", "--gpu", GPU);
        assertThat(unknown.end()).isEqualTo(3);
        assertThat(unknown.out().toString()).contains("a dry run does not ask its daemon");
        assertThat(fleet.lookup("dry")).isEmpty();
        assertThat(fleet.get("dry", ".metadata.resourceVersion")).isEqualTo(before);
        assertThat(pods.get("web", ".metadata.resourceVersion")).isEqualTo(pod);
        assertThat(pods.untouched()).containsExactly("lonely", "mute", "web");
    }

    @Test
    void podThatCanSaveItsWorkGetsASignalFirstIfRequested() throws Exception {
        TestPods pods = pods("saving");
        pods.run("saving", "train", OWNED + ", annotations: {gpuwarden.dev/checkpoint-signal: SIGUSR1}", "");
        Running drain = drain("saving", "--notice", "10m");
        drain.awaitMessage("saving/train: SIGUSR1 is being sent");
        assertThat(pods.untouched()).containsExactly("train");
        pods.annotate("train", "gpuwarden.dev/checkpointed", "yes");
        drain.awaitMessage("saving/train: evicted");
        pods.end("train");
        assertThat(drain.end()).as(drain.err().toString()).isZero();
        assertThat(fleet.client.get("nodehealth/saving", ".spec.signals"))
                .as("nothing is asked of it any more")
                .isIn("", "{}");
    }

    @Test
    void missingRightsAreReportedBeforeAnyChange() throws Exception {
        TestPods pods = pods("guarded");
        pods.run("guarded", "one", OWNED, "");
        kubeconfig = person("blind", "[pods]");
        Running blind = drain("guarded");
        assertThat(blind.end()).isEqualTo(3);
        assertThat(blind.err().toString())
                .contains("nothing was done: system:serviceaccount:gpuwarden:blind may not list pods, watch pods");
        assertThat(fleet.cordoned("guarded")).isFalse();

        kubeconfig = person("powerless", "eviction");
        Running powerless = drain("guarded");
        assertThat(powerless.end()).isEqualTo(1);
        assertThat(powerless.out().toString()).contains("cannot create resource");
        assertThat(pods.untouched()).containsExactly("one");
    }

    @Test
    void releaseOrInterruptEndsTheDrain() throws Exception {
        TestPods pods = pods("released");
        pods.run("released", "one", OWNED, "");
        budget("released", 0);
        Running drain = drain("released");
        drain.awaitMessage("refused since");
        fleet.uncordon("released");
        assertThat(drain.end()).isEqualTo(1);
        assertThat(drain.tree()).containsEntry("outcome", "released");

        Running late = drain("released", "--timeout", "2s");
        assertThat(late.end()).isEqualTo(1);
        assertThat(late.tree()).containsEntry("outcome", "timeout");
        assertThat(late.states()).containsEntry("one", "refused");

        Running stopped = drain("released");
        stopped.awaitMessage("refused since");
        interrupt.countDown();
        assertThat(stopped.end()).isEqualTo(1);
        assertThat(stopped.tree()).containsEntry("outcome", "stopped");
        assertThat(stopped.err().toString()).contains("it stays cordoned");
        assertThat(fleet.cordoned("released")).isTrue();
        assertThat(pods.untouched()).containsExactly("one");
    }

    @Test
    void evictionWithALostAnswerIsSentOnceAndSeenLater() throws Exception {
        TestPods pods = pods("broken-off");
        pods.run("broken-off", "one", OWNED, "");
        try (FaultyApi faulty = new FaultyApi(fleet.plane)) {
            kubeconfig = Files.writeString(folder.resolve("faulty"), faulty.kubeconfig());
            faulty.fail(ApiCall.of("POST", "/eviction"), new ApiFault.CutAfter());
            Running drain = drain("broken-off");
            drain.awaitMessage("broken-off/one: evicted");
            faulty.cut();
            pods.end("one");
            assertThat(drain.end()).as(drain.err().toString()).isZero();
            assertThat(drain.states()).containsEntry("one", "gone");
            assertThat(faulty.count(ApiCall.of("POST", "/eviction"))).isEqualTo(1);
        }
    }

    @Test
    void invalidArgumentsAreUsageErrors() throws Exception {
        fleet.node("worker");
        for (String[] words : new String[][] {
            {"worker", "--gpu", "0"},
            {"worker", "--grace-period", "0"},
            {"worker", "--system-namespaces", "["},
            {"nobody"},
            {"N"}
        }) {
            assertThat(drain(words).end()).as(String.join(" ", words)).isEqualTo(2);
        }
        assertThat(fleet.cordoned("worker")).isFalse();
    }
}
