package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.HollowNodes;
import io.fabric8.kubernetes.client.Config;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A real API server with thousands of Nodes that are objects alone, a simulated daemon for each, and a watch that records
 * cordons.
 */
final class LoadCluster implements AutoCloseable {

    static final int WRITERS = 32;

    /** The setting that disables the circuit breaker, since the benchmark measures throughput. */
    static final String POOL = "--breaker.pool=load;nvidia.com/gpu.present=true;rate=100%/5m;level=100%";

    private static final String PODS = "/api/v1/namespaces/gpuwarden/pods";
    private static final String TOKENS = "/api/v1/namespaces/gpuwarden/serviceaccounts/gpuwarden/token";

    final ControlPlane plane;
    final KubeClient api;
    final List<String> names;
    final LoadDaemon.Tally tally = new LoadDaemon.Tally();
    /** The times at which the watch showed a cordon, in nanoseconds. Nodes in service are absent. */
    final Map<String, Long> cordoned = new ConcurrentHashMap<>();
    /** The times at which the watch showed the end of the last cordon, in nanoseconds. */
    final Map<String, Long> returned = new ConcurrentHashMap<>();

    private final List<LoadDaemon> daemons = new ArrayList<>();
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
    private final NioEventLoopGroup loops = new NioEventLoopGroup(2);
    private final KubectlWatch watch;
    private final Path manifests;
    private final HollowNodes objects;

    LoadCluster(Path folder, Path manifests, int nodes, int podsPerNode) throws IOException {
        this.manifests = manifests;
        this.plane = ControlPlane.start(folder);
        for (String manifest : List.of(
                "crds/nodehealths.gpuwarden.dev.yaml",
                "crds/quarantinerulesets.gpuwarden.dev.yaml",
                "node/gpuwarden-node.yaml",
                "gpuwarden-aggregator.yaml",
                "components/quarantine-armed/rights.yaml",
                "components/drain-armed/rights.yaml")) {
            plane.apply(Files.readString(manifests.resolve(manifest)));
        }
        plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s");
        plane.apply(Files.readString(manifests.resolve("quarantine-rules.yaml")));
        Config config = Config.fromKubeconfig(Files.readString(plane.adminKubeconfig()));
        config.setClientKeyAlgo("EC");
        this.api = KubeClient.connect(config);
        this.objects = HollowNodes.create(plane, "load", nodes, podsPerNode);
        this.names = objects.names();
        this.watch = new KubectlWatch(plane, "nodes", ":.metadata.name,:.spec.unschedulable", this::seen);
    }

    private void seen(String... columns) {
        if (columns.length == 2 && columns[1].equals("true")) {
            cordoned.putIfAbsent(columns[0], System.nanoTime());
        } else if (cordoned.remove(columns[0]) != null) {
            returned.put(columns[0], System.nanoTime());
        }
    }

    /**
     * Runs without Leases: no controller here reads them, and those of 10,000 nodes are 500 writes a second on this machine.
     */
    void withoutLeases() {
        objects.abandon();
    }

    /** Returns the Nodes, which can be rebooted. */
    HollowNodes objects() {
        return objects;
    }

    /** Installs the shipped MonitorPolicies and the load's own. */
    void monitorPolicies() throws IOException {
        plane.apply(Files.readString(manifests.resolve("crds/monitorpolicies.gpuwarden.dev.yaml")));
        plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s");
        plane.apply(Files.readString(manifests.resolve("monitor-policies.yaml")));
        plane.apply(ObjectLoad.POLICY);
    }

    /** Returns a kubeconfig with the aggregator's rights. */
    Path aggregatorKubeconfig() throws IOException {
        return plane.kubeconfig(plane.token("gpuwarden", "gpuwarden-aggregator"));
    }

    /** Returns the rule sets in the cluster. */
    RuleEvaluator rules() throws IOException {
        return RuleEvaluator.compile(ShippedRules.read(manifests));
    }

    /** Creates a daemon for each node, with a token of a pod on it. They are not connected yet. */
    void daemons(int port, Path ca) throws Exception {
        SslContext tls = GrpcSslContexts.forClient().trustManager(ca.toFile()).build();
        Executor direct = Runnable::run;
        List<String> tokens = parallel(names, this::token);
        for (int i = 0; i < names.size(); i++) {
            daemons.add(new LoadDaemon(
                    names.get(i),
                    NettyChannelBuilder.forAddress("localhost", port)
                            .sslContext(tls)
                            .eventLoopGroup(loops)
                            .channelType(NioSocketChannel.class)
                            .executor(direct)
                            .build(),
                    tokens.get(i),
                    timer,
                    tally));
        }
    }

    /** Returns a token of a daemon's pod on that node. Creates the pod. */
    String token(String node) throws Exception {
        var unused = api.create(PODS, object("""
                {"metadata": {"name": "daemon-NODE"},
                 "spec": {"nodeName": "NODE", "serviceAccountName": "gpuwarden", "automountServiceAccountToken": false,
                          "containers": [{"name": "daemon", "image": "none"}]}}
                """, node));
        Map<String, Object> answer = api.create(TOKENS, object("""
                {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                 "spec": {"audiences": ["gpuwarden-aggregator"],
                          "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "daemon-NODE"}}}
                """, node));
        return String.valueOf(((Map<?, ?>) answer.getOrDefault("status", Map.of())).get("token"));
    }

    private static Map<String, Object> object(String json, String node) throws IOException {
        return Json.readObject(json.replace("NODE", node));
    }

    /** Connects all daemons at the same time. Returns when all have reported their state. */
    void connect() {
        daemons.forEach(LoadDaemon::connect);
        connected(600);
    }

    /** Waits until all daemons have a stream and have reported their state on it. */
    void connected(long seconds) {
        until(() -> tally.connected.sum() == names.size(), seconds, "all nodes have reported");
    }

    LoadDaemon daemon(int node) {
        return daemons.get(node);
    }

    /** A step of a benchmark. */
    interface Task {
        void run() throws Exception;
    }

    interface Write<T> {
        T on(String node) throws Exception;
    }

    /** Writes nodes in parallel, with the concurrency of a good client. */
    static <T> List<T> parallel(List<String> nodes, Write<T> write) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        try {
            List<Future<T>> futures = new ArrayList<>();
            nodes.forEach(node -> futures.add(threads.submit(() -> write.on(node))));
            List<T> all = new ArrayList<>();
            for (Future<T> future : futures) {
                all.add(future.get());
            }
            return all;
        } finally {
            threads.shutdownNow();
        }
    }

    static void until(BooleanSupplier done, long seconds, String what) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!done.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("not within " + seconds + " s: " + what);
            }
            LockSupport.parkNanos(200_000);
        }
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() {
        daemons.forEach(LoadDaemon::close);
        timer.shutdownNow();
        watch.close();
        api.close();
        objects.abandon();
        plane.close();
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
