package dev.gpuwarden.daemon.uplink;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.daemon.checkpoint.PodSignals;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.daemon.uplink.TestAggregator.Connection;
import dev.gpuwarden.daemon.uplink.TestAggregator.Kept;
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
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class UplinkTest {

    private static final Duration RETRY = Duration.ofMillis(50);
    private static final Uplink.Timeouts QUICK = new Uplink.Timeouts(
            RETRY,
            Uplink.Timeouts.USUAL.welcome(),
            Uplink.Timeouts.USUAL.acknowledgement(),
            Uplink.Timeouts.USUAL.leaving());

    @TempDir
    Path folder;

    private final Kept kept = new Kept();
    private EventStore store;
    private volatile List<GpuIdentity> gpus = List.of();

    @BeforeEach
    void open() {
        store = EventStore.open(StoreSettings.at(folder.resolve("events.db")), Clock.systemUTC());
    }

    @AfterEach
    void close() {
        store.close();
        assertThat(kept.violations).isEmpty();
    }

    private HealthEvent.Builder event(String id) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .id(id)
                .errorCodes(List.of("79"))
                .entities(List.of(Entity.gpu("GPU-" + id)));
    }

    private void tell(String... ids) {
        for (String id : ids) {
            store.accept(event(id).fatal(true).message("told as " + id).build());
        }
    }

    private TestAggregator aggregator(int port) throws Exception {
        return new TestAggregator(kept, port, null);
    }

    private Uplink uplink(int port, Uplink.Timeouts patience) {
        UplinkOptions options = new UplinkOptions();
        options.insecure = true;
        return uplink(options, "127.0.0.1:" + port, patience);
    }

    private Uplink uplink(UplinkOptions options, String address, Uplink.Timeouts patience) {
        UplinkNode node = new UplinkNode(
                "node-1",
                "boot-1",
                "1.2.3",
                store,
                store,
                Clock.systemUTC(),
                () -> gpus,
                () -> Reading.absent(Absence.NO_DATA),
                (id, uid, signal) -> new PodSignals.Answer(0, "off"),
                new TokenReviewRequests());
        return Uplink.start(node, UplinkAddress.of(options, address), patience);
    }

    private Connection last() {
        return kept.connections.get(kept.connections.size() - 1);
    }

    private boolean told(int connections) {
        return kept.connections.size() >= connections && !last().tellings.isEmpty();
    }

    @Test
    void whileTheAggregatorIsAwayNothingIsLostAndNothingComesTwice() throws Exception {
        TestAggregator first = aggregator(0);
        try (Uplink uplink = uplink(first.port(), QUICK)) {
            until(() -> told(1));
            assertThat(last().hello.getNodeName()).isEqualTo("node-1");
            assertThat(last().hello.getBootId()).isEqualTo("boot-1");
            assertThat(last().hello.getVersion()).isEqualTo("1.2.3");
            assertThat(last().tellings).containsExactly(List.of());
            tell("a", "b");
            until(() -> uplink.stats().sent() == 2);
            first.close();
            tell("c", "d");
            store.accept(event("e")
                    .healthy(true)
                    .entities(List.of(Entity.gpu("GPU-a")))
                    .build());
            // The first failure may be the stream that was cut, the next is a connection refused.
            until(() -> uplink.stats().lastError().contains("UNAVAILABLE"));
            assertThat(uplink.stats().failures()).isPositive();
            assertThat(uplink.stats().lag().waiting()).isEqualTo(3);
            try (TestAggregator second = aggregator(first.port())) {
                until(() -> uplink.stats().sent() == 5);
                assertThat(second.port()).isEqualTo(first.port());
                assertThat(kept.ids).containsExactly("a", "b", "c", "d", "e");
                // All faults, not only the new ones; the events add none that is not among them.
                assertThat(last().faultEntities()).containsExactly("GPU-b", "GPU-c", "GPU-d");
                assertThat(last().asOf).isEqualTo(kept.acknowledged);
                until(() -> uplink.stats().lastError().isEmpty());
                assertThat(uplink.stats().lag().waiting()).isZero();
            }
        }
    }

    @Test
    void theNextDaemonContinuesAndItsFaultsIncludeEarlierEvents() throws Exception {
        try (TestAggregator aggregator = aggregator(0)) {
            uplink(aggregator.port(), QUICK).close();
            tell("a", "b");
            try (Uplink uplink = uplink(aggregator.port(), QUICK)) {
                until(() -> uplink.stats().sent() == 2);
                assertThat(kept.ids).containsExactly("a", "b");
                assertThat(last().asOf).isEqualTo(kept.acknowledged);
            }
        }
    }

    @Test
    void onlyWhatWasNotAcknowledgedIsSentAgain() throws Exception {
        kept.acknowledges = false;
        TestAggregator first = aggregator(0);
        try (Uplink uplink = uplink(first.port(), QUICK)) {
            until(() -> told(1));
            tell("a", "b");
            until(() -> last().ids.size() == 2);
            last().acknowledgeFirst();
            until(() -> uplink.stats().lag().waiting() == 1);
            first.close();
            kept.acknowledges = true;
            try (TestAggregator second = aggregator(first.port())) {
                until(() -> uplink.stats().sent() == 2);
                assertThat(second.port()).isEqualTo(first.port());
                assertThat(last().ids).containsExactly("b");
            }
        }
    }

    @Test
    void eventsThatTheAggregatorHasAreNotSent() throws Exception {
        kept.acknowledges = false;
        TestAggregator first = aggregator(0);
        try (Uplink uplink = uplink(first.port(), QUICK)) {
            until(() -> told(1));
            tell("a", "b");
            until(() -> last().ids.size() == 2);
            // The aggregator has both, but its answer was lost. A greater number is not accepted.
            first.close();
            kept.acknowledged = Long.MAX_VALUE;
            kept.acknowledges = true;
            try (TestAggregator second = aggregator(first.port())) {
                until(() -> told(2) && uplink.stats().lag().waiting() == 0);
                tell("c");
                until(() -> uplink.stats().sent() == 1);
                assertThat(second.port()).isEqualTo(first.port());
                assertThat(last().ids).containsExactly("c");
            }
        }
    }

    /** Acknowledges one event after the other; the node must fill the window each time. */
    private void acknowledgeEach(int events, int window) {
        for (int i = 0; i < events; i++) {
            int wanted = Math.min(events, i + window);
            until(() -> last().ids.size() == wanted);
            last().acknowledgeFirst();
        }
    }

    @Test
    void aSlowAggregatorIsNeverGivenMoreThanItCanTake() throws Exception {
        kept.acknowledges = false;
        kept.window = 3;
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> told(1));
            for (int i = 0; i < 40; i++) {
                tell("e" + i);
            }
            acknowledgeEach(40, 3);
            until(() -> uplink.stats().sent() == 40);
            assertThat(last().mostOpen).isEqualTo(3);
            assertThat(kept.ids).hasSize(40).doesNotHaveDuplicates();
        }
    }

    @Test
    void aFatalFaultDoesNotWaitForEarlierEvents() throws Exception {
        kept.acknowledges = false;
        kept.window = 3;
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> told(1));
            for (int i = 0; i < 40; i++) {
                store.accept(event("reported" + i).build());
            }
            until(() -> last().ids.size() == 3);
            assertThat(last().tellings).hasSize(1);
            tell("a");
            until(() -> last().ahead.equals(List.of("GPU-a")));
            acknowledgeEach(41, 3);
            until(() -> uplink.stats().sent() == 41);
            assertThat(kept.ids).hasSize(41).doesNotHaveDuplicates().endsWith("a");
            assertThat(last().ahead).as("once").hasSize(1);
            assertThat(last().tellings).hasSize(1);
        }
    }

    @Test
    void theNamesOfGpusComeBeforeTheFaultsAndAgainWhenTheyChange() throws Exception {
        KnownGpus.Known third = new KnownGpus.Known(
                3, PciAddress.parse("0000:5b:00.0").orElseThrow(), "GPU-c", Optional.empty(), Optional.empty());
        gpus = List.of(GpuIdentity.unknown(3, new Reading.Absent<>(Absence.GPU_LOST, 15, "")));
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> told(1));
            assertThat(last().names).containsExactly("0 3  ");
            tell("a");
            until(() -> uplink.stats().sent() == 1);
            gpus = new KnownGpus(List.of(third)).identities();
            tell("b");
            until(() -> last().names.size() == 2);
            assertThat(last().names).as("once each").containsExactly("0 3  ", "1 3 0000:5b:00.0 GPU-c");
        }
    }

    @Test
    void tooManyFatalFaultsAreReportedWithAllOthers() throws Exception {
        kept.acknowledges = false;
        kept.window = 1;
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> told(1));
            int many = UplinkCodec.MOST_AHEAD + 10;
            for (int i = 0; i < many; i++) {
                tell("m" + i);
            }
            until(() -> last().tellings.size() == 2 && last().faultEntities().size() == many);
            assertThat(last().ahead).hasSizeLessThanOrEqualTo(UplinkCodec.MOST_AHEAD);
            assertThat(uplink.stats().failures()).isZero();
        }
    }

    @Test
    void anAggregatorThatNeverAcknowledgesIsLeftAndTriedAgainEverMoreSlowly() throws Exception {
        kept.acknowledges = false;
        Uplink.Timeouts patience =
                new Uplink.Timeouts(RETRY, Duration.ofSeconds(10), Duration.ofMillis(300), Duration.ofSeconds(2));
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), patience)) {
            until(() -> told(1));
            tell("a");
            until(() -> kept.connections.size() >= 3 && last().ids.contains("a"));
            assertThat(uplink.stats().failures()).isGreaterThanOrEqualTo(2);
            assertThat(uplink.stats().lastError()).contains("did not send an acknowledgement");
            assertThat(uplink.stats().lag().waiting()).isEqualTo(1);
        }
    }

    @Test
    void aSilentServerIsDisconnected() throws Exception {
        Uplink.Timeouts patience =
                new Uplink.Timeouts(RETRY, Duration.ofMillis(300), Duration.ofSeconds(60), Duration.ofSeconds(2));
        try (ServerSocket mute = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                Uplink uplink = uplink(mute.getLocalPort(), patience)) {
            until(() -> uplink.stats().failures() >= 2);
            assertThat(uplink.stats().lastError()).contains("did not send Welcome");
        }
    }

    @Test
    void aRefusedEventIsLeftOutAndCounted() throws Exception {
        kept.refusedId = "b";
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> told(1));
            tell("a", "b", "c");
            until(() -> uplink.stats().sent() == 2 && uplink.stats().refused() == 1);
            assertThat(kept.ids).containsExactly("a", "c");
            assertThat(uplink.stats().lag().waiting()).isZero();
            assertThat(kept.connections).hasSize(1);
        }
    }

    @Test
    void allFaultsAreReportedAgainOnRequest() throws Exception {
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), QUICK)) {
            until(() -> told(1));
            tell("a");
            until(() -> uplink.stats().sent() == 1);
            last().tellAgain();
            until(() -> last().tellings.size() == 2);
            assertThat(last().faultEntities()).containsExactly("GPU-a");
            tell("b");
            until(() -> uplink.stats().sent() == 2);
            assertThat(kept.connections).hasSize(1);
        }
    }

    @Test
    void anAggregatorThatStopsPolitelyIsLetGo() throws Exception {
        TestAggregator first = aggregator(0);
        try (Uplink uplink = uplink(first.port(), QUICK)) {
            until(() -> told(1));
            tell("a");
            until(() -> uplink.stats().sent() == 1);
            long begun = System.nanoTime();
            assertThat(first.drain()).isTrue();
            assertThat(System.nanoTime() - begun).isLessThan(TimeUnit.SECONDS.toNanos(10));
            try (TestAggregator second = aggregator(first.port())) {
                until(() -> told(2));
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
            until(() -> told(2));
            assertThat(kept.connections)
                    .as("one for each attempt")
                    .hasSizeLessThanOrEqualTo((int) uplink.stats().failures() + 1);
            assertThat(last().token).isEqualTo("Bearer new");
            assertThat(last().subject).isEqualTo("CN=node-1");
            tell("a");
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
