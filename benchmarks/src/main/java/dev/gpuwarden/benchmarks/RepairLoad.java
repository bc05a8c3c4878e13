package dev.gpuwarden.benchmarks;

import static dev.gpuwarden.benchmarks.Figures.printLine;

import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.core.event.RecommendedAction;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/**
 * Repairs many nodes at the same time by reboots of five seconds. Measures the time from the report of a fault until a watch
 * shows the node in service again, less the reboot, and the rate at which RebootNodes are created. A bare client makes the same
 * writes for other nodes in turns with the shipped aggregator. The API server is real, with an etcd that does not sync to disk.
 */
final class RepairLoad implements AutoCloseable {

    private static final Duration OFF = Duration.ofSeconds(5);
    private static final int ROUNDS = 3;
    private static final int WARM_UP = 40;

    private final PrintStream out;
    private final LoadCluster cluster;
    private final ShippedAggregator aggregator;
    private final Map<String, Integer> numbers = new HashMap<>();
    /** The times of each node, in nanoseconds of {@link System#nanoTime}. */
    private final Map<String, Long> failed = new ConcurrentHashMap<>();

    private final Map<String, Long> cordoned = new ConcurrentHashMap<>();
    private final Map<String, Long> created = new ConcurrentHashMap<>();
    private final Map<String, Long> booted = new ConcurrentHashMap<>();
    private final BareRepairs bare;
    private final RebootingNodes machines;
    private final KubectlWatch watch;

    private RepairLoad(PrintStream out, LoadCluster cluster, ShippedAggregator aggregator) throws IOException {
        this.out = out;
        this.cluster = cluster;
        this.aggregator = aggregator;
        IntStream.range(0, cluster.names.size()).forEach(i -> numbers.put(cluster.names.get(i), i));
        this.bare = new BareRepairs(cluster);
        this.machines = new RebootingNodes(cluster, OFF, this::booted);
        this.watch = new KubectlWatch(cluster.plane, "rebootnodes", ":.spec.nodeName", this::resource);
    }

    /**
     * Arguments: program, folder with cert.pem and key.pem, manifests, nodes of each round, and the processors of the API server
     * and of etcd if they have some of their own.
     */
    @SuppressForbidden("a program of its own: prints its result")
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        Path work = Path.of(args[1]);
        Path manifests = Path.of(args[2]);
        int nodes = Integer.parseInt(args[3]);
        int port = LoadCluster.freePort();
        List<String> armed = List.of(
                "--quarantine.mode=armed",
                "--drain.mode=armed",
                "--remediation.mode=armed",
                "--janitor.image=load",
                LoadCluster.POOL);
        try (LoadCluster cluster =
                new LoadCluster(work.resolve("plane"), manifests, 2 * (WARM_UP + ROUNDS * nodes), 0)) {
            for (String file : List.of(
                    "crds/gpuresets.janitor.dgxc.nvidia.com.yaml",
                    "crds/rebootnodes.janitor.dgxc.nvidia.com.yaml",
                    "crds/terminatenodes.janitor.dgxc.nvidia.com.yaml",
                    "components/remediation-armed/rights.yaml",
                    "components/remediation-armed/janitor-rights.yaml")) {
                cluster.plane.apply(Files.readString(manifests.resolve(file)));
            }
            cluster.plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s");
            cluster.withoutLeases();
            if (args.length > 4) {
                ControlPlaneProcessors.move(args[4]);
            }
            try (ShippedAggregator aggregator = new ShippedAggregator(
                            args[0], cluster.aggregatorKubeconfig(), work, port, LoadCluster.freePort(), armed);
                    RepairLoad load = new RepairLoad(out, cluster, aggregator)) {
                aggregator.await("gpuwarden_aggregator_leads", 1, 120);
                cluster.daemons(port, work.resolve("cert.pem"));
                cluster.connect();
                load.rounds(nodes);
            }
        }
    }

    // ---- the cluster ----

    private void resource(String... columns) {
        created.putIfAbsent(columns[0], System.nanoTime());
    }

    private void booted(String node) {
        booted.put(node, System.nanoTime());
        cordoned.put(node, cluster.cordoned.get(node));
        if (!bare.booted(node)) {
            cluster.daemon(numbers.get(node)).heal();
        }
    }

    // ---- measurements ----

    private void rounds(int nodes) throws Exception {
        List<String> names = cluster.names;
        repair(names.subList(0, WARM_UP));
        withoutAggregator(() -> repairBare(names.subList(WARM_UP, 2 * WARM_UP)));
        for (int round = 0; round < ROUNDS; round++) {
            int first = 2 * (WARM_UP + round * nodes);
            measure("aggregator", names.subList(first, first + nodes), this::repair);
            printLine(out, "  aggregator: %d MiB resident", aggregator.residentMib());
            withoutAggregator(
                    () -> measure("bare client", names.subList(first + nodes, first + 2 * nodes), this::repairBare));
        }
    }

    private void withoutAggregator(LoadCluster.Task work) throws Exception {
        aggregator.pause();
        work.run();
        aggregator.resume();
        aggregator.await("gpuwarden_aggregator_leads", 1, 120);
        cluster.connected(120);
        aggregator.await("gpuwarden_aggregator_nodes_queued", 0, 120);
    }

    private interface Round {
        void of(List<String> nodes) throws Exception;
    }

    private void measure(String who, List<String> nodes, Round round) throws Exception {
        ApiRequestCounts before = ApiRequestCounts.of(cluster.plane);
        ProcessorTimes times = ProcessorTimes.now();
        round.of(nodes);
        String processors = ProcessorTimes.now().sinceForEach(times, nodes.size());
        ApiRequestCounts made = ApiRequestCounts.of(cluster.plane).since(before);
        Histogram micros = new Histogram(600_000_000, 3);
        nodes.forEach(node -> micros.recordValue(
                Math.max(0, (cluster.returned.get(node) - failed.get(node) - OFF.toNanos()) / 1000)));
        List<Long> creations = nodes.stream().map(created::get).sorted().toList();
        printLine(
                out,
                "%s, %d nodes: fault to back in service, less the reboot, p50 %.1f s, p90 %.1f s, longest %.1f s; %.1f RebootNodes/s",
                who,
                nodes.size(),
                micros.getValueAtPercentile(50) / 1e6,
                micros.getValueAtPercentile(90) / 1e6,
                micros.getMaxValue() / 1e6,
                (nodes.size() - 1) * 1e9 / (creations.get(nodes.size() - 1) - creations.get(0)));
        printLine(
                out,
                "  median time after the fault: cordon %.1f s, RebootNode %.1f s, end of the reboot %.1f s, in service %.1f s",
                median(nodes, cordoned),
                median(nodes, created),
                median(nodes, booted),
                median(nodes, cluster.returned));
        printLine(out, "  processor time for each node: %s", processors);
        printLine(
                out,
                "  requests of all for each node: %.1f writes, %.1f reads: %s",
                made.writes() / (double) nodes.size(),
                made.reads() / (double) nodes.size(),
                made.counts());
    }

    private double median(List<String> nodes, Map<String, Long> times) {
        return nodes.stream()
                        .mapToLong(node -> times.get(node) - failed.get(node))
                        .sorted()
                        .skip(nodes.size() / 2)
                        .findFirst()
                        .orElseThrow()
                / 1e9;
    }

    private void repair(List<String> nodes) {
        for (String node : nodes) {
            failed.put(node, System.nanoTime());
            cluster.daemon(numbers.get(node)).fail(RecommendedAction.RESTART_BM);
        }
        await(nodes);
    }

    private void repairBare(List<String> nodes) throws Exception {
        nodes.forEach(node -> failed.put(node, System.nanoTime()));
        bare.begin(nodes);
        await(nodes);
    }

    private void await(Collection<String> nodes) {
        LoadCluster.until(() -> cluster.returned.keySet().containsAll(nodes), 600, "all are in service again");
    }

    @Override
    public void close() {
        watch.close();
        machines.close();
        bare.close();
    }
}
