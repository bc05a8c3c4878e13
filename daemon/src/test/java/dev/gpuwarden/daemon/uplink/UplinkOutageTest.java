package dev.gpuwarden.daemon.uplink;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.limit.Backoff;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Outages of the aggregator: how soon a node returns, and how many attempts a fleet makes during this time. */
class UplinkOutageTest extends UplinkFixture {

    private static final Uplink.Timeouts PATIENT = new Uplink.Timeouts(
            Duration.ofHours(1), Duration.ofHours(1), QUICK.welcome(), QUICK.acknowledgement(), QUICK.leaving());

    @Test
    void newFatalFaultAfterAnOutageIsReportedImmediately() throws Exception {
        int port = closedPort();
        try (Uplink uplink = uplink(port, PATIENT)) {
            until(() -> uplink.stats().failures() >= 1);
            try (TestAggregator back = aggregator(port)) {
                report("a");
                until(() -> reported(1) && last().faultEntities().contains("GPU-a"));
                assertThat(back.port()).isEqualTo(port);
            }
        }
    }

    @Test
    void fatalFaultDuringAnAttemptLeadsToTheNextOneImmediately() throws Exception {
        Uplink.Timeouts patience = new Uplink.Timeouts(
                PATIENT.retry(),
                PATIENT.longestRetry(),
                Duration.ofMillis(500),
                QUICK.acknowledgement(),
                QUICK.leaving());
        kept.answers = false;
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), patience)) {
            until(() -> kept.connections.size() == 1);
            report("a");
            kept.answers = true;
            until(() -> reported(2) && last().faultEntities().contains("GPU-a"));
            assertThat(uplink.stats().failures())
                    .as("attempts that ended without Welcome")
                    .isEqualTo(1);
        }
    }

    @Test
    void aStormOfFatalFaultsIsNoStormOfAttempts() throws Exception {
        try (Uplink uplink = uplink(closedPort(), PATIENT)) {
            until(() -> uplink.stats().failures() >= 1);
            for (int n = 1; n <= Uplink.EARLY_ATTEMPTS; n++) {
                int before = n;
                report("early-" + n);
                until(() -> uplink.stats().failures() > before);
            }
            for (int n = 0; n < 200; n++) {
                report("storm-" + n);
            }
            assertThat(uplink.stats().failures()).isEqualTo(1 + Uplink.EARLY_ATTEMPTS);
        }
    }

    @Test
    void aConnectionThatSwallowsEverythingIsReplacedAndNoFaultIsLost() throws Exception {
        Uplink.Timeouts patience = new Uplink.Timeouts(
                RETRY, QUICK.longestRetry(), QUICK.welcome(), Duration.ofSeconds(1), QUICK.leaving());
        try (TestAggregator aggregator = aggregator(0);
                SwallowingRelay relay = new SwallowingRelay(aggregator.port());
                Uplink uplink = uplink(relay.port(), patience)) {
            until(() -> reported(1));
            relay.swallow();
            report("a");
            until(() -> reported(2) && last().faultEntities().contains("GPU-a"));
            until(() -> uplink.stats().sent() == 1);
        }
    }

    /** The claim in RATIONALE.md: 5,000 nodes without an aggregator make fewer than 700 attempts in any second. */
    @Test
    void theAttemptsOfAFleetSpreadOverTime() {
        int nodes = 5_000;
        int seconds = 300;
        Backoff backoff = Uplink.Timeouts.USUAL.backoff();
        int[] attempts = new int[seconds];
        for (int node = 0; node < nodes; node++) {
            double at = 0;
            for (int failures = 1; at < seconds; failures++) {
                attempts[(int) at]++;
                at += backoff.pause(failures).toNanos() / 1e9;
            }
        }
        // All lose their connection in the first second; after one minute their attempts are spread.
        assertThat(Arrays.stream(attempts, 60, seconds).max().orElseThrow()).isLessThan(700);
        assertThat(Arrays.stream(attempts, 60, seconds).sum() / (double) nodes)
                .as("attempts of a node in four minutes: one in 7.5 to 15 s")
                .isBetween(16.0, 32.0);
    }

    private static int closedPort() throws IOException {
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return closed.getLocalPort();
        }
    }
}
