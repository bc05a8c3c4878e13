package dev.gpuwarden.benchmarks;

import static dev.gpuwarden.benchmarks.Figures.millis;
import static dev.gpuwarden.benchmarks.Figures.printLine;
import static dev.gpuwarden.benchmarks.Figures.seconds;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth.ReportedState;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.NoSuchNode;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.Superseded;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.aggregator.nodestatus.ConditionReconciler;
import dev.gpuwarden.aggregator.nodestatus.NodeEventRecorder;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.node.ReportedGpus;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Faults of nodes until their cordons: one node at a time, many together, and after a restart, with a bare client for
 * comparison, which makes the same writes and decides nothing. The aggregator is the shipped one. The API server is real,
 * with an etcd that does not sync to disk. Nodes have no kubelets, but TLS and a token each.
 */
record QuarantineLoad(PrintStream out, LoadCluster cluster, int burst) {

    private static final int ONE_AT_A_TIME = 200;
    /** The first has the warm-up of the aggregator's burst. The others show what further warm-up gives. */
    private static final int BARE_BURSTS = 3;

    /** Arguments: program, folder with cert.pem and key.pem, manifests, nodes, pods of each node, nodes that fail together. */
    @SuppressForbidden("a program of its own: prints its result")
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        Path work = Path.of(args[1]);
        int nodes = Integer.parseInt(args[3]);
        int pods = Integer.parseInt(args[4]);
        int burst = Integer.parseInt(args[5]);
        long start = System.nanoTime();
        try (LoadCluster cluster = new LoadCluster(work.resolve("plane"), Path.of(args[2]), nodes, pods)) {
            Path kubeconfig = cluster.aggregatorKubeconfig();
            int port = LoadCluster.freePort();
            int web = LoadCluster.freePort();
            List<String> armed = List.of("--quarantine.mode=armed", LoadCluster.POOL);
            cluster.daemons(port, work.resolve("cert.pem"));
            printLine(out, "%d nodes, %d pods are there after %.0f s", nodes, nodes * pods, seconds(start));
            QuarantineLoad load = new QuarantineLoad(out, cluster, burst);
            load.bare();
            ShippedAggregator first = new ShippedAggregator(args[0], kubeconfig, work, port, web, armed);
            try {
                first.await("gpuwarden_aggregator_leads", 1, 120);
                load.connect();
                load.oneAtATime();
                load.atOnce(first);
                printLine(out, "aggregator: %d MiB resident", first.residentMib());
            } finally {
                first.kill();
            }
            load.restart(new ShippedAggregator(args[0], kubeconfig, work, port, web, armed));
        }
    }

    private void connect() {
        long start = System.nanoTime();
        cluster.connect();
        printLine(
                out, "all connected and reported after %.1f s; streams ended: %s", seconds(start), cluster.tally.ended);
    }

    private void oneAtATime() throws InterruptedException {
        Histogram micros = new Histogram(60_000_000, 3);
        int most = Math.min(ONE_AT_A_TIME, cluster.names.size());
        for (int round = 0; round < 2; round++) {
            micros.reset();
            for (int i = 0; i < most; i++) {
                String node = cluster.names.get(i);
                long start = System.nanoTime();
                cluster.daemon(i).fail();
                LoadCluster.until(() -> cluster.cordoned.containsKey(node), 60, node + " is cordoned");
                micros.recordValue((cluster.cordoned.get(node) - start) / 1000);
                TimeUnit.MILLISECONDS.sleep(50);
            }
            healed(most);
        }
        printLine(
                out,
                "one at a time, %d: fault sent to cordon seen %s",
                most,
                millis("p50 %.1f ms, p99 %.1f ms, longest %.1f ms", micros, 50, 99, 100));
    }

    private void healed(int most) {
        for (int i = 0; i < most; i++) {
            cluster.daemon(i).heal();
        }
        LoadCluster.until(cluster.cordoned::isEmpty, 120, "all returned");
    }

    private void atOnce(ShippedAggregator aggregator) throws InterruptedException {
        aggregator.await("gpuwarden_aggregator_nodes_queued", 0, 60);
        long start = System.nanoTime();
        for (int i = 0; i < burst; i++) {
            cluster.daemon(i).fail();
        }
        LoadCluster.until(() -> cluster.cordoned.size() == burst, 300, "all are cordoned");
        double cordons = seconds(start);
        aggregator.await("gpuwarden_aggregator_nodes_queued", 0, 120);
        double all = seconds(start);
        printLine(
                out,
                "%d together: last cordon after %.2f s (%.0f cordons/s); with conditions and Events %.2f s: %.0f writes/s",
                burst,
                cordons,
                burst / cordons,
                all,
                4 * burst / all);
        start = System.nanoTime();
        healed(burst);
        printLine(out, "%d returned together: %.2f s", burst, seconds(start));
        aggregator.await("gpuwarden_aggregator_nodes_queued", 0, 60);
    }

    /** Measures single nodes after one round of them, and a burst after two rounds, as of the aggregator. */
    private void bare() throws Exception {
        List<String> nodes = cluster.names.subList(0, burst);
        List<String> single = nodes.subList(0, Math.min(ONE_AT_A_TIME, nodes.size()));
        BareClient client = new BareClient(cluster.api, cluster.rules());
        var unused = bareOneAtATime(client, single);
        Histogram micros = bareOneAtATime(client, single);
        printLine(
                out,
                "a bare client, NodeHealth and cordon one after the other: %s",
                millis("p50 %.1f ms, p99 %.1f ms", micros, 50, 99));
        for (int round = 1; round <= BARE_BURSTS; round++) {
            double all = bareBurst(client, nodes);
            printLine(
                    out,
                    "a bare client, %d writers, burst %d of %d: %.2f s, %.0f writes/s",
                    LoadCluster.WRITERS,
                    round,
                    BARE_BURSTS,
                    all,
                    4 * burst / all);
        }
    }

    /** Makes all writes of all nodes and undoes them. Returns the seconds of the former. */
    private double bareBurst(BareClient client, List<String> nodes) throws Exception {
        var unused = LoadCluster.parallel(nodes, client::fails);
        long start = System.nanoTime();
        var unusedToo = LoadCluster.parallel(nodes, client::writes);
        double all = seconds(start);
        unusedToo = LoadCluster.parallel(nodes, client::undo);
        LoadCluster.until(cluster.cordoned::isEmpty, 120, "all is undone");
        return all;
    }

    /** Writes NodeHealth and Node, one after the other, until the watch shows it. No program can be faster. */
    private Histogram bareOneAtATime(BareClient client, List<String> nodes) throws Exception {
        Histogram micros = new Histogram(60_000_000, 3);
        for (String node : nodes) {
            var unused = client.fails(node);
            TimeUnit.MILLISECONDS.sleep(50);
            long start = System.nanoTime();
            var unusedToo = client.cordon(node);
            LoadCluster.until(() -> cluster.cordoned.containsKey(node), 60, node + " is cordoned");
            micros.recordValue((cluster.cordoned.get(node) - start) / 1000);
        }
        var unused = LoadCluster.parallel(nodes, client::undo);
        LoadCluster.until(cluster.cordoned::isEmpty, 120, "all is undone");
        return micros;
    }

    /** Starts the next replica after a kill. The Lease of the last one must expire first. */
    private void restart(ShippedAggregator next) throws Exception {
        long start = System.nanoTime();
        try (next) {
            int node = cluster.names.size() - 1;
            String name = cluster.names.get(node);
            cluster.cordoned.remove(name);
            cluster.daemon(node).fail();
            next.await("gpuwarden_aggregator_leads", 1, 120);
            double leads = seconds(start);
            LoadCluster.until(() -> cluster.cordoned.containsKey(name), 120, "the next faulty node is cordoned");
            double cordons = seconds(start);
            cluster.connected(600);
            printLine(
                    out,
                    "killed and restarted: leads after %.1f s, cordons after %.1f s, all %d nodes are back after %.1f s;"
                            + " streams ended: %s; %d MiB resident",
                    leads,
                    cordons,
                    cluster.names.size(),
                    seconds(start),
                    cluster.tally.ended,
                    next.residentMib());
        }
    }

    /**
     * A client that makes the four writes of a faulty node with the aggregator's own bodies, all prepared before. No program can
     * be faster. Thread-safe for different nodes.
     */
    static final class BareClient {

        /** The prepared bodies for a node. */
        private record Prepared(CachedNode node, StoredHealth held, ReportedState state, Decision.Act act) {}

        private final KubeClient api;
        private final RuleEvaluator rules;
        private final NodeHealthClient healths;
        private final ConditionReconciler conditions;
        private final NodeEventRecorder recorder;
        private final Map<String, Prepared> prepared = new ConcurrentHashMap<>();

        BareClient(KubeClient api, RuleEvaluator rules) {
            this.api = api;
            this.rules = rules;
            this.healths = new NodeHealthClient(api);
            this.conditions = new ConditionReconciler(api, Clock.systemUTC());
            this.recorder = new NodeEventRecorder(api);
        }

        /** Prepares the writes of a node with a fault. Writes nothing. */
        StoredHealth fails(String node) throws ApiException, NoSuchNode, InterruptedException {
            FaultTable faults = new FaultTable();
            var unused = faults.apply(LoadDaemon.event(node, 1, false), 1, Instant.now());
            return prepare(node, faults.faults());
        }

        private StoredHealth prepare(String node, List<Fault> faults)
                throws ApiException, NoSuchNode, InterruptedException {
            Instant now = Instant.now();
            StoredHealth held = healths.read(node);
            CachedNode there = CachedNode.of(api.get(NodeCache.NODES.path(node)));
            FaultReport report =
                    new FaultReport(node, there.uid(), FaultReport.Standing.TRUSTED, "", faults, Set.of(), 0);
            BreakerPolicy.Answer yes = new BreakerPolicy.Answer(true, "", BreakerState.NEW);
            Decision decision = QuarantineDecider.decide(there, report, rules, any -> yes, ActionMode.ARMED, now);
            if (!(decision instanceof Decision.Act act)) {
                throw new IllegalStateException(node + ": expected something to do, found " + decision);
            }
            StreamEpoch claim = StreamEpoch.next(held.claim(), now, "bare");
            ReportedState state =
                    new ReportedState(node, "boot", "load", now, claim, 1, 1, 0, faults, ReportedGpus.NONE);
            prepared.put(node, new Prepared(there, held, state, act));
            return held;
        }

        private Prepared prepared(String node) {
            Prepared of = prepared.get(node);
            if (of == null) {
                throw new IllegalStateException(node + " is not prepared");
            }
            return of;
        }

        /** Writes the NodeHealth, then the Node. */
        Map<String, Object> cordon(String node) throws ApiException, NoSuchNode, Superseded, InterruptedException {
            Prepared of = prepared(node);
            var unused = healths.write(of.state(), of.held());
            return api.patch(NodeCache.NODES.path(node), of.act().patch());
        }

        /** Makes all four writes. */
        String writes(String node) throws ApiException, NoSuchNode, Superseded, InterruptedException {
            Prepared of = prepared(node);
            var unused = cordon(node);
            conditions.settle(of.node(), of.state().faults(), true);
            Instant now = Instant.now();
            recorder.write(
                    node,
                    List.of(new EventObject(
                            EventObject.name(node, System.nanoTime()),
                            "Warning",
                            "Quarantined",
                            of.act().reason(),
                            1,
                            false,
                            now,
                            now)));
            return node;
        }

        /** Restores the node, apart from the annotations that stay after a quarantine. */
        String undo(String node) throws ApiException, NoSuchNode, Superseded, InterruptedException {
            var unused = prepare(node, List.of());
            var unusedToo = writes(node);
            api.delete(NodeHealthClient.ALL.path(node));
            return node;
        }
    }
}
