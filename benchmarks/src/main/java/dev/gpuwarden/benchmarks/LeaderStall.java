package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.LeaderElector;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.Relay;
import io.fabric8.kubernetes.client.Config;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Two replicas compete to lead, while the leader's connection stalls repeatedly. Measures the time from the end of one
 * leadership to the start of the next.
 */
final class LeaderStall {

    private static final int PATIENCE_SECONDS = 60;

    private LeaderStall() {}

    private static final class Seeker {
        private long began;
        private long ended;
        private boolean leads;

        synchronized void begin() {
            began = System.nanoTime();
            leads = true;
        }

        synchronized void end() {
            ended = System.nanoTime();
            leads = false;
        }

        synchronized boolean leads() {
            return leads;
        }
    }

    /** Arguments: a folder, tries. Exits with 1 if two led at the same time. */
    @SuppressForbidden("a program of its own: prints its result")
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        int tries = Integer.parseInt(args[1]);
        Histogram gaps = new Histogram(TimeUnit.MINUTES.toMillis(2), 3);
        int overlaps = 0;
        try (ControlPlane plane = ControlPlane.start(Path.of(args[0]))) {
            int port = URI.create(plane.url()).getPort();
            List<Relay> relays = List.of(new Relay(port), new Relay(port));
            List<Seeker> seekers = new ArrayList<>();
            for (Relay relay : relays) {
                Seeker seeker = new Seeker();
                String kubeconfig = Files.readString(plane.adminKubeconfig())
                        .replace(plane.url(), "https://127.0.0.1:" + relay.port());
                var unused = KubeClient.connect(Config.fromKubeconfig(kubeconfig))
                        .seekLeadership(
                                "default",
                                "stall",
                                "seeker-" + seekers.size(),
                                LeaderElector.Times.DEFAULT,
                                seeker::begin,
                                seeker::end);
                seekers.add(seeker);
                LoadCluster.until(seekers.get(0)::leads, PATIENCE_SECONDS, "another replica leads");
            }
            for (int i = 0; i < tries; i++) {
                int stalling = seekers.get(0).leads() ? 0 : 1;
                Seeker other = seekers.get(1 - stalling);
                relays.get(stalling).stall();
                LoadCluster.until(other::leads, PATIENCE_SECONDS, "another replica leads");
                long gap = TimeUnit.NANOSECONDS.toMillis(other.began - seekers.get(stalling).ended);
                overlaps += seekers.get(stalling).leads() || gap <= 0 ? 1 : 0;
                gaps.recordValue(Math.max(0, gap));
                relays.get(stalling).flow();
                System.err.printf(Locale.ROOT, "%d of %d: %d ms%n", i + 1, tries, gap);
            }
        }
        out.printf(
                Locale.ROOT,
                "%d stalls: %d times two led at the same time; from the end of one leadership to the start of the next least %d ms, p50 %d ms,"
                        + " most %d ms%n",
                tries,
                overlaps,
                gaps.getMinValue(),
                gaps.getValueAtPercentile(50),
                gaps.getMaxValue());
        System.exit(overlaps == 0 ? 0 : 1);
    }
}
