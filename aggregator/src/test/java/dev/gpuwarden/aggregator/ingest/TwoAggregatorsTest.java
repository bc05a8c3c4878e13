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
        try (TestUplink uplink = connect(a)) {
            uplink.receive();
            uplink.faults(1, 0, TestFaults.fault(node, "79"));
            uplink.receive();
            relay.away();
            uplink.event(2, TestFaults.xid(node, "48"));
            until(() -> a.behind() == 1);
        }
        try (TestUplink uplink = connect(b)) {
            assertThat(uplink.receive().hasWelcome()).isTrue();
            uplink.faults(1, 2, TestFaults.fault(node, "13"));
            uplink.receive();
            relay.back();
            until(() -> a.metrics().failures.sums().containsKey("superseded"));
            until(() -> a.behind() == 0);
            assertThat(codes()).isEqualTo("b: 13");
            uplink.event(3, TestFaults.xid(node, "31"));
            uplink.awaitSequence(3);
            assertThat(codes()).isEqualTo("b: 13 31");
        }
        try (TestUplink uplink = connect(a)) {
            assertThat(uplink.receive().getWelcome().getAcknowledgedSequence()).isEqualTo(3);
            uplink.faults(1, 3);
            uplink.receive();
            assertThat(codes()).isEqualTo("a: ");
        }
    }

    @Test
    void delayedWriteBeforeTheOtherAggregatorsWriteIsReplaced() throws Exception {
        try (TestUplink uplink = connect(a)) {
            uplink.receive();
            uplink.faults(1, 0, TestFaults.fault(node, "79"));
            uplink.receive();
            relay.away();
            uplink.event(2, TestFaults.xid(node, "48"));
            until(() -> a.behind() == 1);
        }
        try (TestUplink uplink = connect(b)) {
            uplink.receive();
            relay.back();
            until(() -> codes().equals("a: 48 79"));
            uplink.faults(1, 2);
            uplink.receive();
            assertThat(codes()).isEqualTo("b: ");
        }
    }

    @Test
    void olderStreamThatStillReportsIsEnded() throws Exception {
        try (TestUplink older = connect(b)) {
            older.receive();
            try (TestUplink newer = connect(a)) {
                newer.receive();
                newer.faults(1, 0, TestFaults.fault(node, "79"));
                newer.receive();
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
        try (TestUplink uplink = connect(b)) {
            uplink.receive();
            uplink.faults(1, 0);
            uplink.receive();
            plane.client().patch("nodehealth/" + node, "{\"metadata\": {\"annotations\": {\"somebody\": \"else\"}}}");
            uplink.event(1, TestFaults.xid(node, "79"));
            uplink.awaitSequence(1);
            assertThat(codes()).isEqualTo("b: 79");
            assertThat(health(".metadata.annotations.somebody")).isEqualTo("else");
        }
    }

    @Test
    void reportOfADeletedNodeIsNotWrittenForItsSuccessor() throws Exception {
        try (TestUplink uplink = connect(b)) {
            uplink.receive();
            uplink.faults(1, 0, TestFaults.fault(node, "79"));
            uplink.receive();
            plane.client().delete("node/" + node);
            plane.client().delete("nodehealth/" + node);
            TestCluster.node(plane, node);
            uplink.event(2, TestFaults.xid(node, "48"));
            assertThat(uplink.end().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(codes()).isEqualTo(": ");
        }
    }
}
