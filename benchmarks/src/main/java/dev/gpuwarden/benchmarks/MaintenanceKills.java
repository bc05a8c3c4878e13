package dev.gpuwarden.benchmarks;

import static dev.gpuwarden.benchmarks.Figures.printLine;

import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.testkit.cluster.ClusterNode;
import dev.gpuwarden.testkit.cluster.JsonPath;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Kills the aggregators of three real nodes by SIGKILL, at random steps of the resets and reboots that faults lead to. The nodes count
 * the acts. No act may happen twice for one resource, and none on a node in service. At the end no service may be down, no lock left,
 * and every node must be back in service.
 */
final class MaintenanceKills {

    private static final long SETTLE_SECONDS = 600;
    private static final long LOOK_MILLIS = 20;
    private static final List<String> FAULTS = List.of("48", "79");
    /** Nodes that may be under repair at one time, so that a kill meets several steps and pods have a place. */
    private static final int MOST_FAULTY = 2;

    private final PrintStream out;
    private final RepairCluster cluster;
    private final NodeActs acts;
    private final Random chance;
    private final long began = System.nanoTime();
    private final Map<String, Integer> injected = new HashMap<>();
    /** Nodes with a fault that the cluster does not show yet. */
    private final Set<String> unseen = new HashSet<>();

    private final Map<String, Integer> steps = new TreeMap<>();
    private int kills;
    private volatile String lastLook = "";

    private MaintenanceKills(PrintStream out, RepairCluster cluster, long seed) throws IOException {
        this.out = out;
        this.cluster = cluster;
        this.acts = new NodeActs(cluster.nodes(), cluster.api);
        this.chance = new Random(seed);
    }

    /** Arguments: program, an empty folder, manifests, kills, minutes, seed. Exits with 1 if a goal is missed. */
    @SuppressForbidden("a program of its own: prints its result")
    public static void main(String[] args) throws Exception {
        boolean kept;
        Path image = Path.of(args[0]).resolveSibling("..").toAbsolutePath().normalize();
        try (RepairCluster cluster = RepairCluster.start(image, Path.of(args[1]))) {
            kept = new MaintenanceKills(System.out, cluster, Long.parseLong(args[5]))
                    .run(Integer.parseInt(args[3]), Double.parseDouble(args[4]));
        }
        System.exit(kept ? 0 : 1);
    }

    private boolean run(int wanted, double minutes) throws InterruptedException {
        printLine(out, "three nodes with their services, pods and daemons, and two armed aggregators are ready");
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        var unused = timer.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
        List<String> failures = new ArrayList<>();
        try {
            long end = began + (long) (minutes * 60e9);
            while (kills < wanted && System.nanoTime() < end) {
                inject();
                killOne();
            }
            if (kills < wanted) {
                failures.add("expected " + wanted + " kills within " + minutes + " minutes, seen " + kills);
            }
            long settled = System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_SECONDS);
            List<String> open = open();
            while (!open.isEmpty() && System.nanoTime() < settled) {
                TimeUnit.SECONDS.sleep(1);
                open = open();
            }
            failures.addAll(open);
        } finally {
            timer.shutdownNow();
        }
        failures.addAll(NodeActs.wrong(acts.all()));
        if (!lastLook.isEmpty()) {
            failures.add("the nodes could not be read: " + lastLook);
        }
        report(failures);
        return failures.isEmpty();
    }

    private void look() {
        try {
            acts.look();
        } catch (IOException | RuntimeException e) {
            lastLook = e.toString();
        }
    }

    // ---- faults and kills ----

    /** Brings a fault to nodes that are in service, one at a time for each: the next comes when it has been repaired. */
    private void inject() {
        long faulty = 0;
        for (ClusterNode node : cluster.nodes()) {
            boolean fit = missing(node.name()).isEmpty();
            if (!fit) {
                unseen.remove(node.name());
            }
            if (!fit || unseen.contains(node.name())) {
                faulty++;
            } else if (faulty < MOST_FAULTY) {
                faulty++;
                inject(node);
            }
        }
    }

    private void inject(ClusterNode node) {
        unseen.add(node.name());
        int number = injected.merge(node.name(), 1, Integer::sum);
        String xid = FAULTS.get(chance.nextInt(FAULTS.size()));
        node.gpus().set("gpu." + number % 4 + ".xid", xid);
        printLine(out, "%6.1f s  XID %s on %s", Figures.seconds(began), xid, node.name());
    }

    /** Waits for a random moment of a reset or a reboot, and kills the leader, the other replica, or both. */
    private void killOne() throws InterruptedException {
        String before = cluster.leader();
        TimeUnit.MILLISECONDS.sleep(300 + chance.nextInt(4_000));
        List<Map<String, Object>> now = cluster.underWay();
        if (now.isEmpty()) {
            return;
        }
        int which = chance.nextInt(10);
        String leader = before.replaceFirst("_[^_]*$", "");
        List<String> victims = cluster.aggregators().stream()
                .filter(pod -> which == 9 || pod.equals(leader) == (which < 8))
                .toList();
        boolean killed = false;
        for (String victim : victims) {
            killed |= cluster.kill(victim);
        }
        if (!killed) {
            return;
        }
        kills++;
        List<String> met = now.stream().map(MaintenanceKills::step).toList();
        met.forEach(step -> steps.merge(step.split(" ", 2)[1], 1, Integer::sum));
        printLine(
                out,
                "%6.1f s  kill %d, %s: %s",
                Figures.seconds(began),
                kills,
                which < 8 ? "leader" : which == 8 ? "other" : "both",
                met);
        if (which != 8) {
            awaitLeader(before);
        }
    }

    private static String step(Map<String, Object> resource) {
        String[] reasons =
                JsonPath.text(resource, ".status.conditions[*].reason").split(" ", -1);
        return JsonPath.text(resource, ".spec.nodeName") + " " + JsonPath.text(resource, ".kind") + " "
                + reasons[reasons.length - 1];
    }

    /** Waits for another leader, since kills of replicas that do nothing would show nothing; a minute at most. */
    private void awaitLeader(String before) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (System.nanoTime() < end) {
            String now = cluster.leader();
            if (!now.isEmpty() && !now.equals(before)) {
                return;
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }

    // ---- the end ----

    /** Returns what keeps the cluster from its state before the faults. */
    private List<String> open() {
        List<String> open = new ArrayList<>();
        Stream.of("gpuresets", "rebootnodes")
                .flatMap(kind -> cluster.list(kind).stream())
                .filter(each -> JsonPath.text(each, ".status.completionTime").isEmpty())
                .forEach(each -> open.add("not completed: " + step(each)));
        cluster.nodes().forEach(node -> missing(node.name()).forEach(open::add));
        cluster.list("leases/gpuwarden").stream()
                .map(lease -> JsonPath.text(lease, ".metadata.name"))
                .filter(name -> !name.equals("gpuwarden-aggregator"))
                .forEach(name -> open.add("a Lease is left: " + name));
        return open;
    }

    /** Returns what a node lacks to be in service, with its services. */
    private List<String> missing(String name) {
        List<String> missing = new ArrayList<>();
        Map<String, Object> node = cluster.api.get("node/" + name);
        String health = cluster.api.find("nodehealth/" + name, ".status.state");
        String state = JsonPath.text(node, ".metadata.labels.dgxc\\.nvidia\\.com/nvsentinel-state");
        if (JsonPath.text(node, ".spec.unschedulable").equals("true") || !state.isEmpty()) {
            missing.add(name + ": expected it in service, seen it cordoned, state '" + state + "', repair "
                    + JsonPath.text(node, ".metadata.annotations.gpuwarden\\.dev/repair"));
        }
        if (!JsonPath.text(node, ".status.conditions[?(@.type==\"Ready\")].status")
                .equals("True")) {
            missing.add(name + ": expected it Ready");
        }
        if (!health.equals("Healthy")) {
            missing.add(name + ": expected it Healthy, seen " + health + " "
                    + cluster.api.find("nodehealth/" + name, ".status.faults[*].message"));
        }
        String allocatable = JsonPath.text(node, ".status.allocatable.nvidia\\.com/gpu");
        if (!allocatable.equals("4")) {
            missing.add(name + ": expected a device plugin that offers 4 GPUs, seen " + allocatable);
        }
        for (Map.Entry<?, ?> label : ((Map<?, ?>) ((Map<?, ?>) node.get("metadata")).get("labels")).entrySet()) {
            if (label.getKey().toString().startsWith("nvidia.com/gpu.deploy.") && !"true".equals(label.getValue())) {
                missing.add(name + ": expected the service up, seen " + label);
            }
        }
        return missing;
    }

    private void report(List<String> failures) {
        List<NodeActs.Act> all = acts.all();
        printLine(
                out,
                "%d kills in %.0f s with a reset or a reboot under way, at these steps:",
                kills,
                Figures.seconds(began));
        steps.forEach((step, count) -> printLine(out, "  %4d  %s", count, step));
        long reboots = all.stream().filter(NodeActs.Act::isReboot).count();
        printLine(
                out,
                "%d faults; the nodes saw %d resets and %d reboots, for %d resources",
                injected.values().stream().mapToInt(Integer::intValue).sum(),
                all.size() - reboots,
                reboots,
                all.stream().map(NodeActs.Act::resource).distinct().count());
        all.forEach(act -> printLine(out, "  %s", act.text()));
        out.print(cluster.kubectl("get", "gpuresets,rebootnodes,nodehealths"));
        failures.forEach(failure -> printLine(out, "MISSED: %s", failure));
        printLine(out, failures.isEmpty() ? "PASS" : "FAIL: %d goals missed", failures.size());
    }
}
