package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who connects and is not known yet. */
class StrangersClusterTest extends IngestSetup {

    private IngestServer server;

    @BeforeEach
    void server() throws Exception {
        server = aggregator(api(), "a");
    }

    private void strangers(int wanted) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(4 * Doorway.LONGEST_SECONDS);
        while (server.strangers() != wanted) {
            assertThat(System.nanoTime())
                    .as("not " + wanted + " strangers, but " + server.strangers())
                    .isLessThan(end);
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    @Test
    void whoIsAnsweredIsNone() throws Exception {
        try (TestNode welcomed = connect(server);
                TestNode refused = connect(server, "no-token")) {
            assertThat(welcomed.hear().hasWelcome()).isTrue();
            assertThat(refused.end().getCode()).isEqualTo(io.grpc.Status.Code.UNAUTHENTICATED);
            strangers(0);
        }
    }

    @Test
    void whoLeavesIsNone() throws Exception {
        try (Socket silent = new Socket("127.0.0.1", server.address().getPort())) {
            strangers(1);
            silent.shutdownOutput();
            strangers(0);
        }
    }

    @Test
    void theSilentAreBoundedAndKeepOthersOutForMomentsOnly() throws Exception {
        for (int i = 0; i < Doorway.MOST + 20; i++) {
            var unused = parts.add(new Socket("127.0.0.1", server.address().getPort()));
        }
        strangers(Doorway.MOST);
        long start = System.nanoTime();
        try (TestNode late = connect(server)) {
            assertThat(late.hear().hasWelcome()).isTrue();
        }
        assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(2 * Doorway.LONGEST_SECONDS));
    }
}
