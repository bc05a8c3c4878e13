package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Failures of each kind of request: the state is right in the end, acknowledgements follow the write, and requests are few. */
class IngestFaultsTest extends IngestSetup {

    private static final Predicate<ApiCall> WRITE = ApiCall.of("PATCH", "/status");
    private static final int TIMES = 2;
    /** For the test in which a request hangs; the others wait for ten seconds, as the program does. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private FaultyApi faulty;
    private String kubeconfig;
    private KubeClient direct;
    private IngestServer server;
    private String token;

    @BeforeEach
    void start() throws Exception {
        token = TestCluster.token(plane, node);
        faulty = parts.add(new FaultyApi(plane));
        direct = api();
        kubeconfig = faulty.kubeconfig(plane.token("gpuwarden", "gpuwarden-aggregator"));
        server = aggregator(api(kubeconfig), "a");
    }

    private TestUplink connect() throws Exception {
        return connect(server, token).hello(node);
    }

    private Map<String, Object> status() throws Exception {
        return JsonTrees.object(direct.get(NodeHealthClient.ALL.path(node)), "status");
    }

    static Stream<Arguments> faults() {
        List<Arguments> requests = List.of(
                Arguments.of("reviewing the token", ApiCall.of("POST", "/tokenreviews")),
                Arguments.of("reading the NodeHealth", ApiCall.of("GET", "/nodehealths/")),
                Arguments.of("reading the Node", ApiCall.of("GET", "/nodes/")),
                Arguments.of("creating the NodeHealth", WRITE.negate().and(ApiCall.of("PATCH", "/nodehealths/"))),
                Arguments.of("writing the NodeHealth", WRITE));
        List<ApiFault> faults = List.of(
                ApiFault.conflict(),
                ApiFault.gone(),
                ApiFault.tooMany(Duration.ofSeconds(1)),
                ApiFault.broken(),
                ApiFault.unavailable(),
                new ApiFault.CutBefore(),
                new ApiFault.CutAfter(),
                new ApiFault.Delay(Duration.ofMillis(100)));
        Stream<Arguments> all = requests.stream()
                .flatMap(request ->
                        faults.stream().map(fault -> Arguments.of(request.get()[0], request.get()[1], fault)));
        return Stream.concat(all, Stream.of(Arguments.of("writing the NodeHealth", WRITE, new ApiFault.Hang())));
    }

    @ParameterizedTest(name = "{0}: {2}")
    @MethodSource("faults")
    void stateIsRightAfterFailedRequests(String what, Predicate<ApiCall> requests, ApiFault fault) throws Exception {
        faulty.fail(requests, TIMES, fault);
        if (fault instanceof ApiFault.Hang) {
            server = aggregator(api(kubeconfig, PATIENCE), "impatient");
        }
        int connections = 0;
        boolean done = false;
        while (!done) {
            connections++;
            assertThat(connections).isLessThanOrEqualTo(TIMES + 1);
            try (TestUplink uplink = connect()) {
                done = reportAll(uplink);
            }
        }
        until(() -> server.behind() == 0);
        assertThat(status())
                .containsEntry("state", "Faulty")
                .containsEntry("faultCount", 2L)
                .containsEntry("acknowledgedSequence", 2L);
        assertThat(faulty.count(requests)).as("it was among the requests").isGreaterThan(0);
        // Without failures: 1 token, 3 to create it, 2 or 3 writes. A failure costs its repetition, a conflict one more
        // read.
        assertThat(faulty.calls()).hasSizeLessThanOrEqualTo(7 + 6 * TIMES);
    }

    /** Returns false when it must connect again. */
    private boolean reportAll(TestUplink uplink) throws Exception {
        Optional<Acknowledgement> welcome = uplink.receiveOrEnd();
        if (welcome.isEmpty()) {
            Status end = uplink.end();
            assertThat(end.getCode()).as(end.toString()).isEqualTo(Status.Code.UNAVAILABLE);
            return false;
        }
        uplink.faults(1, 0, TestFaults.fault(node, "79"));
        assertThat(uplink.receive().getGeneration()).isEqualTo(1);
        assertThat(status()).containsEntry("faultCount", 1L).containsEntry("generation", 1L);
        uplink.event(2, TestFaults.xid(node, "48"));
        assertThat(uplink.receive().getSequence()).isEqualTo(2);
        assertThat(status()).containsEntry("faultCount", 2L).containsEntry("acknowledgedSequence", 2L);
        return true;
    }

    @Test
    void eachChangeCostsOneRequestWithoutFailures() throws Exception {
        try (TestUplink uplink = connect()) {
            uplink.receive();
            uplink.faults(1, 0);
            uplink.receive();
            for (int i = 1; i <= 5; i++) {
                uplink.event(i, TestFaults.xid(node, Integer.toString(i)));
                uplink.awaitSequence(i);
            }
        }
        assertThat(faulty.calls()).hasSize(4 + 6);
        assertThat(faulty.count(WRITE)).isEqualTo(6);
    }

    @Test
    void failingApiServerIsTriedLessAndLessOften() throws Exception {
        try (TestUplink uplink = connect()) {
            uplink.receive();
            faulty.fail(WRITE, ApiFault.unavailable());
            long start = System.nanoTime();
            uplink.faults(1, 0);
            until(() -> faulty.count(WRITE) >= 5);
            // Four waits: one, two, four and eight times the first, each at least half.
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isGreaterThan(PACE.firstRetry().multipliedBy(7));
            assertThat(uplink.pending()).isZero();
            faulty.heal();
            assertThat(uplink.receive().getGeneration()).isEqualTo(1);
        }
    }

    @Test
    void retryWaitsForTheServersRetryAfter() throws Exception {
        try (TestUplink uplink = connect()) {
            uplink.receive();
            faulty.fail(WRITE, 1, ApiFault.tooMany(Duration.ofSeconds(1)));
            long start = System.nanoTime();
            uplink.faults(1, 0);
            assertThat(uplink.receive().getGeneration()).isEqualTo(1);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofSeconds(1));
            assertThat(faulty.count(WRITE)).isEqualTo(2);
        }
    }

    @Test
    void nodeThatConnectsTooOftenCausesNoRequests() throws Exception {
        for (int i = 0; i < UplinkService.CONNECTS; i++) {
            try (TestUplink uplink = connect()) {
                assertThat(uplink.receive().hasWelcome()).isTrue();
            }
        }
        int before = faulty.calls().size();
        for (int i = 0; i < 20; i++) {
            try (TestUplink uplink = connect()) {
                assertThat(uplink.end().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            }
        }
        assertThat(faulty.calls()).hasSize(before);
        String other = node + "-other";
        TestCluster.node(plane, other);
        try (TestUplink uplink =
                connect(server, TestCluster.token(plane, other)).hello(other)) {
            assertThat(uplink.receive().hasWelcome()).isTrue();
        }
    }

    @Test
    void expiredAndForgedTokensAreRefused() throws Exception {
        UnaryOperator<String> over = claims -> claims.replaceAll("\"exp\":[0-9]+", "\"exp\":1600000000");
        assertThat(over.apply(TestTokens.claims(token))).isNotEqualTo(TestTokens.claims(token));
        try (TestUplink control = connect(server, TestTokens.signedAgain(plane, token, claims -> claims))
                .hello(node)) {
            assertThat(control.receive().hasWelcome())
                    .as("signed by the same key")
                    .isTrue();
        }
        for (String bad : List.of(
                TestTokens.signedAgain(plane, token, over),
                TestTokens.signedByAnother(token),
                TestTokens.changed(token, claims -> claims.replace(node, "another")))) {
            try (TestUplink stranger = connect(server, bad).hello(node)) {
                assertThat(stranger.end().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
            }
        }
    }
}
