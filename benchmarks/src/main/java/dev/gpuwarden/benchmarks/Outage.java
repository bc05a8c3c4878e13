package dev.gpuwarden.benchmarks;

import static dev.gpuwarden.benchmarks.Figures.printLine;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * The API server is unreachable for minutes while nodes fail and recover, and the aggregator is killed in the middle. No
 * fault may be lost, and no decision may use stale data.
 */
record Outage(PrintStream out, LoadCluster cluster, Path work) {

    /** The changes of a sixth of the nodes each, before the outage and during it. */
    private enum Fate {
        WELL(false, 0),
        FAULTY(true, 0),
        RECOVERS(true, 1),
        FAILS(false, 1),
        FAILS_AND_RECOVERS(false, 2),
        RECOVERS_AND_FAILS(true, 2);

        private final boolean before;
        private final int changes;

        Fate(boolean before, int changes) {
            this.before = before;
            this.changes = changes;
        }

        boolean after() {
            return before ^ (changes % 2 == 1);
        }

        static Fate of(int node) {
            return values()[node % values().length];
        }
    }

    private interface Start {
        ShippedAggregator start() throws IOException;
    }

    /** Arguments: program, folder with cert.pem and key.pem, manifests, minutes, nodes. */
    @SuppressForbidden("a program of its own: prints its result")
    public static void main(String[] args) throws Exception {
        Path work = Path.of(args[1]);
        Duration away = Duration.ofSeconds((long) (60 * Double.parseDouble(args[3])));
        int nodes = Integer.parseInt(args[4]);
        try (LoadCluster cluster = new LoadCluster(work.resolve("plane"), Path.of(args[2]), nodes, 0);
                FaultyApi between = new FaultyApi(cluster.plane)) {
            int port = LoadCluster.freePort();
            cluster.daemons(port, work.resolve("cert.pem"));
            Path kubeconfig = work.resolve("kubeconfig");
            Files.writeString(kubeconfig, between.kubeconfig(cluster.plane.token("gpuwarden", "gpuwarden-aggregator")));
            Start start = () -> new ShippedAggregator(
                    args[0],
                    kubeconfig,
                    work,
                    port,
                    LoadCluster.freePort(),
                    List.of("--quarantine.mode=armed", LoadCluster.POOL));
            new Outage(System.out, cluster, work).run(start, between, away);
        }
    }

    private void run(Start start, FaultyApi between, Duration away) throws Exception {
        ShippedAggregator first = start.start();
        Instant gone;
        try {
            first.await("gpuwarden_aggregator_leads", 1, 120);
            cluster.connect();
            change(0);
            settled(fate -> fate.before);
            first.await("gpuwarden_aggregator_nodes_queued", 0, 120);
            between.fail(ApiCall.any(), new ApiFault.CutBefore());
            between.cut();
            gone = Instant.now();
            TimeUnit.MILLISECONDS.sleep(away.toMillis() / 3);
            change(1);
            TimeUnit.MILLISECONDS.sleep(away.toMillis() / 6);
        } finally {
            first.kill();
        }
        try (ShippedAggregator second = start.start()) {
            TimeUnit.MILLISECONDS.sleep(away.toMillis() / 6);
            change(2);
            TimeUnit.MILLISECONDS.sleep(away.toMillis() / 3);
            long decided =
                    decisions(gone).values().stream().mapToLong(List::size).sum();
            require(decided == 0, "nothing is decided while the API server is away, found " + decided);
            Instant back = Instant.now();
            between.heal();
            settled(Fate::after);
            double acted = Duration.between(back, Instant.now()).toMillis() / 1e3;
            cluster.connected(600);
            double connected = Duration.between(back, Instant.now()).toMillis() / 1e3;
            second.await("gpuwarden_aggregator_nodes_queued", 0, 120);
            judge(gone);
            printLine(
                    out,
                    "%d nodes, API server unreachable for %s: all nodes in their expected state %.1f s after it, all reported %.1f s"
                            + " after it; no fault lost, no stale action",
                    cluster.names.size(),
                    away,
                    acted,
                    connected);
        }
    }

    private void change(int number) {
        for (int i = 0; i < cluster.names.size(); i++) {
            Fate fate = Fate.of(i);
            if (number == 0 ? !fate.before : number > fate.changes) {
                continue;
            }
            boolean fails = fate.before ^ (number % 2 == 1);
            if (fails) {
                cluster.daemon(i).fail();
            } else {
                cluster.daemon(i).heal();
            }
        }
    }

    private void settled(Predicate<Fate> out) {
        LoadCluster.until(
                () -> all(i -> cluster.cordoned.containsKey(cluster.names.get(i)) == out.test(Fate.of(i))),
                600,
                "the right nodes are cordoned");
    }

    private boolean all(IntPredicate node) {
        return IntStream.range(0, cluster.names.size()).allMatch(node);
    }

    /** Returns the decisions since a time, by node. */
    private Map<String, List<String>> decisions(Instant from) throws IOException {
        Map<String, List<String>> decisions = new TreeMap<>();
        for (String line : Files.readAllLines(work.resolve("audit.jsonl"))) {
            Map<String, Object> audit = Json.readObject(line);
            if (Instant.parse(JsonTrees.text(audit, "at")).isAfter(from)) {
                decisions
                        .computeIfAbsent(JsonTrees.text(audit, "node"), any -> new ArrayList<>())
                        .add(JsonTrees.text(audit, "decision"));
            }
        }
        return decisions;
    }

    private void judge(Instant gone) throws Exception {
        Map<String, List<String>> decisions = decisions(gone);
        for (int i = 0; i < cluster.names.size(); i++) {
            String node = cluster.names.get(i);
            Fate fate = Fate.of(i);
            Map<String, Object> status = JsonTrees.object(cluster.api.get(NodeHealthClient.ALL.path(node)), "status");
            require(
                    Long.valueOf(fate.after() ? 1 : 0).equals(status.get("fatalCount")),
                    node + ", " + fate + ": found " + status);
            List<String> done = decisions.getOrDefault(node, List.of());
            boolean right = switch (fate) {
                case FAILS -> done.equals(List.of("quarantine"));
                case RECOVERS -> done.equals(List.of("return"));
                // A younger fault holds the node.
                case RECOVERS_AND_FAILS -> done.isEmpty() || done.equals(List.of("change"));
                default -> done.isEmpty();
            };
            require(right, node + ", " + fate + ": decided " + done);
        }
    }

    private static void require(boolean so, String what) {
        if (!so) {
            throw new IllegalStateException("not as expected: " + what);
        }
    }
}
