package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer.Answered;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupRequest;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests.SignalAnswer;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests.SignalRequest;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Signal;
import dev.gpuwarden.api.v1.Signalled;
import java.time.Clock;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Requests for signals that announce the end to pods, at one of two aggregators. */
class SignalClusterTest extends QuestionsSetup {

    private static final String POD = "11111111-1111-1111-1111-111111111111";
    private static final String OTHER_POD = "22222222-2222-2222-2222-222222222222";

    private static Signal receiveSignal(TestUplink uplink) throws InterruptedException {
        Acknowledgement next = uplink.receive();
        assertThat(next.getAcknowledgementCase()).isEqualTo(Acknowledgement.AcknowledgementCase.SIGNAL);
        return next.getSignal();
    }

    private static NodeReport signalled(String id, int processes, String error) {
        return NodeReport.newBuilder()
                .setSignalled(
                        Signalled.newBuilder().setId(id).setProcesses(processes).setError(error))
                .build();
    }

    private SignalAnswer read(Replica replica, SignalRequest request) {
        return SignalAnswer.read(replica.cache.health(node).orElse(Map.of()), request.podUid(), request.id());
    }

    @Test
    void signalRequestedAtOneAggregatorIsSentThroughTheOther() throws Exception {
        Replica a = new Replica(api(), "a");
        Replica b = new Replica(api(), "b");
        SignalRequests signals = new SignalRequests(a.api, a.cache, Clock.systemUTC());
        try (TestUplink uplink = connect(b, true)) {
            until(() -> a.cache.health(node).isPresent());
            SignalRequest first = signals.ask(node, POD, "SIGUSR1");
            Signal signal = receiveSignal(uplink);
            assertThat(signal.getPodUid() + " " + signal.getSignal()).isEqualTo(POD + " SIGUSR1");
            assertThat(signal.getId()).isEqualTo(first.id());
            assertThat(read(a, first)).isEqualTo(new SignalAnswer.Pending(first.requested()));
            SignalRequest second = signals.ask(node, OTHER_POD, "SIGUSR2");
            assertThat(receiveSignal(uplink).getId()).isEqualTo(second.id());
            uplink.send(signalled(second.id(), 0, "signals are off \u001b[31m"));
            uplink.send(signalled(first.id(), 2, ""));
            uplink.send(signalled(first.id(), 7, ""));
            until(() -> read(a, first).equals(new SignalAnswer.Sent(2)));
            until(() -> read(a, second).equals(new SignalAnswer.Failed("signals are off  [31m")));

            // Answers to withdrawn requests go, and the other one stays.
            signals.forget(node, POD);
            until(() -> !(read(a, first) instanceof SignalAnswer.Pending));
            SignalRequest third = signals.ask(node, OTHER_POD, "SIGTERM");
            assertThat(receiveSignal(uplink).getId()).isEqualTo(third.id());
            uplink.send(signalled(third.id(), 1, ""));
            until(() -> read(a, third).equals(new SignalAnswer.Sent(1)));
            assertThat(health(".status.signals")).contains(OTHER_POD).doesNotContain(POD);
            assertThat(health(".spec.signals")).doesNotContain(POD);

            // The signals stay beside the other request and the node's own reports.
            LookupRequest lookup = a.ask();
            assertThat(receiveLookup(uplink)).isEqualTo(lookup.id());
            uplink.send(holdings(lookup.id()));
            assertThat(a.awaitAnswer(lookup)).isInstanceOf(Answered.class);
            uplink.faults(1, 0);
            assertThat(uplink.receive().hasGeneration()).isTrue();
            assertThat(health(".status.signals")).contains(OTHER_POD);
        }
    }

    @Test
    void unansweredSignalIsRequestedAgainAndOldDaemonsGetNone() throws Exception {
        Replica a = new Replica(api(), "a");
        SignalRequests signals = new SignalRequests(a.api, a.cache, Clock.systemUTC());
        SignalRequest request;
        try (TestUplink uplink = connect(a, true)) {
            until(() -> a.cache.health(node).isPresent());
            request = signals.ask(node, POD, "SIGUSR1");
            assertThat(receiveSignal(uplink).getId()).isEqualTo(request.id());
        }
        try (TestUplink uplink = connect(a, true)) {
            assertThat(receiveSignal(uplink).getId()).isEqualTo(request.id());
        }
        try (TestUplink uplink = connect(a, false)) {
            until(() -> read(a, request) instanceof SignalAnswer.Failed);
            assertThat(((SignalAnswer.Failed) read(a, request)).why()).contains("version");
            assertThat(uplink.pending()).isZero();
        }
    }
}
