package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.cli.run.Parts;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.Relay;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What tests of aggregators before a real API server have in common: a node of their own, keys, options, and the end. */
@Timeout(600)
abstract class IngestSetup {

    private static final AtomicInteger NODES = new AtomicInteger();

    @TempDir
    Path folder;

    final String node = getClass().getSimpleName().toLowerCase(Locale.ROOT) + "-" + NODES.incrementAndGet();
    final IngestOptions options = new IngestOptions();
    /** Closed when the test is over. */
    final Parts parts = new Parts();

    ControlPlane plane;
    TestKeys keys;

    @BeforeEach
    void prepare() throws Exception {
        plane = TestCluster.get();
        TestCluster.node(plane, node);
        keys = new TestKeys(folder);
        options.listen = "127.0.0.1:0";
        options.tlsCert = keys.certificate("aggregator");
        options.tlsKey = keys.key("aggregator");
    }

    @AfterEach
    void closeAll() {
        parts.close();
    }

    /** With the rights of an aggregator, and no more. */
    ClusterApi api() throws Exception {
        return api(Files.readString(TestCluster.aggregatorKubeconfig(plane)));
    }

    /** The same through somebody who can be away. */
    ClusterApi api(Relay through) throws Exception {
        return api(Files.readString(TestCluster.aggregatorKubeconfig(plane))
                .replace(plane.url(), "https://127.0.0.1:" + through.port()));
    }

    ClusterApi api(String kubeconfig) {
        return parts.add(ClusterApi.connect(Config.fromKubeconfig(kubeconfig)));
    }

    IngestServer aggregator(ClusterApi api, String name) {
        return parts.add(IngestServer.of(options, api, name).listen());
    }

    TestNode connect(IngestServer server, String token) throws Exception {
        return new TestNode(server.address().getPort(), keys, "", token);
    }

    /** As this test's node does, which has said hello. */
    TestNode connect(IngestServer server) throws Exception {
        return connect(server, TestCluster.token(plane, node)).hello(node);
    }

    String health(String path) {
        return TestCluster.health(plane, node, path);
    }
}
