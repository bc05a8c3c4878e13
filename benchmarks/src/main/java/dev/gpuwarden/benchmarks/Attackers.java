package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.part.Counts;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.testkit.cel.RandomExpressions;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

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
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(THREADS, Threads.daemon("attacker"));
        new HostileBrowsers(targets, tally).begin(timer);
        new HostileReporters(targets, tally).begin(timer);
        new HostileNodes(targets, tally).begin(timer);
        new HostileExpressions(targets, tally).begin(timer);
        new HostileUsers(targets.stage(), tally).begin(timer);
        new StolenTokens(targets.stage(), targets, tally).begin(timer);
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

        private final Counts<String> counts = new Counts<>();

        void count(String what) {
            counts.add(what);
        }

        void add(String what, long number) {
            counts.add(what, number);
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
            return counts.sums();
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
     * @param stage folder with what the attackers of {@link WrongActs} need
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
            Path kubeconfig,
            Path stage) {

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
                    kubeconfig.toString(),
                    stage.toString());
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
                    Path.of(next.next()),
                    Path.of(next.next()));
        }
    }

    /**
     * Expressions of users with the right to write rule sets and policies: one that squares a text of 16 kB, one that would take
     * minutes, and random ones. A random rule set and a random policy change each second, the long one every three seconds.
     */
    static final class HostileExpressions {

        private static final String API = "gpuwarden.dev/v1alpha1";
        private static final String PATH = "/apis/" + API;
        private static final String LONG = "[1,2,3,4,5,6,7,8,9,10]";

        private final KubeClient api;
        private final AttackTally tally;
        private final RandomExpressions chance = new RandomExpressions(
                7,
                List.of("resource.metadata.name", "resource.spec.nodeName", "resource.metadata.namespace"),
                List.of("['x', 'yy']", "resource.spec.containers.map(c, c.name)"));
        private int number;

        HostileExpressions(AttackTargets targets, AttackTally tally) throws IOException {
            Config config = Config.fromKubeconfig(Files.readString(targets.kubeconfig()));
            config.setClientKeyAlgo("EC");
            this.api = KubeClient.connect(config);
            this.tally = tally;
        }

        void begin(ScheduledExecutorService timer) {
            tally.repeat(timer, 1000, this::ruleSet);
            tally.repeat(timer, 1000, () -> policy("chance", chance.next()));
            tally.repeat(timer, 3000, () -> policy("endless", endless()));
        }

        private synchronized int next() {
            return ++number;
        }

        private void ruleSet() {
            String expression = "event.message.replace('x', event.message).size() > " + next();
            apply("quarantinerulesets", "QuarantineRuleSet", "hostile", expression, """
                    {"match": {"all": [{"kind": "HealthEvent", "expression": EXPRESSION}]}, "cordon": {"shouldCordon": true}}""");
        }

        private String endless() {
            return LONG + ".all(a, " + LONG + ".all(b, " + LONG + ".all(c, " + LONG
                    + ".all(d, resource.metadata.name.replace('d', 'aaaaaaaaaaaaaaaaaaaa').matches('(a+)+b" + next()
                    + "') == false))))";
        }

        /** Applies a policy for the kind of the good policy, so that one thread evaluates both. */
        private void policy(String name, String predicate) {
            apply("monitorpolicies", "MonitorPolicy", name, predicate, """
                    {"resource": {"group": "", "version": "v1", "kind": "Pod"}, "predicate": {"expression": EXPRESSION},
                     "nodeAssociation": {"expression": "resource.spec.nodeName"},
                     "healthEvent": {"componentClass": "Software", "isFatal": false, "message": "a stranger's policy",
                      "errorCode": ["STRANGE"]}}""");
        }

        /** @param spec JSON with the word EXPRESSION in place of the expression */
        private void apply(String resource, String kind, String name, String expression, String spec) {
            try {
                Map<String, Object> body = Map.of(
                        "apiVersion",
                        API,
                        "kind",
                        kind,
                        "metadata",
                        Map.of("name", name),
                        "spec",
                        Json.readObject(spec.replace("EXPRESSION", Json.write(expression))));
                var unused = api.apply(PATH + "/" + resource + "/" + name, "attack", body);
                tally.count("expressions, " + name + ": applied");
            } catch (ApiException e) {
                tally.count("expressions, " + name + ": refused by the API server");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
