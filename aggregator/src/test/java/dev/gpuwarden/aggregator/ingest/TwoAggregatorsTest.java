package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.cluster.Relay;
import io.grpc.Status;
import java.net.URI;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One node and two aggregators without a connection between them, with one API server that the first can lose. */
class TwoAggregatorsTest extends IngestSetup {

    private Relay relay;
    private IngestServer a;
    private IngestServer b;

    @BeforeEach
    void start() throws Exception {
        relay = parts.add(new Relay(URI.create(plane.url()).getPort()));
        a = aggregator(api(relay), "a");
        b = aggregator(api(), "b");
    }

    private String codes() {
        return health(".status.reporter") + ": " + health(".status.faults[*].errorCode");
    }

    @Test
    void delayedWriteDoesNotReplaceTheOtherAggregatorsWrite() throws Exception {
        try (TestUplink told = connect(a)) {
            told.hear();
            told.faults(1, 0, TestFaults.fault(node, "79"));
            told.hear();
            relay.away();
            told.event(2, TestFaults.xid(node, "48"));
            until(() -> a.behind() == 1);
        }
        try (TestUplink told = connect(b)) {
            assertThat(told.hear().hasWelcome()).isTrue();
            told.faults(1, 2, TestFaults.fault(node, "13"));
            told.hear();
            relay.back();
            until(() -> a.tally().failures.sums().containsKey("superseded"));
            until(() -> a.behind() == 0);
            assertThat(codes()).isEqualTo("b: 13");
            told.event(3, TestFaults.xid(node, "31"));
            told.awaitSequence(3);
            assertThat(codes()).isEqualTo("b: 13 31");
        }
        try (TestUplink told = connect(a)) {
            assertThat(told.hear().getWelcome().getAcknowledgedSequence()).isEqualTo(3);
            told.faults(1, 3);
            told.hear();
            assertThat(codes()).isEqualTo("a: ");
        }
    }

    @Test
    void delayedWriteBeforeTheOtherAggregatorsWriteIsReplaced() throws Exception {
        try (TestUplink told = connect(a)) {
            told.hear();
            told.faults(1, 0, TestFaults.fault(node, "79"));
            told.hear();
            relay.away();
            told.event(2, TestFaults.xid(node, "48"));
            until(() -> a.behind() == 1);
        }
        try (TestUplink told = connect(b)) {
            told.hear();
            relay.back();
            until(() -> codes().equals("a: 48 79"));
            told.faults(1, 2);
            told.hear();
            assertThat(codes()).isEqualTo("b: ");
        }
    }

    @Test
    void olderStreamThatStillReportsIsEnded() throws Exception {
        try (TestUplink older = connect(b)) {
            older.hear();
            try (TestUplink newer = connect(a)) {
                newer.hear();
                newer.faults(1, 0, TestFaults.fault(node, "79"));
                newer.hear();
                older.faults(1, 0);
                Status end = older.end();
                assertThat(end.getCode()).isEqualTo(Status.Code.ABORTED);
                assertThat(end.getDescription()).isEqualTo("the node has opened a newer stream to a");
                newer.event(1, TestFaults.xid(node, "48"));
                newer.awaitSequence(1);
                assertThat(codes()).isEqualTo("a: 48 79");
            }
        }
    }

    @Test
    void changeByAnotherWriterDoesNotStopTheWrites() throws Exception {
        try (TestUplink told = connect(b)) {
            told.hear();
            told.faults(1, 0);
            told.hear();
            plane.client().patch("nodehealth/" + node, "{\"metadata\": {\"annotations\": {\"somebody\": \"else\"}}}");
            told.event(1, TestFaults.xid(node, "79"));
            told.awaitSequence(1);
            assertThat(codes()).isEqualTo("b: 79");
            assertThat(health(".metadata.annotations.somebody")).isEqualTo("else");
        }
    }

    @Test
    void reportOfADeletedNodeIsNotWrittenForItsSuccessor() throws Exception {
        try (TestUplink told = connect(b)) {
            told.hear();
            told.faults(1, 0, TestFaults.fault(node, "79"));
            told.hear();
            plane.client().delete("node/" + node);
            plane.client().delete("nodehealth/" + node);
            TestCluster.node(plane, node);
            told.event(2, TestFaults.xid(node, "48"));
            assertThat(told.end().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(codes()).isEqualTo(": ");
        }
    }
}
