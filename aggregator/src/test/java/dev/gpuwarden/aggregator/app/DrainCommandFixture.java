package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.command.DrainCommand;
import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.NamedCommand;
import dev.gpuwarden.cli.SettingSources;
import dev.gpuwarden.cli.run.ShutdownSignal;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
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
import org.junit.jupiter.api.io.TempDir;

/** `gpuwarden drain` against a real API server, with nodes, pods and their GPUs. */
abstract class DrainCommandFixture {

    static final String GPU = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";
    static final String OTHER = "GPU-07bf6b30-9192-8167-70ae-909c383d543a";
    static final String OWNED = owned("ReplicaSet");
    static final Path DOCS = Path.of(System.getProperty("gpuwarden.repository"), "docs/operating/drain.md");

    @TempDir
    static Path folder;

    static TestFleet fleet;

    final CountDownLatch interrupt = new CountDownLatch(1);
    Path kubeconfig = fleet.plane.adminKubeconfig();

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
    record Running(CompletableFuture<Integer> code, StringWriter out, StringWriter err) {
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

    Running drain(String... words) {
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
    ShutdownSignal stop() {
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

    static String owned(String kind) {
        return ", ownerReferences: [{apiVersion: apps/v1, kind: %s, name: o, uid: o-1, controller: true}]"
                .formatted(kind);
    }

    static TestPods pods(String node) {
        fleet.node(node);
        return new TestPods(fleet, node);
    }

    static void runWithGpu(TestPods pods, String node, String name, String gpu) {
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
    static void budget(String namespace, int allowed) {
        fleet.client.apply("""
                {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: %s},
                spec: {minAvailable: 1, selector: {matchLabels: {app: %s}}}}
                """.formatted(namespace, namespace));
        fleet.client.patch("poddisruptionbudget/" + namespace + "/web/status", """
                {"status": {"observedGeneration": 1, "disruptionsAllowed": %d, "currentHealthy": %d, "desiredHealthy": 1, "expectedPods": 2}}
                """.formatted(allowed, 1 + allowed));
    }

    /** Returns the kubeconfig of a user with the documented rights, without one of the lines. */
    static Path person(String name, String without) {
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
}
