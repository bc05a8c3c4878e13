package dev.gpuwarden.benchmarks;

import static dev.gpuwarden.benchmarks.Figures.printLine;

import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.benchmarks.Attackers.AttackTargets;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Runs one shipped daemon and one shipped aggregator under all attacks together, while real faults arrive. No fault may be lost or later
 * than two seconds, no {@link WrongActs act} wrong. Memory must stay level and below the containers' limits. No program may end.
 */
final class AttackSoak {

    /** The node under attack, the attackers' own, one that asks for evictions, seven stolen ones, one with a poser. */
    private static final int NODES = 11;

    private static final int PODS_PER_NODE = 10;
    private static final int QUIET_SECONDS = 10;
    private static final int SETTLE_SECONDS = 30;
    private static final int CHANGES_APART_SECONDS = 3;
    private static final int LOOKS_APART_SECONDS = 5;
    private static final int LOG_LINES = 20;
    /**
     * The shortest run that shows whether memory is level, in minutes: in shorter ones Java's heap still grows to its final
     * size.
     */
    private static final int LEVEL_MINUTES = 5;

    /** The metrics that the report shows besides the refusals. */
    private static final Pattern SHOWN = Pattern.compile("gpuwarden_(\\w*refused\\w*|\\w*left_out\\w*|\\w*dropped\\w*"
            + "|kernel_log_(gaps|lost_records|collapsed_signals|suppressed_signals|unstored_events)_total"
            + "|store_(receipts_total|receiver_waiting_events|held_events|deleted_events_total)"
            + "|aggregator_(streams_ended_total|monitor_policy_ready|rule_set_ready|write_failures_total|leads"
            + "|monitor_errors_total))(\\{.*)?");

    private final PrintStream out;
    private final WrongActs acts;
    private final ShippedDaemon daemon;
    private final ShippedAggregator aggregator;
    private final ArrivingFaults faults;
    private final Canary canary;
    private final List<Probing> probes;
    private final MemoryLooks daemonMemory;
    private final MemoryLooks aggregatorMemory;
    private final List<String> failures = new ArrayList<>();
    private int scrapesMissed;
    private volatile List<String> lastReport = List.of();
    private volatile Exception broken;

    private AttackSoak(
            PrintStream out,
            WrongActs acts,
            ShippedDaemon daemon,
            ShippedAggregator aggregator,
            ArrivingFaults faults,
            Canary canary,
            List<Probing> probes,
            MemoryLooks daemonMemory,
            MemoryLooks aggregatorMemory) {
        this.out = out;
        this.acts = acts;
        this.daemon = daemon;
        this.aggregator = aggregator;
        this.faults = faults;
        this.canary = canary;
        this.probes = probes;
        this.daemonMemory = daemonMemory;
        this.aggregatorMemory = aggregatorMemory;
    }

    /**
     * Arguments: program, folder with cert.pem and key.pem, manifests, minutes, attackers' niceness. Exits with 1 if a goal
     * is missed.
     */
    @SuppressForbidden("a program of its own: prints its result")
    public static void main(String[] args) throws Exception {
        Path work = Path.of(args[1]);
        Path manifests = Path.of(args[2]);
        double minutes = Double.parseDouble(args[3]);
        boolean kept;
        try (LoadCluster cluster = new LoadCluster(work.resolve("plane"), manifests, NODES, PODS_PER_NODE);
                SimulatedNode simulated = SimulatedNode.start("h100x8")) {
            cluster.monitorPolicies();
            WrongActs.rights(cluster, manifests);
            String node = cluster.names.get(0);
            int ingest = LoadCluster.freePort();
            int pages = LoadCluster.freePort();
            int daemonProbes = LoadCluster.freePort();
            int aggregatorProbes = LoadCluster.freePort();
            String account = cluster.plane.token("gpuwarden", "gpuwarden-aggregator");
            Path token = Files.writeString(work.resolve("token"), cluster.token(node));
            Path events = simulated.root().resolve("events.sock");
            Path ca = work.resolve("cert.pem");
            Path stage = work.resolve("stage");
            try (ShippedAggregator aggregator = new ShippedAggregator(
                            args[0],
                            cluster.plane.kubeconfig(account),
                            work,
                            ingest,
                            pages,
                            List.of(
                                    "--web.probe-address=127.0.0.1:" + aggregatorProbes,
                                    "--quarantine.mode=armed",
                                    "--vram.evictions=armed",
                                    "--vram.capacity=on",
                                    LoadCluster.POOL));
                    ShippedDaemon daemon = ShippedDaemon.start(
                            simulated,
                            List.of(
                                    "--node.name=" + node,
                                    "--web.probe-address=127.0.0.1:" + daemonProbes,
                                    "--events.socket=" + events,
                                    "--uplink.address=localhost:" + ingest,
                                    "--uplink.tls-ca=" + ca,
                                    "--uplink.token-file=" + token));
                    WrongActs acts = WrongActs.start(stage, cluster, ingest, ca)) {
                aggregator.await("gpuwarden_aggregator_leads", 1, 120);
                aggregator.await("gpuwarden_aggregator_nodes_connected", 2, 120);
                aggregator.await("gpuwarden_aggregator_monitor_policy_ready{policy=\"load\",reason=\"Ready\"}", 1, 120);
                AttackTargets targets = new AttackTargets(
                        AttackTargets.address(daemon.url()),
                        events,
                        daemon.socket(),
                        AttackTargets.address("http://127.0.0.1:" + pages),
                        ingest,
                        ca,
                        node,
                        cluster.names.get(1),
                        cluster.token(cluster.names.get(1)),
                        account,
                        cluster.plane.adminKubeconfig(),
                        stage);
                AttackSoak soak = new AttackSoak(
                        System.out,
                        acts,
                        daemon,
                        aggregator,
                        new ArrivingFaults(simulated, daemon, node),
                        new Canary(cluster.api, node),
                        Stream.of("/healthz", "/readyz")
                                .flatMap(path -> Stream.of(
                                        new Probing("daemon", daemonProbes, path),
                                        new Probing("aggregator", aggregatorProbes, path)))
                                .toList(),
                        new MemoryLooks("daemon", manifests.resolve("gpuwarden-daemon.yaml")),
                        new MemoryLooks("aggregator", manifests.resolve("gpuwarden-aggregator.yaml")));
                try (ResourceInformer unused = cluster.api.informer(NodeHealthClient.ALL, soak.faults);
                        ResourceInformer unusedToo = cluster.api.informer(NodeHealthClient.ALL, soak.canary)) {
                    kept = soak.run(targets, work, minutes, Integer.parseInt(args[4]));
                }
                printLine(System.out, "the node is quarantined: %s", cluster.cordoned.containsKey(node));
                kept &= cluster.cordoned.containsKey(node);
                if (!kept) {
                    tail("daemon", daemon.log());
                    tail("attackers", Files.readString(work.resolve("attackers.log")));
                }
            }
        }
        System.exit(kept ? 0 : 1);
    }

    private boolean run(AttackTargets targets, Path work, double minutes, int nice) throws Exception {
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(8 + probes.size());
        repeat(timer, 1000 / ArrivingFaults.WRITES_PER_SECOND, faults::write);
        repeat(timer, CHANGES_APART_SECONDS * 1000, canary::change);
        probes.forEach(probe -> repeat(timer, 1000, probe::ask));
        TimeUnit.SECONDS.sleep(QUIET_SECONDS);
        printLine(out, "before the attack, which shows how busy the machine is without it:");
        faults.sightings().forEach(one -> printLine(out, "%s", one.line()));
        Process attackers = attack(targets, work, nice);
        Thread reader = new Thread(() -> listen(attackers), "attackers");
        reader.start();
        acts.begin();
        double began = System.nanoTime() / 1e9;
        double daemonCores = -daemon.cpuSeconds();
        double aggregatorCores = -aggregator.cpuSeconds();
        long until = System.nanoTime() + (long) (minutes * 60e9);
        Map<String, String> seen = new LinkedHashMap<>();
        while (System.nanoTime() < until && broken == null && alive(attackers)) {
            TimeUnit.SECONDS.sleep(LOOKS_APART_SECONDS);
            look(seen);
        }
        timer.shutdown();
        var unused = timer.awaitTermination(SETTLE_SECONDS, TimeUnit.SECONDS);
        long settled = System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_SECONDS);
        while (System.nanoTime() < settled
                && !(faults.allSeen() && canary.changes().missing() == 0)) {
            TimeUnit.MILLISECONDS.sleep(100);
        }
        double seconds = System.nanoTime() / 1e9 - began;
        if (daemon.isAlive() && aggregator.isAlive()) {
            daemonCores = (daemonCores + daemon.cpuSeconds()) / seconds;
            aggregatorCores = (aggregatorCores + aggregator.cpuSeconds()) / seconds;
        }
        boolean attacked = attackers.isAlive();
        attackers.getOutputStream().close();
        if (!attackers.waitFor(5, TimeUnit.SECONDS)) {
            attackers.destroyForcibly();
        }
        String load = Files.readString(Path.of("/proc/loadavg")).trim();
        String line = "%.1f minutes, load %s; daemon %.2f cores, aggregator %.2f";
        printLine(out, line, minutes, load, daemonCores, aggregatorCores);
        judge(minutes, attacked);
        failures.addAll(acts.judge(out));
        printLine(out, "the attackers:");
        reader.join(TimeUnit.SECONDS.toMillis(10));
        lastReport.forEach(out::println);
        printLine(out, "the programs, last seen:");
        seen.forEach((name, value) -> out.println("  " + name + " " + value));
        faults.close();
        failures.forEach(failure -> printLine(out, "MISSED: %s", failure));
        return failures.isEmpty();
    }

    /** Reads the attackers' reports and keeps the last one. */
    private void listen(Process attackers) {
        List<String> report = new ArrayList<>();
        attackers.inputReader().lines().forEach(line -> {
            if (line.isEmpty()) {
                lastReport = List.copyOf(report);
                report.clear();
            } else {
                report.add(line);
            }
        });
    }

    private boolean alive(Process attackers) {
        return daemon.isAlive() && aggregator.isAlive() && attackers.isAlive();
    }

    private static Process attack(AttackTargets targets, Path work, int nice) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                "nice",
                "-n",
                Integer.toString(nice),
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Attackers.class.getName()));
        command.addAll(targets.arguments());
        return new ProcessBuilder(command)
                .redirectError(work.resolve("attackers.log").toFile())
                .start();
    }

    @SuppressForbidden("a program of its own: prints why it failed")
    private static void tail(String program, String log) {
        List<String> lines = log.lines().toList();
        System.err.println("the last lines of the " + program + ":");
        lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()).forEach(System.err::println);
    }

    /** Repeats a task at a fixed rate, regardless of the duration of the run before. */
    private void repeat(ScheduledExecutorService timer, int millis, LoadCluster.Task task) {
        var unused = timer.scheduleAtFixedRate(
                () -> {
                    try {
                        task.run();
                    } catch (Exception e) {
                        broken = e;
                        throw new IllegalStateException(e);
                    }
                },
                millis,
                millis,
                TimeUnit.MILLISECONDS);
    }

    private void look(Map<String, String> seen) throws IOException {
        if (!daemon.isAlive() || !aggregator.isAlive()) {
            return;
        }
        daemonMemory.look(daemon.residentMib());
        aggregatorMemory.look(aggregator.residentMib());
        for (ShippedProgram program : List.of(daemon, aggregator)) {
            Optional<String> text = program.get("/metrics");
            scrapesMissed += text.isPresent() ? 0 : 1;
            text.orElse("").lines().filter(line -> !line.startsWith("#")).forEach(line -> {
                int value = line.lastIndexOf(' ');
                if (SHOWN.matcher(line.substring(0, value)).matches()
                        && (!line.endsWith(" 0.0") || line.contains("_ready{"))) {
                    seen.put(line.substring(0, value), line.substring(value + 1));
                }
            });
        }
    }

    private void judge(double minutes, boolean attacked) {
        require(broken == null, "the measurement itself goes on to the end: " + broken);
        require(daemon.isAlive(), "the daemon lives");
        require(aggregator.isAlive(), "the aggregator lives");
        require(attacked, "the attackers go on to the end; attackers.log has the cause");
        List<Sightings> sightings = new ArrayList<>(faults.sightings());
        sightings.add(canary.changes());
        probes.forEach(probe -> sightings.add(probe.answers()));
        for (Sightings one : sightings) {
            printLine(out, "%s", one.line());
            require(one.missing() == 0, one.what() + ": expected none lost, found " + one.missing());
            require(one.late() == 0, one.what() + ": expected none later than 2 s, found " + one.late());
        }
        for (Probing probe : probes) {
            require(probe.failed() == 0, probe.answers().what() + ": expected no failure, found " + probe.failed());
        }
        printLine(
                out,
                "watches that the daemon ended: %d; scrapes without an answer: %d; changes that the API server did not take: %d;"
                        + " programs that ended: %d",
                faults.watchesLost(),
                scrapesMissed,
                canary.unanswered(),
                (daemon.isAlive() ? 0 : 1) + (aggregator.isAlive() ? 0 : 1));
        for (MemoryLooks memory : List.of(daemonMemory, aggregatorMemory)) {
            printLine(out, "%s", memory.line());
            require(memory.isBelowLimit(), "memory stays below the container's limit: " + memory.line());
            require(minutes < LEVEL_MINUTES || memory.isLevel(), "memory is level: " + memory.line());
        }
    }

    private void require(boolean so, String goal) {
        if (!so) {
            failures.add(goal);
        }
    }
}
