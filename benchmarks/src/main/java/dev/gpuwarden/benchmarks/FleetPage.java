package dev.gpuwarden.benchmarks;

import static dev.gpuwarden.benchmarks.Figures.printLine;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.testkit.browser.Browser;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Measures the page of a shipped aggregator in headless Chromium: the time until it is displayed, and until it shows a
 * changed Node.
 */
final class FleetPage {

    private static final int CHANGES = 50;

    private static final String READER = """
            {apiVersion: v1, kind: ServiceAccount, metadata: {name: reader, namespace: default}}
            ---
            apiVersion: rbac.authorization.k8s.io/v1
            kind: ClusterRole
            metadata: {name: reader}
            rules: [{apiGroups: [gpuwarden.dev], resources: [nodehealths], verbs: [list]}]
            ---
            apiVersion: rbac.authorization.k8s.io/v1
            kind: ClusterRoleBinding
            metadata: {name: reader}
            roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
            subjects: [{kind: ServiceAccount, name: reader, namespace: default}]
            """;

    private FleetPage() {}

    /** Arguments: program, folder with cert.pem and key.pem, manifests, nodes. */
    @SuppressForbidden("a program of its own: prints its result")
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        Path work = Path.of(args[1]);
        int nodes = Integer.parseInt(args[3]);
        int web = LoadCluster.freePort();
        try (LoadCluster cluster = new LoadCluster(work.resolve("plane"), Path.of(args[2]), nodes, 0);
                ShippedAggregator aggregator = new ShippedAggregator(
                        args[0],
                        cluster.aggregatorKubeconfig(),
                        work,
                        LoadCluster.freePort(),
                        web,
                        List.of("--quarantine.mode=armed", LoadCluster.POOL));
                Browser browser = Browser.start(work.resolve("browser"), 1400, 1000)) {
            aggregator.await("gpuwarden_aggregator_leads", 1, 120);
            cluster.plane.apply(READER);
            String token = cluster.plane.token("default", "reader");
            for (int time = 1; time <= 3; time++) {
                browser.open("about:blank");
                browser.open(
                        "http://me:" + token + "@127.0.0.1:" + web + "/#state=silent,cordoned",
                        "http://127.0.0.1:" + web);
                browser.until("document.querySelector('#shown').innerText.includes('" + nodes + " nodes')");
                printLine(
                        out,
                        "load %d: first paint %.0f ms, all nodes on screen %.0f ms after the request",
                        time,
                        millis(browser, "performance.getEntriesByName('first-contentful-paint')[0].startTime"),
                        millis(browser, "performance.now()"));
            }
            printLine(out, "%d changes seen on screen: %s", CHANGES, changes(cluster, browser));
            printLine(out, "aggregator: %d MiB resident", aggregator.residentMib());
        }
    }

    /** Returns the times from the answer to a Node's patch until the page shows it, checked every 20 ms. */
    private static String changes(LoadCluster cluster, Browser browser) throws Exception {
        Histogram millis = new Histogram(600_000, 3);
        for (int i = 0; i < CHANGES; i++) {
            String node = cluster.names.get(i);
            var unused = cluster.api.patch(
                    NodeCache.NODES.path(node),
                    List.of(Map.of("op", "add", "path", "/spec/unschedulable", "value", true)));
            long start = System.nanoTime();
            browser.until("document.querySelector('#states').innerText.includes('" + (i + 1) + " cordoned')");
            millis.recordValue(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
        }
        return String.format(
                Locale.ROOT,
                "p50 %d ms, p99 %d ms, longest %d ms",
                millis.getValueAtPercentile(50),
                millis.getValueAtPercentile(99),
                millis.getMaxValue());
    }

    private static double millis(Browser browser, String expression) throws InterruptedException {
        return ((Number) browser.evaluate(expression)).doubleValue();
    }
}
