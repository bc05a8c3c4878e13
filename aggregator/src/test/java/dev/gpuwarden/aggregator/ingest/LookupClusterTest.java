package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer.Answered;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer.Failed;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer.Pending;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupRequest;
import dev.gpuwarden.api.v1.Holdings;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.testkit.cluster.Relay;
import java.net.URI;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Requests for the holders of a node's GPUs, at one of two aggregators with a real API server between them. */
class LookupClusterTest extends QuestionsSetup {

    @Test
    void requestAtOneAggregatorIsAnsweredThroughTheOther() throws Exception {
        Replica a = new Replica(api(), "a");
        Replica b = new Replica(api(), "b");
        try (TestUplink told = connect(b, true)) {
            told.faults(1, 0, TestFaults.fault(node, "79"));
            told.hear();
            LookupRequest first = a.ask();
            assertThat(hearLookup(told)).isEqualTo(first.id());
            assertThat(a.answer(first)).isEqualTo(new Pending(first.requested()));
            told.say(holdings(first.id(), holder("train-0"), holder("web")));
            Answered answered = (Answered) a.awaitAnswer(first);
            assertThat(answered.holders().podsOf(GPU).toString()).isEqualTo("[ml/train-0, ml/web]");
            assertThat(answered.holders().asOf()).isEqualTo(AS_OF);
            assertThat(answered.holders().complete()).isTrue();
            assertThat(health(".status.holdings.holders[0].device")).isEqualTo(GPU + "::3");

            // The node's own reports go on beside it, and remove nothing of it.
            told.event(2, TestFaults.xid(node, "48"));
            told.awaitSequence(2);
            assertThat(health(".status.reporter") + ": " + health(".status.faults[*].errorCode"))
                    .isEqualTo("b: 48 79");
            assertThat(health(".status.holdings.id")).isEqualTo(first.id());
            assertThat(health(".metadata.ownerReferences[0].kind")).isEqualTo("Node");

            LookupRequest second = a.ask();
            assertThat(hearLookup(told)).isEqualTo(second.id());
            told.say(holdings(second.id()));
            assertThat(((Answered) a.awaitAnswer(second)).holders().holders()).isEmpty();
            assertThat(a.answer(first)).isEqualTo(new Failed("a newer request replaced this one"));
        }
        assertThat(b.server.tally().lookups.sums()).containsEntry("asked", 2L).containsEntry("answered", 2L);
        assertThat(a.server.tally().lookups.sums()).isEmpty();
    }

    @Test
    void requestWaitsForTheNextStreamOfTheNode() throws Exception {
        Replica a = new Replica(api(), "a");
        try (TestUplink told = connect(a, true)) {
            assertThat(told.unheard()).isZero();
        }
        LookupRequest request = a.ask();
        until(() -> a.fleet.health(node).flatMap(LookupRequest::open).isPresent());
        try (TestUplink told = connect(a, true)) {
            assertThat(hearLookup(told)).isEqualTo(request.id());
            // The stream ends before the answer, so the request is sent again.
        }
        Replica b = new Replica(api(), "b");
        until(() -> b.fleet.health(node).isPresent());
        try (TestUplink told = connect(b, true)) {
            assertThat(hearLookup(told)).isEqualTo(request.id());
            told.say(holdings(request.id(), holder("train-0")));
            assertThat(a.awaitAnswer(request)).isInstanceOf(Answered.class);
        }
        try (TestUplink told = connect(b, true)) {
            told.faults(1, 0);
            assertThat(told.hear().hasGeneration())
                    .as("answered requests are not sent")
                    .isTrue();
        }
    }

    @Test
    void daemonOfTheFirstVersionGetsNoRequestAndTheAnswerNamesTheCause() throws Exception {
        Replica a = new Replica(api(), "a");
        try (TestUplink told = connect(a, false)) {
            LookupRequest request = a.ask();
            assertThat(a.awaitAnswer(request))
                    .isInstanceOfSatisfying(
                            Failed.class, failed -> assertThat(failed.why()).contains("version"));
            told.faults(1, 0);
            assertThat(told.hear().hasGeneration()).isTrue();
        }
    }

    @Test
    void aggregatorWithoutAnInformerSendsNoRequests() throws Exception {
        IngestServer old = aggregator(api(), "old");
        Replica a = new Replica(api(), "a");
        try (TestUplink told = connect(old, TestCluster.token(plane, node)).hello(node, true)) {
            told.hear();
            LookupRequest request = a.ask();
            told.faults(1, 0);
            assertThat(told.hear().hasGeneration()).isTrue();
            assertThat(a.answer(request)).isEqualTo(new Pending(request.requested()));
        }
    }

    @Test
    void unrequestedAndLateAnswersAreNotStored() throws Exception {
        Replica a = new Replica(api(), "a");
        try (TestUplink told = connect(a, true)) {
            told.say(holdings("never-asked", holder("liar")));
            LookupRequest first = a.ask();
            assertThat(hearLookup(told)).isEqualTo(first.id());
            LookupRequest second = a.ask();
            assertThat(hearLookup(told)).isEqualTo(second.id());
            told.say(holdings(first.id(), holder("old")));
            told.say(holdings(second.id(), holder("new")));
            told.say(holdings(second.id(), holder("newer")));
            Answered answered = (Answered) a.awaitAnswer(second);
            assertThat(answered.holders().podsOf(GPU).toString()).isEqualTo("[ml/new]");
            until(() -> a.server.tally().lookups.sums().getOrDefault("unasked", 0L) == 3);
            assertThat(health(".status.holdings.holders[*].pod")).isEqualTo("new");
        }
    }

    @Test
    void strangeAndLongAnswersAreStoredWithinTheLimits() throws Exception {
        Replica a = new Replica(api(), "a");
        try (TestUplink told = connect(a, true)) {
            LookupRequest request = a.ask();
            hearLookup(told);
            told.say(holdings(
                    request.id(),
                    IntStream.range(0, 2_000)
                            .mapToObj(i -> holder(i == 0 ? "\u001b[31m" : "p".repeat(240) + i))
                            .toArray(GpuHolder[]::new)));
            GpuHolders holders = ((Answered) a.awaitAnswer(request)).holders();
            assertThat(holders.complete()).isFalse();
            assertThat(holders.holders().size() + holders.unlisted()).isEqualTo(2_000);
            LookupRequest next = a.ask();
            hearLookup(told);
            told.say(NodeReport.newBuilder()
                    .setHoldings(Holdings.newBuilder().setId(next.id()).setError("\u001b[31m" + "e".repeat(5_000)))
                    .build());
            assertThat(((Failed) a.awaitAnswer(next)).why())
                    .startsWith(" [31meee")
                    .hasSize(512);
        }
    }

    @Test
    void delayedAnswerDoesNotReplaceANewerOne() throws Exception {
        Relay relay = parts.add(new Relay(URI.create(plane.url()).getPort()));
        Replica a = new Replica(api(relay), "a");
        Replica b = new Replica(api(), "b");
        LookupRequest second;
        try (TestUplink told = connect(a, true)) {
            LookupRequest first = b.ask();
            assertThat(hearLookup(told)).isEqualTo(first.id());
            relay.away();
            told.say(holdings(first.id(), holder("old")));
            until(() -> a.server.tally().lookups.sums().containsKey("answered"));
            second = b.ask();
        }
        try (TestUplink told = connect(b, true)) {
            assertThat(hearLookup(told)).isEqualTo(second.id());
            told.say(holdings(second.id(), holder("new")));
            b.awaitAnswer(second);
            relay.back();
            until(() -> a.server.tally().lookups.sums().containsKey("late"));
            assertThat(health(".status.holdings.holders[*].pod")).isEqualTo("new");
        }
    }

    @Test
    void requestCreatesNoNodeHealth() throws Exception {
        Replica a = new Replica(api(), "a");
        assertThatThrownBy(() -> a.lookups.ask(node))
                .isInstanceOfSatisfying(
                        ApiException.class, e -> assertThat(e.notFound()).isTrue());
        assertThat(health(".metadata.name")).isEmpty();
    }
}
