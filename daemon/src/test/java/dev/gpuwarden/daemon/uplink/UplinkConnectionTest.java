package dev.gpuwarden.daemon.uplink;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.testkit.tls.TestKeys;
import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.AbstractList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Ends of connections, and TLS. */
class UplinkConnectionTest extends UplinkFixture {

    @Test
    void anAggregatorThatNeverAcknowledgesIsLeftAndTriedAgainEverMoreSlowly() throws Exception {
        kept.acknowledges = false;
        Uplink.Timeouts patience = new Uplink.Timeouts(
                RETRY, QUICK.longestRetry(), Duration.ofSeconds(10), Duration.ofMillis(300), Duration.ofSeconds(2));
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), patience)) {
            until(() -> reported(1));
            report("a");
            until(() -> kept.connections.size() >= 3 && last().ids.contains("a"));
            assertThat(uplink.stats().failures()).isGreaterThanOrEqualTo(2);
            assertThat(uplink.stats().lastError()).contains("did not send an acknowledgement");
            assertThat(uplink.stats().lag().waiting()).isEqualTo(1);
        }
    }

    @Test
    void aSilentServerIsDisconnected() throws Exception {
        Uplink.Timeouts patience = new Uplink.Timeouts(
                RETRY, RETRY, Duration.ofMillis(300), Duration.ofSeconds(60), Duration.ofSeconds(2));
        try (ServerSocket mute = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                Uplink uplink = uplink(mute.getLocalPort(), patience)) {
            until(() -> uplink.stats().failures() >= 2);
            assertThat(uplink.stats().lastError()).contains("did not send Welcome");
        }
    }

    @Test
    void anErrorEndsOneConnectionAndNotTheUplink() throws Exception {
        gpus = new AbstractList<>() {
            @Override
            public GpuIdentity get(int index) {
                return fail();
            }

            @Override
            public int size() {
                return fail();
            }

            private <T> T fail() {
                throw new OutOfMemoryError("no direct memory");
            }
        };
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> uplink.stats().failures() >= 2);
            assertThat(uplink.stats().lastError()).contains("no direct memory");
            gpus = List.of();
            report("a");
            until(() -> kept.connections.size() > 2 && last().ids.contains("a"));
        }
    }

    @Test
    void anAggregatorThatStopsPolitelyIsLetGo() throws Exception {
        TestAggregator first = aggregator(0);
        try (Uplink uplink = uplink(first.port(), QUICK)) {
            until(() -> reported(1));
            report("a");
            until(() -> uplink.stats().sent() == 1);
            assertThat(first.drain()).isTrue();
            try (TestAggregator second = aggregator(first.port())) {
                until(() -> reported(2));
                assertThat(second.port()).isEqualTo(first.port());
            }
        }
    }

    @Test
    void overTlsTheNodeShowsItsCertificateAndTheTokenAsItIsNow() throws Exception {
        TestKeys keys = new TestKeys(folder);
        Path token = Files.writeString(folder.resolve("token"), "old\n");
        kept.token = "new";
        SslContext tls = GrpcSslContexts.configure(
                        SslContextBuilder.forServer(
                                        keys.certificate("localhost").toFile(),
                                        keys.key("localhost").toFile())
                                .trustManager(keys.ca.toFile())
                                .clientAuth(ClientAuth.REQUIRE),
                        SslProvider.JDK)
                .build();
        UplinkOptions options = new UplinkOptions();
        options.tlsCa = keys.ca;
        options.tlsCert = keys.certificate("node-1");
        options.tlsKey = keys.key("node-1");
        options.tokenFile = token;
        try (TestAggregator aggregator = new TestAggregator(kept, 0, tls);
                Uplink uplink = uplink(options, "localhost:" + aggregator.port(), QUICK)) {
            until(() -> uplink.stats().failures() >= 1);
            assertThat(uplink.stats().lastError()).isEqualTo("UNAUTHENTICATED: who?");
            Files.writeString(token, "new\n");
            until(() -> reported(2));
            assertThat(kept.connections)
                    .as("one for each attempt")
                    .hasSizeLessThanOrEqualTo((int) uplink.stats().failures() + 1);
            assertThat(last().token).isEqualTo("Bearer new");
            assertThat(last().subject).isEqualTo("CN=node-1");
            report("a");
            until(() -> uplink.stats().sent() == 1);
        }
    }

    @Test
    void aServerThatIsNotTheOneNamedGetsNothing() throws Exception {
        TestKeys keys = new TestKeys(folder);
        SslContext tls = GrpcSslContexts.configure(
                        SslContextBuilder.forServer(
                                keys.certificate("other").toFile(),
                                keys.key("other").toFile()),
                        SslProvider.JDK)
                .build();
        UplinkOptions options = new UplinkOptions();
        options.tlsCa = keys.ca;
        try (TestAggregator aggregator = new TestAggregator(kept, 0, tls);
                Uplink uplink = uplink(options, "localhost:" + aggregator.port(), QUICK)) {
            until(() -> uplink.stats().failures() >= 1);
            assertThat(kept.connections).isEmpty();
        }
    }
}
