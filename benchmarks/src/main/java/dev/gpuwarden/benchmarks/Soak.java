package dev.gpuwarden.benchmarks;

import dev.gpuwarden.api.v1.Fault;
import dev.gpuwarden.api.v1.FaultKey;
import dev.gpuwarden.api.v1.WatchKind;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.daemon.grpc.NodeClient;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A day's work of the shipped daemon in minutes: millions of kernel lines, and cycles in which a GPU gets faults, from the
 * kernel log and from a check, and is then reset. Every fault of every cycle must be raised. Faults from the kernel log must
 * clear. The check's fault stays raised after some cycles, since it flaps. Memory, threads and open files of the daemon must
 * grow by no more than 2 % from cycle 100 to the last cycle. Half as many cycles run before the first, like in a daemon that
 * has run for hours: until then Java compiles and its heap grows to its final size, which takes time.
 */
public final class Soak {

    private static final double TOLERANCE = 0.02;
    private static final int FIRST_LOOK = 100;
    private static final List<Integer> CODES = List.of(31, 43, 48, 64, 94, 95);
    private static final int LINES_PER_WRITE = 250;
    private static final int LINES_PER_FILE = 100_000;
    private static final String CHECK = "GpuRemappedRows";
    private static final long LONGEST_SECONDS = 60;
    private static final int LOOKS = 10;
    private static final long LOOK_MILLIS = 20;

    /** Intervals shorter than the defaults, so that faults of checks are raised and cleared in seconds. */
    private static final List<String> QUICKER = List.of(
            "--sampling.slow-interval=1s", "--check.interval=gpu-remapped-rows=1s", "--kernel-log.storm-window=1s");

    private record Look(int cycle, long residentKib, long threads, long files) {
        boolean grew(Look since) {
            return grew(residentKib, since.residentKib) || grew(threads, since.threads) || grew(files, since.files);
        }

        private static boolean grew(long now, long before) {
            return now - before > TOLERANCE * before;
        }
    }

    private final SimulatedNode node;
    private final KernelLines lines;
    private final ShippedDaemon daemon;
    private final KernelLogWriter log;
    private final Set<FaultKey> current = new HashSet<>();
    private long number;
    private long raised;

    private Soak(SimulatedNode node, ShippedDaemon daemon, KernelLogWriter log) {
        this.node = node;
        this.lines = new KernelLines(node);
        this.daemon = daemon;
        this.log = log;
    }

    /** @param args number of cycles, number of kernel lines in all */
    @SuppressForbidden("a program of its own: prints its table")
    public static void main(String[] args) throws IOException, InterruptedException {
        int cycles = Integer.parseInt(args[0]);
        long lines = Long.parseLong(args[1]);
        boolean level;
        try (SimulatedNode node = SimulatedNode.start("h100x8");
                ShippedDaemon daemon = ShippedDaemon.start(node, QUICKER);
                KernelLogWriter log = new KernelLogWriter(node.kernelLog());
                NodeClient client = NodeClient.of(daemon.socket())) {
            Soak soak = new Soak(node, daemon, log);
            DaemonWatch.begin(client, WatchKind.WATCH_KIND_FAULTS, soak::received);
            level = soak.run(System.out, cycles, lines);
        }
        if (!level) {
            throw new IllegalStateException("the daemon grew by more than 2 % between the first and the last reading");
        }
    }

    private boolean run(PrintStream out, int cycles, long all) throws IOException, InterruptedException {
        List<Look> looks = new ArrayList<>();
        long began = System.nanoTime();
        out.println("cycle  lines read  resident KiB  threads  files  faults raised  events stored   minutes  cores");
        // Each GPU recovers while others get faults, because a check needs several passes.
        int gpus = node.control().gpuCount();
        for (int cycle = 1 - cycles / 2; cycle <= cycles; cycle++) {
            int gpu = Math.floorMod(cycle, gpus);
            await(gpu, keys -> keys.stream().allMatch(Soak::held), "is not healthy again");
            write(gpu, all / cycles);
            node.control().set(Map.of("gpu." + gpu + ".remapped-rows.pending", "yes"), false);
            await(
                    gpu,
                    keys -> keys.stream().anyMatch(Soak::held)
                            && keys.stream()
                                            .map(FaultKey::getErrorCode)
                                            .filter(Soak::written)
                                            .distinct()
                                            .count()
                                    == CODES.size(),
                    "has not all of its faults");
            node.control().set(Map.of("gpu." + gpu + ".reset", "yes"), false);
            log.write(List.of(lines.reset(gpu)));
            if (cycle % Math.max(1, cycles / 10) == 0) {
                Look look = look(cycle);
                if (cycle >= Math.min(FIRST_LOOK, cycles / 10)) {
                    looks.add(look);
                }
                double seconds = (System.nanoTime() - began) / 1e9;
                out.printf(
                        Locale.ROOT,
                        "%5d %11.0f %13d %8d %6d %14d %14.0f %9.1f %6.3f%n",
                        cycle,
                        daemon.metric("gpuwarden_kernel_log_records_total"),
                        look.residentKib(),
                        look.threads(),
                        look.files(),
                        raised,
                        daemon.metric("gpuwarden_store_events"),
                        seconds / 60,
                        daemon.cpuSeconds() / seconds);
            }
        }
        Look early = looks.get(0);
        Look last = looks.get(looks.size() - 1);
        out.printf(
                Locale.ROOT,
                "cycle %d against %d: memory %+.1f %%, threads %+d, files %+d; gaps %.0f, events refused or held %.0f%n",
                last.cycle(),
                early.cycle(),
                100.0 * (last.residentKib() - early.residentKib()) / early.residentKib(),
                last.threads() - early.threads(),
                last.files() - early.files(),
                daemon.metric("gpuwarden_kernel_log_gaps_total"),
                daemon.metric("gpuwarden_kernel_log_unstored_events_total"));
        return !last.grew(early);
    }

    /**
     * Reads memory, threads and files. Requests and rounds of checks have a thread each while they last, so the lowest of
     * some readings counts.
     */
    private Look look(int cycle) throws IOException, InterruptedException {
        long threads = Long.MAX_VALUE;
        for (int i = 0; i < LOOKS; i++) {
            threads = Math.min(threads, daemon.status("Threads"));
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
        return new Look(cycle, daemon.status("VmRSS"), threads, daemon.openFiles());
    }

    /** Returns true for the check's fault, which stays raised because it flaps. */
    private static boolean held(FaultKey key) {
        return key.getCheckName().equals(CHECK);
    }

    private static boolean written(String code) {
        return CODES.stream().map(String::valueOf).anyMatch(code::equals);
    }

    /** Writes lines, a twentieth of which repeat this GPU's faults. */
    private void write(int gpu, long count) throws IOException {
        List<String> texts = new ArrayList<>(LINES_PER_WRITE);
        for (long n = 0; n < count; n++) {
            number++;
            texts.add(
                    number % 20 == 0
                            ? lines.xid(gpu, CODES.get((int) (number / 20 % CODES.size())), number, "python3")
                            : KernelLines.noise(number));
            if (texts.size() == LINES_PER_WRITE || n == count - 1) {
                log.write(texts);
                texts.clear();
            }
            if (number % LINES_PER_FILE == 0) {
                log.rotate();
            }
        }
    }

    private void await(int gpu, Predicate<List<FaultKey>> state, String otherwise)
            throws IOException, InterruptedException {
        String uuid = lines.uuid(gpu);
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONGEST_SECONDS);
        synchronized (current) {
            while (true) {
                List<FaultKey> own = current.stream()
                        .filter(key -> key.getEntity().getEntityValue().equals(uuid))
                        .toList();
                if (state.test(own)) {
                    return;
                }
                long left = until - System.nanoTime();
                if (left <= 0) {
                    throw new IllegalStateException("GPU " + gpu + " " + otherwise + " after " + LONGEST_SECONDS
                            + " s: " + own + "\n" + daemon.log());
                }
                TimeUnit.NANOSECONDS.timedWait(current, left);
            }
        }
    }

    private void received(WatchResponse response) {
        synchronized (current) {
            if (response.hasState()) {
                current.clear();
                response.getState().getFaultsList().forEach(fault -> current.add(fault.getKey()));
            }
            Stream<FaultKey> come =
                    response.getFaults().getFaultsList().stream().map(Fault::getKey);
            come.forEach(key -> raised += current.add(key) ? 1 : 0);
            response.getFaults().getClearedList().forEach(current::remove);
            current.notifyAll();
        }
    }
}
