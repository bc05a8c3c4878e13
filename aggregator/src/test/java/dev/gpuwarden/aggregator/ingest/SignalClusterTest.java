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

    private static Signal hearSignal(TestUplink told) throws InterruptedException {
        Acknowledgement next = told.hear();
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
        return SignalAnswer.read(replica.fleet.health(node).orElse(Map.of()), request.podUid(), request.id());
    }

    @Test
    void signalRequestedAtOneAggregatorIsSentThroughTheOther() throws Exception {
        Replica a = new Replica(api(), "a");
        Replica b = new Replica(api(), "b");
        SignalRequests signals = new SignalRequests(a.api, a.fleet, Clock.systemUTC());
        try (TestUplink told = connect(b, true)) {
            until(() -> a.fleet.health(node).isPresent());
            SignalRequest first = signals.ask(node, POD, "SIGUSR1");
            Signal heard = hearSignal(told);
            assertThat(heard.getPodUid() + " " + heard.getSignal()).isEqualTo(POD + " SIGUSR1");
            assertThat(heard.getId()).isEqualTo(first.id());
            assertThat(read(a, first)).isEqualTo(new SignalAnswer.Pending(first.requested()));
            SignalRequest second = signals.ask(node, OTHER_POD, "SIGUSR2");
            assertThat(hearSignal(told).getId()).isEqualTo(second.id());
            told.say(signalled(second.id(), 0, "signals are off \u001b[31m"));
            told.say(signalled(first.id(), 2, ""));
            told.say(signalled(first.id(), 7, ""));
            until(() -> read(a, first).equals(new SignalAnswer.Sent(2)));
            until(() -> read(a, second).equals(new SignalAnswer.Failed("signals are off  [31m")));

            // Answers to withdrawn requests go, and the other one stays.
            signals.forget(node, POD);
            until(() -> !(read(a, first) instanceof SignalAnswer.Pending));
            SignalRequest third = signals.ask(node, OTHER_POD, "SIGTERM");
            assertThat(hearSignal(told).getId()).isEqualTo(third.id());
            told.say(signalled(third.id(), 1, ""));
            until(() -> read(a, third).equals(new SignalAnswer.Sent(1)));
            assertThat(health(".status.signals")).contains(OTHER_POD).doesNotContain(POD);
            assertThat(health(".spec.signals")).doesNotContain(POD);

            // The signals stay beside the other request and the node's own reports.
            LookupRequest lookup = a.ask();
            assertThat(hearLookup(told)).isEqualTo(lookup.id());
            told.say(holdings(lookup.id()));
            assertThat(a.awaitAnswer(lookup)).isInstanceOf(Answered.class);
            told.faults(1, 0);
            assertThat(told.hear().hasGeneration()).isTrue();
            assertThat(health(".status.signals")).contains(OTHER_POD);
        }
    }

    @Test
    void unansweredSignalIsRequestedAgainAndOldDaemonsGetNone() throws Exception {
        Replica a = new Replica(api(), "a");
        SignalRequests signals = new SignalRequests(a.api, a.fleet, Clock.systemUTC());
        SignalRequest request;
        try (TestUplink told = connect(a, true)) {
            until(() -> a.fleet.health(node).isPresent());
            request = signals.ask(node, POD, "SIGUSR1");
            assertThat(hearSignal(told).getId()).isEqualTo(request.id());
        }
        try (TestUplink told = connect(a, true)) {
            assertThat(hearSignal(told).getId()).isEqualTo(request.id());
        }
        try (TestUplink told = connect(a, false)) {
            until(() -> read(a, request) instanceof SignalAnswer.Failed);
            assertThat(((SignalAnswer.Failed) read(a, request)).why()).contains("version");
            assertThat(told.unheard()).isZero();
        }
    }
}
