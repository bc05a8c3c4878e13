package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests.SignalAnswer;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests.SignalRequest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests of pods that get a signal before their eviction, on a real API server with the shipped rights. The test acts as the
 * node.
 */
@Tag("api")
class DrainNoticeTest extends DrainFixture {

    private static final DrainPolicies AT_ONCE = TestPods.policies(DrainMode.IMMEDIATE, Duration.ofHours(1));

    @BeforeEach
    void run() {
        pods.run(
                bad,
                "trainer",
                ", annotations: {gpuwarden.dev/checkpoint-signal: SIGUSR1, gpuwarden.dev/checkpoint-grace: 5m}",
                "");
    }

    private Optional<SignalRequest> asked(KubeClient api) throws Exception {
        Map<String, Object> health = api.get("/apis/gpuwarden.dev/v1alpha1/nodehealths/" + bad);
        return SignalRequest.open(health).stream().findFirst();
    }

    private SignalRequest awaitAsked(KubeClient api) throws Exception {
        Instant end = Instant.now().plusSeconds(20);
        while (asked(api).isEmpty() && Instant.now().isBefore(end)) {
            Thread.sleep(20);
        }
        return asked(api).orElseThrow();
    }

    private void answer(KubeClient api, SignalRequest request, int processes, String error) throws Exception {
        boolean kept = new SignalRequests(api, NodeHealthCache.NONE, Clock.systemUTC())
                .answer(bad, request.id(), SignalAnswer.tree(request.id(), processes, error, Instant.now()));
        assertThat(kept).isTrue();
    }

    private String signals() {
        return fleet.client.get("nodehealth/" + bad, ".spec.signals");
    }

    @Test
    void podGetsOneSignalAndIsEvictedAfterItSavedItsWork() throws Exception {
        try (KubeClient api = fleet.asAggregator()) {
            SignalRequest request;
            try (Controllers first = TestPods.steer(api, "one", true, AT_ONCE, audits)) {
                until(first::works, "it leads");
                fleet.fail(bad);
                request = awaitAsked(api);
                assertThat(request.podUid()).isEqualTo(pods.get("trainer", ".metadata.uid"));
                assertThat(request.signal()).isEqualTo("SIGUSR1");
                until(() -> drain().contains("\"checkpoint\""), "the node has the wait for the checkpoint");
            }
            // The next leader has the record of the signal and of its time.
            try (Controllers second = TestPods.steer(api, "two", true, AT_ONCE, audits)) {
                until(second::works, "another one leads");
                answer(api, request, 1, "");
                until(() -> drain().contains("SIGUSR1 was sent at"), "it was sent");
                until(() -> fleet.eventReasons(bad).contains("AwaitingCheckpoint"), "its Event is written");
                assertThat(pods.asked("trainer")).isFalse();
                pods.annotate(
                        "trainer", "gpuwarden.dev/checkpointed", Instant.now().toString());
                until(() -> pods.asked("trainer"), "it is evicted");
                until(() -> decisions().contains("evicted"), "the answer to its eviction is recorded");
                pods.end("trainer");
                until(() -> drain().contains("\"finished\""), "it is drained");
                until(() -> signals().isEmpty() || signals().equals("{}"), "nothing is asked of it any more");
            }
        }
        assertThat(decisions()).containsExactly("start", "signal", "signalled", "evict", "evicted", "finish");
        assertThat(audits.stream().filter(audit -> audit.decision().equals("evict")))
                .allMatch(audit -> audit.reason().endsWith("and it reports that it has saved its work"));
    }

    @Test
    void signalIsNotWithdrawnAtReleaseAndIsSentAgainNextTime() throws Exception {
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.steer(api, "one", true, AT_ONCE, audits)) {
            until(controllers::works, "it leads");
            fleet.fail(bad);
            SignalRequest first = awaitAsked(api);
            answer(api, first, 1, "");
            fleet.heal(bad);
            until(() -> !fleet.cordoned(bad), "it returns");
            until(() -> signals().isEmpty() || signals().equals("{}"), "nothing is asked of it any more");
            assertThat(pods.asked("trainer")).isFalse();

            fleet.fail(bad);
            SignalRequest second = awaitAsked(api);
            assertThat(second.id()).isNotEqualTo(first.id());
            // The node does not send the signal, so the drain does not wait.
            answer(api, second, 0, "signals are off on this node");
            until(() -> pods.asked("trainer"), "it is evicted");
        }
        assertThat(audits.stream().filter(audit -> audit.decision().equals("evict")))
                .allMatch(audit -> audit.reason().contains("signals are off on this node"));
    }
}
