package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.ingest.NodeHealthWriter.WritePace;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.Relay;
import dev.gpuwarden.testkit.tls.TestKeys;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The parts that tests of aggregators with a real API server share: a node of their own, keys, options, and the clean-up. */
@Tag("api")
@Timeout(600)
abstract class IngestSetup {

    private static final AtomicInteger NODES = new AtomicInteger();

    /** A tenth of the program's: the tests prove its order and its growth. */
    static final WritePace PACE =
            new WritePace(Duration.ofMillis(25), Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofSeconds(3));

    /** Each class has its own. */
    static TestKeys keys;

    final String node = getClass().getSimpleName().toLowerCase(Locale.ROOT) + "-" + NODES.incrementAndGet();
    final IngestOptions options = new IngestOptions();
    /** Closed after the test. */
    final Closer parts = new Closer();

    ControlPlane plane;

    @BeforeAll
    static void makeKeys(@TempDir Path folder) throws Exception {
        keys = new TestKeys(folder);
        var unused = keys.certificate("aggregator");
    }

    @BeforeEach
    void prepare() throws Exception {
        plane = TestCluster.get();
        TestCluster.node(plane, node);
        options.listen = "127.0.0.1:0";
        options.tlsCert = keys.pem("aggregator");
        options.tlsKey = keys.key("aggregator");
    }

    @AfterEach
    void closeAll() {
        parts.close();
    }

    /** Connects with the rights of an aggregator, and no more. */
    KubeClient api() throws Exception {
        return api(Files.readString(TestCluster.aggregatorKubeconfig(plane)));
    }

    /** Connects in the same way through a proxy that can fail. */
    KubeClient api(Relay through) throws Exception {
        return api(Files.readString(TestCluster.aggregatorKubeconfig(plane))
                .replace(plane.url(), "https://127.0.0.1:" + through.port()));
    }

    KubeClient api(String kubeconfig) {
        return parts.add(KubeClient.connect(config(kubeconfig)));
    }

    KubeClient api(String kubeconfig, Duration patience) {
        return parts.add(KubeClient.connect(config(kubeconfig), patience, Clock.systemUTC()));
    }

    private static Config config(String kubeconfig) {
        Config config = Config.fromKubeconfig(kubeconfig);
        config.setWatchReconnectInterval(50);
        return config;
    }

    IngestServer aggregator(KubeClient api, String name) {
        return aggregator(api, name, NodeHealthCache.NONE);
    }

    IngestServer aggregator(KubeClient api, String name, NodeHealthCache memory, NodeMessageKind... further) {
        return parts.add(new IngestServer(options, api, name, memory, List.of(further), PACE).listen());
    }

    TestUplink connect(IngestServer server, String token) throws Exception {
        return new TestUplink(server.address().getPort(), keys, "", token);
    }

    /** Connects as this test's node, and sends Hello. */
    TestUplink connect(IngestServer server) throws Exception {
        return connect(server, TestCluster.token(plane, node)).hello(node);
    }

    String health(String path) {
        return TestCluster.health(plane, node, path);
    }
}
