package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.SuppressForbidden;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * All attackers, in a separate process. They share the processors with their targets, so the operating system runs them at
 * the lowest priority (nice 19), and each keeps its pace. They run until standard input ends.
 */
final class Attackers {

    private static final int THREADS = 24;
    private static final int REPORT_SECONDS = 5;

    private Attackers() {}

    /** Arguments: {@link AttackTargets}. */
    @SuppressForbidden("a program of its own: reports what it did")
    public static void main(String[] args) throws Exception {
        AttackTargets targets = AttackTargets.of(List.of(args));
        AttackTally tally = new AttackTally();
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(THREADS, task -> {
            Thread thread = new Thread(task, "attacker");
            thread.setDaemon(true);
            return thread;
        });
        new HostileBrowsers(targets, tally).begin(timer);
        new HostileReporters(targets, tally).begin(timer);
        new HostileNodes(targets, tally).begin(timer);
        new HostileExpressions(targets, tally).begin(timer);
        var unused = timer.scheduleWithFixedDelay(
                () -> report(System.out, tally), REPORT_SECONDS, REPORT_SECONDS, TimeUnit.SECONDS);
        awaitEnd();
        System.exit(0);
    }

    /** Prints the whole tally, with an empty line at its end. The last report counts. */
    private static void report(PrintStream out, AttackTally tally) {
        StringBuilder text = new StringBuilder();
        tally.counts().forEach((what, count) -> text.append(String.format(Locale.ROOT, "  %-70s %9d%n", what, count)));
        out.println(text);
        out.flush();
    }

    private static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            // Ignores the content, which has no meaning.
        }
    }

    /** Counts of the attackers' actions and of their results, by readable names. Thread-safe. */
    static final class AttackTally {

        private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

        void count(String what) {
            add(what, 1);
        }

        void add(String what, long number) {
            counts.computeIfAbsent(what, any -> new LongAdder()).add(number);
        }

        /** Repeats an attack with pauses of this length. Counts its failures and continues. */
        void repeat(ScheduledExecutorService timer, long millis, Runnable attack) {
            var unused = timer.scheduleWithFixedDelay(
                    () -> {
                        try {
                            attack.run();
                        } catch (RuntimeException e) {
                            count("attacks that failed by themselves: " + e);
                        }
                    },
                    0,
                    millis,
                    TimeUnit.MILLISECONDS);
        }

        Map<String, Long> counts() {
            Map<String, Long> sums = new TreeMap<>();
            counts.forEach((what, count) -> sums.put(what, count.sum()));
            return sums;
        }
    }

    /**
     * The targets of the attackers, which are the arguments of their process.
     *
     * @param daemon address of the daemon's pages
     * @param events socket for checks of third parties
     * @param socket socket for queries
     * @param aggregator address of the aggregator's pages
     * @param ingest port of the aggregator for nodes
     * @param ca certificate authority of the aggregator
     * @param node node under attack
     * @param hostileNode node of the attackers
     * @param hostileToken token of a daemon's pod on that node
     * @param pageToken token with the right to read the fleet
     * @param kubeconfig kubeconfig with the right to write rule sets and policies
     */
    record AttackTargets(
            InetSocketAddress daemon,
            Path events,
            Path socket,
            InetSocketAddress aggregator,
            int ingest,
            Path ca,
            String node,
            String hostileNode,
            String hostileToken,
            String pageToken,
            Path kubeconfig) {

        static InetSocketAddress address(String url) {
            URI uri = URI.create(url);
            return new InetSocketAddress(uri.getHost(), uri.getPort());
        }

        List<String> arguments() {
            return List.of(
                    "http://127.0.0.1:" + daemon.getPort(),
                    events.toString(),
                    socket.toString(),
                    "http://127.0.0.1:" + aggregator.getPort(),
                    Integer.toString(ingest),
                    ca.toString(),
                    node,
                    hostileNode,
                    hostileToken,
                    pageToken,
                    kubeconfig.toString());
        }

        static AttackTargets of(List<String> arguments) {
            Iterator<String> next = arguments.iterator();
            return new AttackTargets(
                    address(next.next()),
                    Path.of(next.next()),
                    Path.of(next.next()),
                    address(next.next()),
                    Integer.parseInt(next.next()),
                    Path.of(next.next()),
                    next.next(),
                    next.next(),
                    next.next(),
                    next.next(),
                    Path.of(next.next()));
        }
    }
}
