package dev.gpuwarden.benchmarks;

import static dev.gpuwarden.benchmarks.Figures.millis;
import static dev.gpuwarden.benchmarks.Figures.printLine;
import static dev.gpuwarden.benchmarks.Figures.seconds;

import dev.gpuwarden.core.SuppressForbidden;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Pods that fail and recover at a fixed rate, each on another node than the one before. Measures the time from the API
 * server's answer to a pod's change until a watch shows it in the node's NodeHealth. The shipped aggregator has a policy
 * about these pods beside the shipped ones. The API server is real, with an etcd that does not sync to disk. Nodes and pods
 * have no kubelets.
 */
final class ObjectLoad {

    /** A policy that matches a pod of the load whose status has the reason "Broken". */
    static final String POLICY = """
            apiVersion: gpuwarden.dev/v1alpha1
            kind: MonitorPolicy
            metadata: {name: load, annotations: {gpuwarden.dev/confirm-matches-everything: "1"}}
            spec:
              resource: {group: "", version: v1, kind: Pod}
              predicate:
                expression: >-
                  resource.metadata.namespace == 'load' && has(resource.status.reason) && resource.status.reason == 'Broken'
              nodeAssociation: {expression: resource.spec.nodeName}
              healthEvent: {componentClass: Software, isFatal: false, message: a pod is broken, errorCode: [BROKEN]}
            """;

    private static final int CHANGERS = 16;

    /** The last change of a pod and its time in nanoseconds. */
    private static final class Change {
        private final boolean broken;
        private final long sent = System.nanoTime();
        private volatile long answered = Long.MAX_VALUE;

        Change(boolean broken) {
            this.broken = broken;
        }
    }

    /** Changes that the watch has not shown yet, by node. */
    private final Map<String, Change> open = new ConcurrentHashMap<>();

    private final Histogram fromSent = new ConcurrentHistogram(60_000_000, 3);
    private final Histogram writes = new ConcurrentHistogram(60_000_000, 3);
    private final Histogram fromAnswer = new ConcurrentHistogram(60_000_000, 3);
    private final Set<String> shownBroken = ConcurrentHashMap.newKeySet();

    private ObjectLoad() {}

    /**
     * Arguments: program, folder with cert.pem and key.pem, manifests, nodes, pods of each node, changes a second (several
     * rates one after the other, for example 50,100), seconds, and share. One of that many changes makes a pod fail or
     * recover; the others have no effect.
     */
    @SuppressForbidden("a program of its own: prints its result")
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        Path work = Path.of(args[1]);
        Path manifests = Path.of(args[2]);
        int nodes = Integer.parseInt(args[3]);
        int pods = Integer.parseInt(args[4]);
        long start = System.nanoTime();
        try (LoadCluster cluster = new LoadCluster(work.resolve("plane"), manifests, nodes, pods)) {
            cluster.monitorPolicies();
            cluster.withoutLeases();
            printLine(out, "%d nodes, %d pods are there after %.0f s", nodes, nodes * pods, seconds(start));
            ObjectLoad load = new ObjectLoad();
            Path kubeconfig = cluster.aggregatorKubeconfig();
            start = System.nanoTime();
            try (KubectlWatch watch = new KubectlWatch(
                            cluster.plane,
                            "nodehealths",
                            ":.metadata.name,:.status.monitors[0].faultCount",
                            load::seen);
                    ShippedAggregator aggregator = new ShippedAggregator(
                            args[0],
                            kubeconfig,
                            work,
                            LoadCluster.freePort(),
                            LoadCluster.freePort(),
                            List.of("--quarantine.mode=dry-run", LoadCluster.POOL))) {
                aggregator.await("gpuwarden_aggregator_leads", 1, 120);
                aggregator.await("gpuwarden_aggregator_monitor_policy_ready{policy=\"load\",reason=\"Ready\"}", 1, 600);
                printLine(
                        out,
                        "follows all objects %.1f s after its start, %d MiB resident",
                        seconds(start),
                        aggregator.residentMib());
                load.warmUp(cluster);
                for (String rate : args[5].split(",")) {
                    load.measure(
                            out,
                            cluster,
                            aggregator,
                            Integer.parseInt(rate),
                            Integer.parseInt(args[6]),
                            Integer.parseInt(args[7]),
                            nodes * pods);
                    load.warmUp(cluster);
                }
            }
        }
    }

    private void seen(String... columns) {
        if (columns.length == 2) {
            seen(columns[0], columns[1].equals("1"));
        }
    }

    private void seen(String node, boolean broken) {
        long now = System.nanoTime();
        if (broken ? shownBroken.add(node) : shownBroken.remove(node)) {
            Change change = open.get(node);
            if (change != null && change.broken == broken) {
                open.remove(node, change);
                fromSent.recordValue((now - change.sent) / 1000);
                fromAnswer.recordValue(Math.max(0, now - change.answered) / 1000);
            }
        }
    }

    private void change(LoadCluster cluster, String node, boolean broken) {
        Change change = new Change(broken);
        open.put(node, change);
        patch(cluster, node + "-0", "/status/reason", broken ? "Broken" : "Fine");
        change.answered = System.nanoTime();
        writes.recordValue((change.answered - change.sent) / 1000);
    }

    private static void patch(LoadCluster cluster, String pod, String path, String value) {
        try {
            var unused = cluster.api.patch(
                    "/api/v1/namespaces/load/pods/" + pod + "/status",
                    List.of(Map.of("op", "add", "path", path, "value", value)));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns true if the watch showed the change. A change that the next one overtook is not shown itself. */
    private boolean isReported() {
        open.entrySet().removeIf(entry -> shownBroken.contains(entry.getKey()) == entry.getValue().broken);
        return open.isEmpty();
    }

    private void warmUp(LoadCluster cluster) throws Exception {
        List<String> some = cluster.names.subList(0, Math.min(200, cluster.names.size()));
        for (boolean broken : new boolean[] {true, false}) {
            var unused = LoadCluster.parallel(some, node -> {
                change(cluster, node, broken);
                return node;
            });
            LoadCluster.until(this::isReported, 120, "all changes are reported");
        }
        fromSent.reset();
        fromAnswer.reset();
        writes.reset();
    }

    private void measure(
            PrintStream out,
            LoadCluster cluster,
            ShippedAggregator aggregator,
            int rate,
            int seconds,
            int share,
            int objects)
            throws Exception {
        // One thread makes all changes of a pod in order.
        List<ExecutorService> threads = Stream.generate(Executors::newSingleThreadExecutor)
                .limit(CHANGERS)
                .toList();
        List<String> names = new ArrayList<>(cluster.names);
        double cpu = aggregator.cpuSeconds();
        long start = System.nanoTime();
        int changes = rate * seconds;
        for (int i = 0; i < changes; i++) {
            int turn = i / share;
            int which = (i % share == 0 ? turn : i) % names.size();
            String node = names.get(which);
            boolean broken = turn / names.size() % 2 == 0;
            String text = "change " + i;
            Runnable change = i % share == 0
                    ? () -> change(cluster, node, broken)
                    : () -> patch(cluster, node + "-0", "/status/message", text);
            long due = start + i * TimeUnit.SECONDS.toNanos(1) / rate;
            while (System.nanoTime() < due) {
                LockSupport.parkNanos(due - System.nanoTime());
            }
            threads.get(which % CHANGERS).execute(change);
        }
        double sending = seconds(start);
        for (ExecutorService thread : threads) {
            thread.shutdown();
            if (!thread.awaitTermination(2, TimeUnit.MINUTES)) {
                throw new IllegalStateException("the API server refuses these changes");
            }
        }
        TimeUnit.SECONDS.sleep(1);
        LoadCluster.until(this::isReported, 120, "all changes are reported");
        double took = seconds(start);
        printLine(
                out,
                "%d objects, %d changes at %.0f/s, one of %d breaks or mends a pod: change answered to NodeHealth seen %s;"
                        + " from change sent %s; the change itself %s",
                objects,
                changes,
                changes / sending,
                share,
                millis("p50 %.1f ms, p99 %.1f ms, longest %.1f ms", fromAnswer, 50, 99, 100),
                millis("p50 %.1f ms, p99 %.1f ms", fromSent, 50, 99),
                millis("p50 %.1f ms, p99 %.1f ms", writes, 50, 99));
        printLine(
                out,
                "aggregator: %.2f cores, %d MiB resident, %d changes seen of %d (a change that the next one overtook is seen once)",
                (aggregator.cpuSeconds() - cpu) / took,
                aggregator.residentMib(),
                fromSent.getTotalCount(),
                (changes + share - 1) / share);
    }
}
