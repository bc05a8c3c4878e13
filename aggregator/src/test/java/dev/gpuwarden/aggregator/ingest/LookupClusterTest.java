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
        try (TestUplink uplink = connect(b, true)) {
            uplink.faults(1, 0, TestFaults.fault(node, "79"));
            uplink.receive();
            LookupRequest first = a.ask();
            assertThat(receiveLookup(uplink)).isEqualTo(first.id());
            assertThat(a.answer(first)).isEqualTo(new Pending(first.requested()));
            uplink.send(holdings(first.id(), holder("train-0"), holder("web")));
            Answered answered = (Answered) a.awaitAnswer(first);
            assertThat(answered.holders().podsOf(GPU).toString()).isEqualTo("[ml/train-0, ml/web]");
            assertThat(answered.holders().asOf()).isEqualTo(AS_OF);
            assertThat(answered.holders().complete()).isTrue();
            assertThat(health(".status.holdings.holders[0].device")).isEqualTo(GPU + "::3");

            // The node's own reports go on beside it, and remove nothing of it.
            uplink.event(2, TestFaults.xid(node, "48"));
            uplink.awaitSequence(2);
            assertThat(health(".status.reporter") + ": " + health(".status.faults[*].errorCode"))
                    .isEqualTo("b: 48 79");
            assertThat(health(".status.holdings.id")).isEqualTo(first.id());
            assertThat(health(".metadata.ownerReferences[0].kind")).isEqualTo("Node");

            LookupRequest second = a.ask();
            assertThat(receiveLookup(uplink)).isEqualTo(second.id());
            uplink.send(holdings(second.id()));
            assertThat(((Answered) a.awaitAnswer(second)).holders().holders()).isEmpty();
            assertThat(a.answer(first)).isEqualTo(new Failed("a newer request replaced this one"));
        }
        assertThat(b.server.metrics().lookups.sums()).containsEntry("asked", 2L).containsEntry("answered", 2L);
        assertThat(a.server.metrics().lookups.sums()).isEmpty();
    }

    @Test
    void requestWaitsForTheNextStreamOfTheNode() throws Exception {
        Replica a = new Replica(api(), "a");
        try (TestUplink uplink = connect(a, true)) {
            assertThat(uplink.pending()).isZero();
        }
        LookupRequest request = a.ask();
        until(() -> a.cache.health(node).flatMap(LookupRequest::open).isPresent());
        try (TestUplink uplink = connect(a, true)) {
            assertThat(receiveLookup(uplink)).isEqualTo(request.id());
            // The stream ends before the answer, so the request is sent again.
        }
        Replica b = new Replica(api(), "b");
        until(() -> b.cache.health(node).isPresent());
        try (TestUplink uplink = connect(b, true)) {
            assertThat(receiveLookup(uplink)).isEqualTo(request.id());
            uplink.send(holdings(request.id(), holder("train-0")));
            assertThat(a.awaitAnswer(request)).isInstanceOf(Answered.class);
        }
        try (TestUplink uplink = connect(b, true)) {
            uplink.faults(1, 0);
            assertThat(uplink.receive().hasGeneration())
                    .as("answered requests are not sent")
                    .isTrue();
        }
    }

    @Test
    void daemonOfTheFirstVersionGetsNoRequestAndTheAnswerNamesTheCause() throws Exception {
        Replica a = new Replica(api(), "a");
        try (TestUplink uplink = connect(a, false)) {
            LookupRequest request = a.ask();
            assertThat(a.awaitAnswer(request))
                    .isInstanceOfSatisfying(
                            Failed.class, failed -> assertThat(failed.why()).contains("version"));
            uplink.faults(1, 0);
            assertThat(uplink.receive().hasGeneration()).isTrue();
        }
    }

    @Test
    void aggregatorWithoutAnInformerSendsNoRequests() throws Exception {
        IngestServer old = aggregator(api(), "old");
        Replica a = new Replica(api(), "a");
        try (TestUplink uplink = connect(old, TestCluster.token(plane, node)).hello(node, true)) {
            uplink.receive();
            LookupRequest request = a.ask();
            uplink.faults(1, 0);
            assertThat(uplink.receive().hasGeneration()).isTrue();
            assertThat(a.answer(request)).isEqualTo(new Pending(request.requested()));
        }
    }

    @Test
    void unrequestedAndLateAnswersAreNotStored() throws Exception {
        Replica a = new Replica(api(), "a");
        try (TestUplink uplink = connect(a, true)) {
            uplink.send(holdings("never-asked", holder("liar")));
            LookupRequest first = a.ask();
            assertThat(receiveLookup(uplink)).isEqualTo(first.id());
            LookupRequest second = a.ask();
            assertThat(receiveLookup(uplink)).isEqualTo(second.id());
            uplink.send(holdings(first.id(), holder("old")));
            uplink.send(holdings(second.id(), holder("new")));
            uplink.send(holdings(second.id(), holder("newer")));
            Answered answered = (Answered) a.awaitAnswer(second);
            assertThat(answered.holders().podsOf(GPU).toString()).isEqualTo("[ml/new]");
            until(() -> a.server.metrics().lookups.sums().getOrDefault("unasked", 0L) == 3);
            assertThat(health(".status.holdings.holders[*].pod")).isEqualTo("new");
        }
    }

    @Test
    void strangeAndLongAnswersAreStoredWithinTheLimits() throws Exception {
        Replica a = new Replica(api(), "a");
        try (TestUplink uplink = connect(a, true)) {
            LookupRequest request = a.ask();
            receiveLookup(uplink);
            uplink.send(holdings(
                    request.id(),
                    IntStream.range(0, 2_000)
                            .mapToObj(i -> holder(i == 0 ? "\u001b[31m" : "p".repeat(240) + i))
                            .toArray(GpuHolder[]::new)));
            GpuHolders holders = ((Answered) a.awaitAnswer(request)).holders();
            assertThat(holders.complete()).isFalse();
            assertThat(holders.holders().size() + holders.unlisted()).isEqualTo(2_000);
            LookupRequest next = a.ask();
            receiveLookup(uplink);
            uplink.send(NodeReport.newBuilder()
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
        try (TestUplink uplink = connect(a, true)) {
            LookupRequest first = b.ask();
            assertThat(receiveLookup(uplink)).isEqualTo(first.id());
            relay.away();
            uplink.send(holdings(first.id(), holder("old")));
            until(() -> a.server.metrics().lookups.sums().containsKey("answered"));
            second = b.ask();
        }
        try (TestUplink uplink = connect(b, true)) {
            assertThat(receiveLookup(uplink)).isEqualTo(second.id());
            uplink.send(holdings(second.id(), holder("new")));
            b.awaitAnswer(second);
            relay.back();
            until(() -> a.server.metrics().lookups.sums().containsKey("late"));
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
