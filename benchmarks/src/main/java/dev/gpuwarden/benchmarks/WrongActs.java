package dev.gpuwarden.benchmarks;

import static dev.gpuwarden.benchmarks.Figures.printLine;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.VramAnswer;
import dev.gpuwarden.testkit.cluster.ApiClient;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The attacks that aim at a wrong act: on two armed servers without a cluster, and on the pods of the cluster. Each pod that ends, each
 * call that a server's programs get, each honest fault that ends, and each fault of a paused daemon is wrong. Then a real fault shows
 * that the server acts at all.
 */
final class WrongActs implements AutoCloseable {

    private static final String NAMESPACE = "load";
    private static final String PRIZE = "prize";
    /** A real fault of GPU 1 that is a task of an operator, and one of GPU 0 that asks for a reset. */
    private static final int HONEST_XID = 3;

    private static final int CONTROL_XID = 48;
    private static final String HUNG = "gpu-hung";
    private static final int PAUSE_SECONDS = 20;
    private static final int CLAIM_SECONDS = 15;
    private static final int CONTROL_SECONDS = 90;
    private static final String POD = """
            {apiVersion: v1, kind: Pod, metadata: {name: NAME, namespace: load}, spec: {nodeName: NODE, automountServiceAccountToken: false,
            containers: [{name: main, image: none, resources: {limits: {RESOURCE: "4000"}}}]}}
            """;
    private static final String RUNNING =
            "{\"status\": {\"phase\": \"Running\", \"startTime\": \"2026-01-01T00:00:00Z\","
                    + " \"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}}";

    private final LoadCluster cluster;
    private final ApiClient api;
    private final ArmedServer server;
    private final Optional<ArmedServer> logServer;
    private final String logRefusal;
    private final Path log;
    private final Process nobody;
    private final PosedPod posed;
    private final ManagedChannel channel;
    private final VramNode honest;
    private final Sightings claims = new Sightings("honest request to end a pod over its budget, to the consent");
    private final Map<String, Long> claimed = new ConcurrentHashMap<>();
    private final List<String> refusals = new ArrayList<>();
    private final Set<String> wrong = new LinkedHashSet<>();
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(6);
    private boolean honestSeen;
    private int looks;
    private int pauses;
    private long lines;
    private long number;

    private WrongActs(
            LoadCluster cluster,
            ArmedServer server,
            Optional<ArmedServer> logServer,
            String logRefusal,
            Path log,
            Process nobody,
            PosedPod posed,
            ManagedChannel channel)
            throws Exception {
        this.cluster = cluster;
        this.api = cluster.plane.client();
        this.server = server;
        this.logServer = logServer;
        this.logRefusal = logRefusal;
        this.log = log;
        this.nobody = nobody;
        this.posed = posed;
        this.channel = channel;
        this.honest = new VramNode(channel, node(cluster), cluster.token(node(cluster)), this::answered);
    }

    /** The node of the honest requests. The first node is under attack, the second is the attackers'. */
    private static String node(LoadCluster cluster) {
        return cluster.names.get(2);
    }

    /** Gives the aggregator its rights for VRAM budgets. */
    static void rights(LoadCluster cluster, Path manifests) throws IOException {
        for (String part : List.of("vram-armed", "vram-advertise")) {
            cluster.plane.apply(Files.readString(manifests.resolve("components/" + part + "/rights.yaml")));
        }
    }

    /** Returns the nodes whose tokens are stolen. The last node has the card with the poser. */
    private static List<String> stolen(LoadCluster cluster) {
        return cluster.names.subList(3, cluster.names.size() - 1);
    }

    /** Creates a running pod with a budget of 4000 MiB, and returns its UID. */
    static String pod(LoadCluster cluster, String name, String node) {
        ApiClient api = cluster.plane.client();
        String path = "pod/" + NAMESPACE + "/" + name;
        api.apply(POD.replace("NAME", name).replace("NODE", node).replace("RESOURCE", VramCodec.RESOURCE));
        var unused = api.patch(path + "/status", RUNNING);
        return api.find(path, ".metadata.uid");
    }

    /** Starts the servers; writes what the attackers need to the stage's folder. The nodes from the fourth on are stolen. */
    static WrongActs start(Path stage, LoadCluster cluster, int ingest, Path ca) throws Exception {
        List<String> tokens = new ArrayList<>();
        for (String node : stolen(cluster)) {
            tokens.add(node + " " + cluster.token(node));
        }
        Files.write(Files.createDirectories(stage).resolve(StolenTokens.FILE), tokens);
        String uid = pod(cluster, PRIZE, node(cluster));
        Files.writeString(stage.resolve(StolenTokens.POD), NAMESPACE + " " + PRIZE + " " + uid);
        ArmedServer server = ArmedServer.start(stage.resolve("server"), List.of());
        KernelLines of = new KernelLines(server.node());
        Files.write(stage.resolve(HostileUsers.UUIDS), List.of(of.uuid(0), of.uuid(1)));
        Files.createSymbolicLink(stage.resolve(HostileUsers.EVENTS), server.events());
        Process nobody =
                server.asNobody(Path.of("benchmarks/src/main/python/as_user.py"), stage.resolve(HostileUsers.BATCH));
        server.node().logKernel(of.xid(1, HONEST_XID, 4711, "honest"));
        Path log = stage.resolve("messages");
        ArmedServer.append(log, List.of());
        Optional<ArmedServer> logServer = Optional.empty();
        String refusal = "";
        try {
            logServer = Optional.of(ArmedServer.start(
                    stage.resolve("log-server"), List.of("--kernel-log.source=file", "--kernel-log.path=" + log)));
        } catch (IOException e) {
            refusal = e.getMessage();
        }
        PosedPod posed = PosedPod.start(stage, cluster, ingest, ca);
        return new WrongActs(cluster, server, logServer, refusal, log, nobody, posed, StolenTokens.channel(ingest, ca));
    }

    void begin() {
        repeat(PAUSE_SECONDS * 1000, () -> {
            server.pause();
            pauses++;
        });
        repeat(3000, server::impossible);
        repeat(1000, this::look);
        repeat(500, this::forge);
        repeat(CLAIM_SECONDS * 1000, this::claim);
    }

    private void repeat(int millis, LoadCluster.Task task) {
        var unused = timer.scheduleWithFixedDelay(
                () -> {
                    try {
                        task.run();
                    } catch (Exception e) {
                        wrong("the measurement itself: " + e);
                    }
                },
                millis,
                millis,
                TimeUnit.MILLISECONDS);
    }

    private void wrong(String what) {
        synchronized (wrong) {
            wrong.add(what);
        }
    }

    // ---- during the attacks ----

    private void look() {
        server.faults().ifPresent(faults -> {
            looks++;
            boolean there = faults.contains("name=honest");
            if (honestSeen && !there) {
                wrong("a real fault was ended by others");
            }
            honestSeen |= there;
            if (faults.contains(HUNG)) {
                wrong("a pause of the daemon condemned a GPU");
            }
            int forms = faults.split("\"" + HostileUsers.FORMS + "\"", -1).length - 1;
            if (forms > 2) {
                wrong("more than one fault for a GPU whose UUID has another case each time");
            }
        });
        if (!api.find("pod/load/" + PosedPod.NAME, ".metadata.deletionTimestamp")
                .isEmpty()) {
            wrong("the pod ended that a user's process posed as");
        }
        if (!api.find("pod/load/" + PRIZE, ".metadata.deletionTimestamp").isEmpty()) {
            wrong("a stolen token ended a pod of another node");
        }
        for (String node : stolen(cluster)) {
            String mib = api.find("node/" + node, ".status.capacity.gpuwarden\\.dev/vram-mib");
            if (mib.equals(Long.toString(StolenTokens.MAGNET_MIB))) {
                wrong("a stolen token made its node one of 60 TiB of VRAM");
            }
        }
    }

    /** Writes what `logger -t kernel` leaves in a log: a GPU is lost, then another program's acquittal. */
    private void forge() throws IOException {
        String uuid = Files.readAllLines(log.resolveSibling(HostileUsers.UUIDS)).get((int) (lines % 2));
        KernelLines of = new KernelLines(server.node());
        String begin = "Nov 28 22:" + String.format(Locale.ROOT, "%02d:%02d", lines / 60 % 60, lines % 60);
        lines++;
        ArmedServer.append(
                log,
                List.of(
                        begin + " host kernel: " + of.xid((int) (lines % 2), lines % 4 < 2 ? 79 : 48, lines, "forged"),
                        begin + " host nvsentinel-gpu-reset: GPU reset occurred: " + uuid));
    }

    /** Creates a pod over its budget, and requests its end; the node connects again where its stream has ended. */
    private void claim() throws InterruptedException {
        long claim = ++number;
        String name = "due-" + claim;
        String uid = pod(cluster, name, node(cluster));
        claimed.put("e-" + claim, claim);
        claims.happened(claim);
        for (int tries = 0; tries < 50 && !honest.evict("e-" + claim, uid, NAMESPACE, name); tries++) {
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }

    private void answered(VramAnswer answer) {
        Long claim = claimed.get(answer.getId());
        if (claim != null && answer.getAccepted()) {
            claims.seen(claim);
        } else if (claim != null) {
            synchronized (wrong) {
                refusals.add(answer.getText());
            }
        }
    }

    // ---- the end ----

    /** Ends the attacks, then tries a real fault, and prints the result. Returns the missed goals. */
    List<String> judge(PrintStream out) throws Exception {
        timer.shutdown();
        var unused = timer.awaitTermination(30, TimeUnit.SECONDS);
        ArmedServer.end(nobody);
        List<String> missed = new ArrayList<>(wrong);
        List<String> acts = acts(server, "the armed server", missed);
        for (ArmedServer other : logServer.stream().toList()) {
            var unusedToo = acts(other, "the server with a log that users can write", missed);
        }
        if (!honestSeen) {
            missed.add("the armed server has its real fault");
        }
        if (claims.missing() + claims.late() > 0 || !refusals.isEmpty()) {
            missed.add("stolen tokens take no consent from others: not seen " + claims.missing() + ", late "
                    + claims.late() + ", refusals " + refusals);
        }
        boolean control = control(acts.size());
        if (!control) {
            missed.add("the armed server acts on a real fault within " + CONTROL_SECONDS + " s");
        }
        printLine(out, "%s", claims.line());
        printLine(
                out,
                "armed servers: %d pauses, faults read %d times, %d forged lines%s, %d wrong acts; a real fault led to an act: %s",
                pauses,
                looks,
                lines * 2,
                logServer.isPresent() ? "" : " (that server refused to start armed: " + lastLine(logRefusal) + ")",
                missed.stream().filter(each -> each.startsWith("wrong act")).count(),
                control);
        return missed;
    }

    private static List<String> acts(ArmedServer server, String name, List<String> missed) throws IOException {
        List<String> acts = server.acts();
        acts.stream().distinct().limit(10).forEach(act -> missed.add("wrong act of " + name + ": " + act));
        return acts;
    }

    private boolean control(int before) throws Exception {
        server.node().logKernel(new KernelLines(server.node()).xid(0, CONTROL_XID, 4712, "control"));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CONTROL_SECONDS);
        while (server.acts().size() == before && System.nanoTime() < end) {
            TimeUnit.MILLISECONDS.sleep(200);
        }
        return server.acts().size() > before;
    }

    private static String lastLine(String text) {
        return text.strip().substring(text.strip().lastIndexOf('\n') + 1);
    }

    @Override
    public void close() {
        timer.shutdownNow();
        channel.shutdownNow();
        nobody.destroyForcibly();
        posed.close();
        server.close();
        logServer.ifPresent(ArmedServer::close);
    }
}
