package dev.gpuwarden.daemon.kube;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.gpuwarden.daemon.kube.MaintenanceGate.Act;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MaintenanceGateTest {

    private static final Act ACT = new Act("gpuresets", "reset-1", "r-uid", 2, "node-1", "n-uid", "locks");
    private static final String NODE = "{'metadata': {'uid': 'n-uid'}, 'spec': {'unschedulable': true}}";
    private static final String LEASE =
            "{'metadata': {'ownerReferences': [{'kind': 'GPUReset', 'name': 'reset-1', 'uid': 'r-uid'}]}}";
    private static final String RESOURCE = "{'metadata': {'uid': 'r-uid', 'generation': 2}, 'status':"
            + " {'conditions': [{'type': 'ServicesTornDown', 'status': 'True'}]}}";

    @TempDir
    Path folder;

    private static Map<?, ?> json(String text) throws IOException {
        return KubeClient.USED.readObject(text.replace('\'', '"'));
    }

    @ParameterizedTest(name = "{0}: {1} -> {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "`` | `` | `` | ``",
                "node | n-uid | other | Node node-1: expected UID n-uid, seen other: it was created again",
                "node | 'unschedulable': true | | Node node-1: expected a cordoned Node, seen one without a cordon",
                "node | * | {} | Node node-1: expected UID n-uid, seen none: it was created again",
                "node | 'uid' | 'labels': {'nvidia.com/gpu-driver-upgrade-state': 'drain-required'}, 'uid' | seen drain-required",
                "node | 'uid' | 'labels': {'nvidia.com/gpu-driver-upgrade-state': 'upgrade-done'}, 'uid' | ``",
                "lease | r-uid | other | its lock to be held by gpuresets/reset-1, seen GPUReset reset-1",
                "lease | * | {} | its lock to be held by gpuresets/reset-1, seen none",
                "lease | {'owner | {'deletionTimestamp': 'x', 'owner | its lock to be held by gpuresets/reset-1",
                "resource | r-uid | other | gpuresets/reset-1: expected UID r-uid, seen other",
                "resource | * | {} | gpuresets/reset-1: expected UID r-uid, seen none",
                "resource | 'generation': 2 | 'generation': 3 | expected the spec of generation 2, seen 3",
                "resource | {'uid' | {'deletionTimestamp': 'x', 'uid' | expected it to stay, seen its deletion",
                "resource | {'conditions | {'completionTime': 'T', 'conditions | seen its end at T",
                "resource | {'uid' | {'finalizers': ['janitor.dgxc.nvidia.com/finalizer'], 'uid' | expected one janitor, seen another: gpuresets/reset-1 has the finalizer",
                "resource | {'uid' | {'managedFields': [{'manager': 'janitor', 'subresource': 'status'}], 'uid' | the status of gpuresets/reset-1 is written by janitor",
                "resource | {'uid' | {'managedFields': [{'manager': 'gpuwarden-janitor', 'subresource': 'status'}], 'uid' | ``",
                "resource | ServicesTornDown | ResetJobCompleted | seen ResetJobCompleted True",
            })
    void eachFactThatChangedWithholdsTheAct(String object, String before, String after, String why) throws Exception {
        List<Map<?, ?>> read = new ArrayList<>();
        for (Map.Entry<String, String> each :
                List.of(Map.entry("node", NODE), Map.entry("lease", LEASE), Map.entry("resource", RESOURCE))) {
            boolean changed = each.getKey().equals(object);
            String now = after == null ? "" : after;
            read.add(json(
                    !changed
                            ? each.getValue()
                            : before.equals("*") ? now : each.getValue().replace(before, now)));
        }
        Optional<String> refusal = MaintenanceGate.refusal(ACT, read.get(0), read.get(1), read.get(2));
        assertThat(refusal.orElse("")).contains(why).matches(why.isEmpty() ? "" : ".+");
    }

    @Test
    void signalThatWasWithdrawnIsNotSent() throws Exception {
        Act reboot = new Act("rebootnodes", "reset-1", "r-uid", 2, "node-1", "n-uid", "locks");
        String withdrawn = RESOURCE.replace(
                "'ServicesTornDown', 'status': 'True'", "'SignalSent', 'status': 'False', 'reason': 'NodeInService'");
        assertThat(MaintenanceGate.refusal(reboot, json(NODE), json(LEASE), json(withdrawn)))
                .hasValue("rebootnodes/reset-1: expected it to be in progress, seen SignalSent False NodeInService");
    }

    /** Serves these objects and errors by path, and asks the gate once. */
    private Optional<String> ask(Map<String, String> objects, Map<String, Integer> errors) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        Map<String, Integer> left = new ConcurrentHashMap<>(errors);
        server.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            Integer error = left.get(path);
            if (error != null && error >= 500) {
                left.remove(path);
            }
            byte[] body = objects.getOrDefault(path, "{}").replace('\'', '"').getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(error != null ? error : objects.containsKey(path) ? 200 : 404, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            return gate(server.getAddress().getPort()).refusal();
        } finally {
            server.stop(0);
        }
    }

    private MaintenanceGate gate(int port) throws IOException {
        KubeAccess access = new KubeAccess(
                URI.create("http://127.0.0.1:" + port),
                Optional.empty(),
                Optional.empty(),
                Optional.of(CredentialSource.of(Files.writeString(folder.resolve("token"), "one"))),
                "the test");
        return new MaintenanceGate(ACT, Optional.of(access), Duration.ofMillis(500));
    }

    @Test
    void actNeedsAllThreeObjectsFromTheApiServer() throws Exception {
        Map<String, String> all = Map.of(
                "/api/v1/nodes/node-1", NODE,
                "/apis/coordination.k8s.io/v1/namespaces/locks/leases/node-1", LEASE,
                "/apis/janitor.dgxc.nvidia.com/v1alpha1/gpuresets/reset-1", RESOURCE);
        assertThat(ask(all, Map.of())).isEmpty();
        for (String path : all.keySet()) {
            assertThat(ask(all, Map.of(path, 403)).orElseThrow())
                    .contains("Node node-1 cannot be read again: the API server answers 403", "remediation-armed");
            Map<String, String> without = new ConcurrentHashMap<>(all);
            without.remove(path);
            assertThat(ask(without, Map.of())).as("no %s", path).isPresent();
        }
        assertThat(ask(all, Map.of("/api/v1/nodes/node-1", 503)))
                .as("it is asked again")
                .isEmpty();
    }

    @Test
    void serverThatCannotBeReachedAndMissingTokenWithholdTheAct() throws Exception {
        int free;
        try (java.net.ServerSocket socket = new java.net.ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        assertThat(gate(free).refusal().orElseThrow()).contains("cannot be asked");
        assertThat(new MaintenanceGate(ACT, Optional.empty(), Duration.ZERO)
                        .refusal()
                        .orElseThrow())
                .contains("expected the token of a ServiceAccount");
    }

    @Test
    void resourceActsOnce() {
        MaintenanceGate gate = new MaintenanceGate(ACT, Optional.empty(), Duration.ZERO);
        Path records = folder.resolve("maintenance");
        assertThat(gate.claim(records)).isEmpty();
        assertThat(gate.claim(records).orElseThrow())
                .contains("gpuresets/reset-1: expected its first act, seen the record of an earlier one");
        assertThat(gate.claim(folder.resolve("maintenance/r-uid/below")).orElseThrow())
                .contains("its act cannot be recorded");
    }
}
