package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.testkit.cluster.Relay;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that one of two candidates leads, also while the connection of the leader stalls. */
@Tag("api")
class LeadershipTest {

    private static final int STALLS = 2;

    private final Closer parts = new Closer();
    private TestFleet fleet;

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
        parts.add(fleet);
    }

    @AfterEach
    void end() {
        parts.close();
    }

    /** The times at which a candidate began and ended to lead, by {@link System#nanoTime}. */
    private static final class Term {
        final List<Long> began = new ArrayList<>();
        final List<Long> ended = new ArrayList<>();

        synchronized void begin() {
            began.add(System.nanoTime());
        }

        synchronized void end() {
            ended.add(System.nanoTime());
        }

        synchronized boolean leads() {
            return began.size() > ended.size();
        }

        synchronized long last(boolean beginning) {
            List<Long> times = beginning ? began : ended;
            return times.get(times.size() - 1);
        }
    }

    private Term seek(String name, Relay relay) throws IOException {
        String kubeconfig =
                Files.readString(fleet.plane.kubeconfig(fleet.plane.token("gpuwarden", "gpuwarden-aggregator")));
        KubeClient api = parts.add(KubeClient.connect(
                Config.fromKubeconfig(kubeconfig.replace(fleet.plane.url(), "https://127.0.0.1:" + relay.port()))));
        Term term = new Term();
        parts.add(api.seekLeadership(
                "gpuwarden", "gpuwarden-aggregator", name, TestFleet.ELECTION, term::begin, term::end));
        return term;
    }

    @Test
    void leaderWithStalledConnectionEndsBeforeTheNextBegins() throws Exception {
        int port = URI.create(fleet.plane.url()).getPort();
        List<Relay> relays = List.of(parts.add(new Relay(port)), parts.add(new Relay(port)));
        List<Term> terms = new ArrayList<>();
        terms.add(seek("one", relays.get(0)));
        until(terms.get(0)::leads, "the first one leads");
        terms.add(seek("two", relays.get(1)));
        for (int i = 0; i < STALLS; i++) {
            Term stalling = terms.get(i % 2);
            Term other = terms.get((i + 1) % 2);
            relays.get(i % 2).stall();
            until(other::leads, "the other one leads");
            assertThat(stalling.leads()).isFalse();
            assertThat(other.last(true)).isGreaterThan(stalling.last(false));
            relays.get(i % 2).flow();
        }
    }
}
