package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.testkit.cluster.Relay;
import dev.gpuwarden.testkit.cluster.UsedRights;
import io.grpc.Status;
import java.net.URI;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The aggregator with a real API server, the rights of the shipped manifests, and tokens as kubelets project them. */
@ExtendWith(UsedRights.class)
class IngestClusterTest extends IngestSetup {

    private Relay relay;
    private KubeClient api;
    private IngestServer server;

    @BeforeEach
    void start() throws Exception {
        relay = parts.add(new Relay(URI.create(plane.url()).getPort()));
        api = api(relay);
        options.tlsClientCa = keys.ca;
        server = aggregator(api, "a");
    }

    private TestUplink connect() throws Exception {
        return connect(server);
    }

    @Test
    void acknowledgedReportsAreInTheNodeHealth() throws Exception {
        try (TestUplink uplink = connect()) {
            assertThat(uplink.receive().getWelcome().getAcknowledgedSequence()).isZero();
            uplink.faults(41, 0);
            assertThat(uplink.receive().getGeneration()).isEqualTo(41);
            assertThat(health(".status.state")).isEqualTo("Healthy");
            uplink.event(1, TestFaults.xid(node, "79"));
            assertThat(uplink.receive().getSequence()).isEqualTo(1);
            assertThat(health(".status.state")).isEqualTo("Faulty");
            assertThat(health(".status.faults[0].errorCode")).isEqualTo("79");
            assertThat(health(".metadata.ownerReferences[0].kind")).isEqualTo("Node");
            assertThat(plane.kubectl("get", "nodehealth", node))
                    .contains("STATE", "Faulty", "SysLogsXIDError 79 PCI:0000:3b:00", "RESTART_BM");
            uplink.event(2, TestFaults.mended(node));
            assertThat(uplink.receive().getSequence()).isEqualTo(2);
            assertThat(health(".status.state")).isEqualTo("Healthy");
            assertThat(health(".status.faults")).isEqualTo("[]");
        }
    }

    @Test
    void newGenerationEndsFaultsThatItLacks() throws Exception {
        try (TestUplink uplink = connect()) {
            uplink.receive();
            uplink.faults(1, 0, TestFaults.fault(node, "79"), TestFaults.fault(node, "48"));
            uplink.receive();
            assertThat(health(".status.faultCount")).isEqualTo("2");
            uplink.faults(2, 0, TestFaults.fault(node, "48"));
            uplink.receive();
            assertThat(health(".status.faults[*].errorCode")).isEqualTo("48");
        }
    }

    @Test
    void newerStreamOfTheSameNodeEndsTheOlder() throws Exception {
        try (TestUplink old = connect()) {
            old.receive();
            try (TestUplink newer = connect()) {
                newer.receive();
                assertThat(old.end().getCode()).isEqualTo(Status.Code.ABORTED);
                newer.faults(1, 0);
                assertThat(newer.receive().getGeneration()).isEqualTo(1);
                assertThat(server.connected()).isEqualTo(1);
            }
        }
    }

    @Test
    void callersWithoutProofOfIdentityAreRefused() throws Exception {
        TestCluster.node(plane, node + "-gone");
        String gone = TestCluster.token(plane, node + "-gone");
        plane.client().deleteNow("pod/gpuwarden/daemon-" + node + "-gone");
        String[] tokens = {
            "",
            "not.a.token",
            TestCluster.token(plane, node, "another-audience"),
            plane.token("gpuwarden", "gpuwarden"),
            TestCluster.tokenOf(plane, "gpuwarden-aggregator"),
            gone
        };
        for (String token : tokens) {
            try (TestUplink stranger = connect(server, token).hello(node)) {
                assertThat(stranger.end().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
            }
        }
        assertThat(health(".metadata.name")).isEmpty();
    }

    @Test
    void nodeReportsOnlyForItselfAndOthersGoOn() throws Exception {
        String other = node + "-other";
        TestCluster.node(plane, other);
        try (TestUplink honest = connect();
                TestUplink liar =
                        connect(server, TestCluster.token(plane, other)).hello(node);
                TestUplink blamer =
                        connect(server, TestCluster.token(plane, other)).hello(other)) {
            honest.receive();
            assertThat(liar.end().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
            blamer.receive();
            blamer.faults(1, 0);
            blamer.receive();
            blamer.event(1, TestFaults.xid(node, "79"));
            assertThat(blamer.receive().getRefused().getSequence()).isEqualTo(1);
            blamer.faults(2, 1, TestFaults.fault(node, "79"));
            assertThat(blamer.end().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
            honest.faults(1, 0);
            assertThat(honest.receive().getGeneration()).isEqualTo(1);
            assertThat(health(".status.state")).isEqualTo("Healthy");
            assertThat(server.metrics().refusals.sums()).containsEntry("other_node", 3L);
        }
    }

    @Test
    void nodeThatIsNotInTheClusterIsRefused() throws Exception {
        String nowhere = node + "-nowhere";
        TestCluster.pod(plane, nowhere);
        try (TestUplink uplink =
                connect(server, TestCluster.token(plane, nowhere)).hello(nowhere)) {
            assertThat(uplink.end().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        }
    }

    @Test
    void certificateNamesANodeToo() throws Exception {
        keys.certificate(node);
        try (TestUplink uplink = new TestUplink(server.address().getPort(), keys, node, "").hello(node);
                TestUplink liar = new TestUplink(server.address().getPort(), keys, node, "").hello("another")) {
            assertThat(uplink.receive().hasWelcome()).isTrue();
            assertThat(liar.end().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        }
    }

    @Test
    void eventsWaitForTheApiServerAndAreNotLost() throws Exception {
        try (TestUplink uplink = connect()) {
            uplink.receive();
            uplink.faults(1, 0);
            uplink.receive();
            relay.away();
            uplink.event(1, TestFaults.xid(node, "79"));
            uplink.event(2, TestFaults.xid(node, "48"));
            until(() -> server.behind() == 1);
            assertThat(uplink.pending()).isZero();
            assertThat(health(".status.state")).isEqualTo("Healthy");
            relay.back();
            uplink.awaitSequence(2);
            assertThat(health(".status.faultCount")).isEqualTo("2");
            assertThat(server.behind()).isZero();
        }
    }

    @Test
    void newAggregatorContinuesFromTheStoredState() throws Exception {
        try (TestUplink uplink = connect()) {
            uplink.receive();
            uplink.faults(1, 0);
            uplink.receive();
            uplink.event(17, TestFaults.xid(node, "79"));
            uplink.receive();
            server.close();
            assertThat(uplink.end().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        }
        server = aggregator(api, "a");
        try (TestUplink uplink = connect()) {
            assertThat(uplink.receive().getWelcome().getAcknowledgedSequence()).isEqualTo(17);
            // The stored state stays until the node has reported all.
            assertThat(health(".status.state")).isEqualTo("Faulty");
        }
    }

    @Test
    void stormOfOneNodeCausesFewWrites() throws Exception {
        int events = 5_000;
        try (TestUplink uplink = connect()) {
            uplink.receive();
            uplink.faults(1, 0);
            uplink.receive();
            long start = System.nanoTime();
            for (int i = 1; i <= events; i++) {
                uplink.event(i, TestFaults.xid(node, "79"));
            }
            uplink.awaitSequence(events);
            long paces = (System.nanoTime() - start) / PACE.each().toNanos();
            assertThat(health(".status.faults[0].occurrences")).isEqualTo(Integer.toString(events));
            assertThat(server.metrics().written.micros().getTotalCount())
                    .isLessThan(events / 10)
                    .isLessThanOrEqualTo(paces + 2);
        }
    }

    @Test
    void deletedNodeHealthReturnsWithTheNextReport() throws Exception {
        try (TestUplink uplink = connect()) {
            uplink.receive();
            uplink.faults(1, 0, TestFaults.fault(node, "79"));
            uplink.receive();
            plane.client().delete("nodehealth/" + node);
            uplink.event(2, TestFaults.xid(node, "48"));
            uplink.receive();
            assertThat(health(".status.faultCount")).isEqualTo("2");
        }
    }

    @Test
    void largestFaultsOfAStrangerAreStoredAndReadAgain() throws Exception {
        String wide = "<".repeat(300);
        Fault[] faults = IntStream.range(0, 300)
                .mapToObj(i -> HealthEvent.of(wide, wide, i + wide)
                        .id(wide)
                        .nodeName(node)
                        .message(wide + wide)
                        .customAction(wide)
                        .metadata(Map.of("k", wide + wide))
                        .generated(TestFaults.SEEN)
                        .build())
                .map(TestFaults::fault)
                .toArray(Fault[]::new);
        try (TestUplink uplink = connect()) {
            uplink.receive();
            uplink.faults(1, 0, faults);
            assertThat(uplink.receive().getGeneration()).isEqualTo(1);
            NodeHealth read = NodeHealth.read(api.get(NodeHealthClient.ALL.path(node)));
            assertThat(read.nodeUid()).contains(plane.client().get("node/" + node, ".metadata.uid"));
            assertThat(read.faults())
                    .hasSizeGreaterThan(20)
                    .allSatisfy(fault -> assertThat(fault.cause().metadata()).isEqualTo(Map.of("k", wide + wide)));
            assertThat(read.faults().size() + read.unlistedCount()).isEqualTo(300);
        }
    }
}
