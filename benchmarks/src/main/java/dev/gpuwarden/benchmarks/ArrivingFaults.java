package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.api.v1.Fault;
import dev.gpuwarden.api.v1.WatchKind;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.daemon.grpc.NodeClient;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes real faults to the kernel log: one line each second, for each GPU in turn and with each code that is fatal by
 * itself, among a thousand lines of noise. Each fault must reach the daemon's watcher and the node's NodeHealth.
 */
final class ArrivingFaults implements ResourceInformer.Listener {

    /** Writes of noise per second. */
    static final int WRITES_PER_SECOND = 10;

    private static final int LINES_PER_WRITE = 100;
    private static final Pattern PID = Pattern.compile("pid=(\\d+), name=new");

    /** Codes that the catalogue calls fatal, regardless of the GPU's other faults. */
    private static final List<Integer> CODES = List.of(46, 48, 54, 57, 58, 33, 34, 35, 36, 42, 47, 49, 51, 53, 55, 56);

    /** Codes that a user's program causes on a healthy GPU. */
    private static final List<Integer> REPEATED = List.of(13, 31, 43);

    private final KernelLines lines;
    private final int gpus;
    private final KernelLogWriter log;
    private final NodeClient client;
    private final String node;
    private final Sightings events = new Sightings("kernel line to the daemon's watch");
    private final Sightings healths = new Sightings("kernel line to the NodeHealth in the API server");
    private final AtomicInteger watches = new AtomicInteger();
    private volatile boolean watching;
    private final Random chance = new Random(1);
    private int writes;
    /** The write of this second that has the fault. */
    private int faulty;

    private long turn;
    private long number;

    ArrivingFaults(SimulatedNode simulated, ShippedDaemon daemon, String node) throws IOException {
        this.lines = new KernelLines(simulated);
        this.gpus = simulated.control().gpuCount();
        this.log = new KernelLogWriter(simulated.kernelLog());
        this.client = NodeClient.of(daemon.socket());
        this.node = node;
        watch();
    }

    List<Sightings> sightings() {
        return List.of(events, healths);
    }

    boolean allSeen() {
        return events.missing() == 0 && healths.missing() == 0;
    }

    /** Returns the number of watches that the daemon has ended. */
    int watchesLost() {
        return watches.get() - 1;
    }

    /**
     * Writes one share of a second's lines, and a fault at a random time of each second: at a fixed one every fault would meet the same
     * phase of the aggregator's writes. The caller calls it {@link #WRITES_PER_SECOND} times a second.
     */
    void write() throws IOException, InterruptedException {
        int write = writes++ % WRITES_PER_SECOND;
        faulty = write == 0 ? chance.nextInt(WRITES_PER_SECOND) : faulty;
        boolean fault = write == faulty;
        if (fault) {
            TimeUnit.MILLISECONDS.sleep(chance.nextInt(1000 / WRITES_PER_SECOND));
        }
        if (!watching) {
            watch();
        }
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < LINES_PER_WRITE; i++) {
            number++;
            texts.add(
                    number % 20 == 0
                            ? lines.xid(
                                    (int) (number / 20 % gpus), REPEATED.get((int) (number / 20 % 3)), number, "old")
                            : KernelLines.noise(number));
        }
        if (fault) {
            int gpu = (int) (turn % gpus);
            int code = (int) (turn / gpus % CODES.size());
            if (code == 0) {
                texts.add(lines.reset(gpu));
            }
            turn++;
            texts.add(lines.xid(gpu, CODES.get(code), turn, "new"));
            events.happened(turn);
            healths.happened(turn);
        }
        log.write(texts);
    }

    void close() throws IOException {
        client.close();
        log.close();
    }

    private static void look(String message, Sightings where) {
        Matcher pid = PID.matcher(message);
        if (pid.find()) {
            where.seen(Long.parseLong(pid.group(1)));
        }
    }

    // ---- the daemon ----

    private void watch() {
        watching = true;
        watches.incrementAndGet();
        DaemonWatch.begin(client, WatchKind.WATCH_KIND_FAULTS, this::received, () -> watching = false);
    }

    private void received(WatchResponse response) {
        for (Fault fault : response.getState().getFaultsList()) {
            look(fault.getCause().getMessage(), events);
        }
        for (Fault fault : response.getFaults().getFaultsList()) {
            look(fault.getCause().getMessage(), events);
        }
    }

    // ---- the cluster ----

    @Override
    public void onUpsert(String name, Map<String, Object> tree) {
        if (name.equals(node)) {
            for (Map<String, Object> fault : JsonTrees.objects(JsonTrees.object(tree, "status"), "faults")) {
                look(JsonTrees.text(fault, "message"), healths);
            }
        }
    }

    @Override
    public void onDelete(String name) {}

    @Override
    public void onSynced() {}
}
