package dev.gpuwarden.benchmarks;

import static dev.gpuwarden.benchmarks.Figures.millis;
import static dev.gpuwarden.benchmarks.Figures.printLine;
import static dev.gpuwarden.benchmarks.Figures.seconds;

import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;

/**
 * Drains many nodes at the same time. Measures requests to the API server for each pod, and the time from a node's last pod
 * until a watch shows it as drained. The shipped aggregator runs behind a counter of requests, which adds a hop to each. The
 * API server is real, with an etcd that does not sync to disk. Nodes and pods are objects alone. This program is their
 * kubelet: it ends a pod as soon as the watch shows a deletion request.
 */
final class DrainLoad implements AutoCloseable {

    private static final int ONE_AT_A_TIME = 40;
    private static final String STATE = "dgxc\\.nvidia\\.com/nvsentinel-state";

    private final PrintStream out;
    private final LoadCluster cluster;
    private final int pods;
    private final NodeHealthClient healths;
    private final List<String> single;
    private final List<String> many;
    private final Map<String, AtomicInteger> left = new ConcurrentHashMap<>();
    /** The times of the deletion of each node's last pod, in nanoseconds of {@link System#nanoTime}. */
    private final Map<String, Long> ended = new ConcurrentHashMap<>();

    private final Map<String, Long> drained = new ConcurrentHashMap<>();
    private final Set<String> ending = ConcurrentHashMap.newKeySet();
    private final ExecutorService kubelets = Executors.newFixedThreadPool(LoadCluster.WRITERS);
    private final List<KubectlWatch> watches;

    private DrainLoad(PrintStream out, LoadCluster cluster, int pods) throws IOException {
        this.out = out;
        this.cluster = cluster;
        this.pods = pods;
        cluster.withoutLeases();
        this.healths = new NodeHealthClient(cluster.api);
        int first = Math.min(ONE_AT_A_TIME, cluster.names.size() / 2);
        this.single = cluster.names.subList(0, first);
        this.many = cluster.names.subList(first, cluster.names.size());
        cluster.names.forEach(node -> left.put(node, new AtomicInteger(pods)));
        this.watches = List.of(
                new KubectlWatch(cluster.plane, "nodes", ":.metadata.name,:.metadata.labels." + STATE, this::node),
                new KubectlWatch(
                        cluster.plane,
                        "pods",
                        ":.metadata.name,:.spec.nodeName,:.metadata.deletionTimestamp",
                        this::pod,
                        "--namespace=load"));
    }

    /** Arguments: program, folder with cert.pem and key.pem, manifests, nodes, pods of each node. */
    @SuppressForbidden("a program of its own: prints its result")
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        Path work = Path.of(args[1]);
        int nodes = Integer.parseInt(args[3]);
        int pods = Integer.parseInt(args[4]);
        try (LoadCluster cluster = new LoadCluster(work.resolve("plane"), Path.of(args[2]), nodes, pods);
                FaultyApi counter = new FaultyApi(cluster.plane)) {
            Path kubeconfig = Files.writeString(
                    work.resolve("aggregator.kubeconfig"),
                    counter.kubeconfig(cluster.plane.token("gpuwarden", "gpuwarden-aggregator")));
            List<String> armed = List.of(
                    "--quarantine.mode=armed",
                    "--drain.mode=armed",
                    "--drain.namespaces=*=Immediate",
                    "--drain.unmanaged",
                    LoadCluster.POOL);
            try (ShippedAggregator aggregator = new ShippedAggregator(
                            args[0], kubeconfig, work, LoadCluster.freePort(), LoadCluster.freePort(), armed);
                    DrainLoad load = new DrainLoad(out, cluster, pods)) {
                aggregator.await("gpuwarden_aggregator_leads", 1, 120);
                load.oneAtATime();
                load.atOnce(counter, aggregator);
            }
        }
    }

    // ---- the cluster ----

    private void node(String... columns) {
        if (columns.length == 2 && columns[1].equals("drain-succeeded")) {
            drained.putIfAbsent(columns[0], System.nanoTime());
        }
    }

    private void pod(String... columns) {
        if (columns.length == 3 && !columns[2].equals("<none>") && ending.add(columns[0])) {
            kubelets.execute(() -> end(columns[0], columns[1]));
        }
    }

    private void end(String pod, String node) {
        try {
            long start = System.nanoTime();
            if (left.get(node).decrementAndGet() == 0) {
                ended.put(node, start);
            }
            cluster.api.delete("/api/v1/namespaces/load/pods/" + pod, Map.of("gracePeriodSeconds", 0));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            throw new IllegalStateException(pod, e);
        }
    }

    // ---- measurements ----

    private void fail(String node) throws Exception {
        healths.report(node, "load", List.of(LoadDaemon.event(node, 1, false)), Instant.now());
    }

    /** The first half of the nodes does not count: the program still compiles itself then. */
    private void oneAtATime() throws Exception {
        for (String node : single) {
            fail(node);
            LoadCluster.until(() -> drained.containsKey(node), 60, node + " is drained");
            TimeUnit.MILLISECONDS.sleep(200);
        }
        latency("one at a time", single.subList(single.size() / 2, single.size()));
    }

    private void latency(String what, List<String> nodes) {
        Histogram micros = new Histogram(600_000_000, 3);
        nodes.forEach(node -> micros.recordValue(Math.max(0, (drained.get(node) - ended.get(node)) / 1000)));
        printLine(
                out,
                "%s, %d nodes: end of the last pod asked for to drain seen %s",
                what,
                nodes.size(),
                millis("p50 %.0f ms, p99 %.0f ms, longest %.0f ms", micros, 50, 99, 100));
    }

    private void atOnce(FaultyApi counter, ShippedAggregator aggregator) throws Exception {
        int nodes = many.size();
        aggregator.await("gpuwarden_aggregator_nodes_queued", 0, 60);
        int before = counter.calls().size();
        long start = System.nanoTime();
        var unused = LoadCluster.parallel(many, node -> {
            fail(node);
            return node;
        });
        LoadCluster.until(() -> cluster.cordoned.keySet().containsAll(many), 600, "all are cordoned");
        double cordons = seconds(start);
        LoadCluster.until(() -> drained.keySet().containsAll(many), 900, "all are drained");
        double all = seconds(start);
        aggregator.await("gpuwarden_aggregator_nodes_queued", 0, 120);
        printLine(
                out,
                "%d nodes of %d pods together: all cordoned after %.1f s, all drained after %.1f s (%.0f pods/s)",
                nodes,
                pods,
                cordons,
                all,
                nodes * pods / all);
        latency("together", many);
        printLine(out, "aggregator: %d MiB resident", aggregator.residentMib());
        requests(counter.calls().subList(before, counter.calls().size()), nodes);
    }

    private void requests(List<ApiCall> calls, int nodes) {
        Map<String, Integer> kinds = new TreeMap<>();
        calls.stream()
                .filter(call -> !call.path().contains("/leases/"))
                .forEach(call -> kinds.merge(kind(call), 1, Integer::sum));
        Map<String, Integer> drain = new HashMap<>(kinds);
        // Subtracts a quarantine's requests: its cordon and an Event. Conditions are separate requests.
        drain.merge("PATCH nodes", -nodes, Integer::sum);
        drain.merge("POST events", -nodes, Integer::sum);
        drain.remove("PATCH nodes/status");
        drain.remove("GET nodehealths");
        drain.keySet().removeIf(kind -> kind.contains("configmaps") || kind.contains("quarantinerulesets"));
        int sum = drain.values().stream().mapToInt(Integer::intValue).sum();
        printLine(out, "requests of the aggregator: %s", kinds);
        printLine(out, "… of the drain alone: %d, %.2f for each pod", sum, sum / (double) (nodes * pods));
    }

    private static String kind(ApiCall call) {
        List<String> parts = new ArrayList<>(List.of(call.path().split("/")));
        String verb = call.isWatch() ? "WATCH" : call.method();
        for (String resource : List.of("nodes", "pods", "events", "nodehealths", "configmaps", "quarantinerulesets")) {
            int at = parts.indexOf(resource);
            if (at >= 0) {
                boolean sub = parts.size() > at + 2;
                return verb + " " + resource + (sub ? "/" + parts.get(parts.size() - 1) : "");
            }
        }
        return verb + " " + call.path();
    }

    @Override
    public void close() throws InterruptedException {
        watches.forEach(KubectlWatch::close);
        kubelets.shutdownNow();
        var unused = kubelets.awaitTermination(2, TimeUnit.SECONDS);
    }
}
