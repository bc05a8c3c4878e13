package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.api.HealthEventCodec;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reports of monitors of the whole cluster about its nodes, to two aggregators with a real API server. */
class MonitorClusterTest extends IngestSetup {

    private KubeClient api;
    private IngestServer server;
    private IngestServer second;

    @BeforeEach
    void start() throws Exception {
        for (String account : List.of("fabric", "storage", "stranger")) {
            plane.client().apply("""
                    apiVersion: v1
                    kind: ServiceAccount
                    metadata: {name: %s, namespace: gpuwarden}
                    """.formatted(account));
        }
        options.monitors = List.of("gpuwarden/fabric", "gpuwarden/storage");
        api = api();
        server = aggregator(api, "a");
        second = aggregator(api, "b");
    }

    private String token(String account) {
        return TestCluster.tokenOf(plane, account);
    }

    private PlatformConnectorGrpc.PlatformConnectorBlockingStub stub(IngestServer to, String token) throws Exception {
        ManagedChannel channel = NettyChannelBuilder.forAddress(
                        "127.0.0.1", to.address().getPort())
                .overrideAuthority("aggregator")
                .sslContext(GrpcSslContexts.configure(SslContextBuilder.forClient(), SslProvider.JDK)
                        .trustManager(keys.ca.toFile())
                        .build())
                .build();
        parts.add(channel::shutdownNow);
        Metadata headers = new Metadata();
        headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
        return PlatformConnectorGrpc.newBlockingStub(channel)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    private PlatformConnectorGrpc.PlatformConnectorBlockingStub monitor(String account) throws Exception {
        return stub(server, token(account));
    }

    private static HealthEvents call(HealthEvent... events) {
        HealthEvents.Builder call = HealthEvents.newBuilder();
        for (HealthEvent event : events) {
            call.addEvents(HealthEventCodec.toWire(event));
        }
        return call.build();
    }

    private HealthEvent.Builder event(String check) {
        return HealthEvent.of("fabric-monitor", "SWITCH", check)
                .nodeName(node)
                .errorCodes(List.of("DOWN"))
                .generated(TestFaults.SEEN);
    }

    private NodeHealth read() throws Exception {
        return NodeHealth.read(api.get(NodeHealthClient.ALL.path(node)));
    }

    private List<String> checks() throws Exception {
        return read().faults().stream()
                .map(fault -> fault.key().checkName())
                .sorted()
                .toList();
    }

    private static Status refusal(Callable<?> call) {
        try {
            call.call();
        } catch (StatusRuntimeException e) {
            return e.getStatus();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        throw new AssertionError("expected a refusal");
    }

    @Test
    void eachMonitorKeepsItsPlaceBesideTheOthers() throws Exception {
        var fabric = monitor("fabric");
        var storage = monitor("storage");
        var unused = fabric.healthEventOccurredV1(
                call(event("Leaf").fatal(true).build(), event("Spine").build()));
        assertThat(checks()).as("before the node's first report").containsExactly("Leaf", "Spine");
        assertThat(read().generation()).isZero();
        unused = storage.healthEventOccurredV1(call(event("Disk").build()));
        try (TestUplink uplink = connect(server)) {
            uplink.receive();
            uplink.faults(1, 0, TestFaults.fault(node, "79"));
            uplink.receive();
            assertThat(checks()).containsExactly("Disk", "Leaf", "Spine", "SysLogsXIDError");
            unused = fabric.healthEventOccurredV1(
                    call(event("Leaf").errorCodes(List.of()).healthy(true).build()));
            assertThat(checks()).containsExactly("Disk", "Spine", "SysLogsXIDError");
            uplink.faults(2, 0);
            uplink.receive();
            assertThat(checks()).as("after the node's complete report").containsExactly("Disk", "Spine");
            assertThat(read().generation()).isEqualTo(2);
        }
        assertThat(health(".status.monitors[*].name")).isEqualTo("gpuwarden/fabric gpuwarden/storage");
    }

    @Test
    void fatalFaultOfAMonitorIsListedInTheFleet() throws Exception {
        var fabric = monitor("fabric");
        var storage = monitor("storage");
        try (TestUplink healthy = connect(server)) {
            healthy.receive();
            healthy.faults(1, 0);
            healthy.receive();
            assertThat(listed()).matches("\\S+ +Healthy +0 .*");
            var unused =
                    fabric.healthEventOccurredV1(call(event("Leaf").fatal(true).build()));
            assertThat(listed()).matches("\\S+ +Faulty +0 .* Leaf DOWN .*");
            assertThat(health(".status.state")).as("as the node reports").isEqualTo("Healthy");
            unused = storage.healthEventOccurredV1(
                    call(event("Disk").fatal(true).build(), event("Slow").build()));
            unused = fabric.healthEventOccurredV1(
                    call(event("Leaf").healthy(true).build()));
            assertThat(listed()).as("for the other one").matches("\\S+ +Faulty +0 .*");
            healthy.faults(2, 0);
            healthy.receive();
            assertThat(listed()).matches("\\S+ +Faulty +0 .*");
            unused = storage.healthEventOccurredV1(
                    call(event("Disk").healthy(true).build()));
            assertThat(listed()).matches("\\S+ +Healthy +0 .*");
        }
    }

    private String listed() {
        return plane.kubectl("get", "nodehealth", node, "--no-headers").strip();
    }

    @Test
    void callersThatAreNoMonitorsAreRefused() throws Exception {
        Status daemon = refusal(() -> stub(server, TestCluster.token(plane, node))
                .healthEventOccurredV1(call(event("Leaf").build())));
        assertThat(daemon.getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(daemon.getDescription()).contains("--ingest.monitor");
        assertThat(server.metrics().refusals.sums()).containsEntry("other_node", 1L);
        for (String token : List.of(token("stranger"), "not.a.token", plane.token("gpuwarden", "fabric"))) {
            assertThat(refusal(() -> stub(server, token)
                                    .healthEventOccurredV1(call(event("Leaf").build())))
                            .getCode())
                    .isEqualTo(Status.Code.UNAUTHENTICATED);
        }
        try (TestUplink liar = connect(server, token("fabric")).hello(node)) {
            assertThat(liar.end().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        }
        assertThat(health(".metadata.name")).isEmpty();
    }

    @Test
    void callWithAMissingNodeLeavesNothing() throws Exception {
        var fabric = monitor("fabric");
        Status unknown = refusal(() -> fabric.healthEventOccurredV1(
                call(event("Leaf").build(), event("Leaf").nodeName("nowhere").build())));
        assertThat(unknown.getCode()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(unknown.getDescription()).isEqualTo("the cluster has no Node 'nowhere'");
        assertThat(server.metrics().refusals.sums()).containsEntry("no_node", 1L);
        assertThat(read().faults()).isEmpty();
        assertThat(refusal(() -> fabric.healthEventOccurredV1(
                                call(event("Leaf").nodeName("").build())))
                        .getDescription())
                .isEqualTo("events[0].nodeName: expected the name of a Node");
    }

    @Test
    void callBeyondTheLimitsIsRefusedWhole() throws Exception {
        var fabric = monitor("fabric");
        var unused = fabric.healthEventOccurredV1(call(event("Leaf").build()));
        for (int entities : new int[] {65, 100_000}) {
            Status tooMany = refusal(() -> fabric.healthEventOccurredV1(
                    call(event("Spine").entities(entities("a", entities)).build())));
            assertThat(tooMany.getCode()).isIn(Status.Code.INVALID_ARGUMENT, Status.Code.RESOURCE_EXHAUSTED);
        }
        Status full = refusal(() -> fabric.healthEventOccurredV1(
                call(event("Spine").entities(entities("a", 64)).build())));
        assertThat(full.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(full.getDescription()).contains("65 faults reported by gpuwarden/fabric");
        assertThat(checks()).containsExactly("Leaf");
    }

    private static List<Entity> entities(String type, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new Entity(type, "entity-" + i))
                .toList();
    }

    @Test
    void repeatedReportIsNotWrittenAgain() throws Exception {
        var fabric = monitor("fabric");
        var unused = fabric.healthEventOccurredV1(call(event("Leaf").build()));
        String version = health(".metadata.resourceVersion");
        for (int i = 0; i < 5; i++) {
            unused = fabric.healthEventOccurredV1(
                    call(event("Leaf").build(), event("Spine").healthy(true).build()));
        }
        assertThat(health(".metadata.resourceVersion")).isEqualTo(version);
    }

    @Test
    void reportsToTwoAggregatorsAtTheSameTimeAreAllStored() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<Future<?>> calls = new ArrayList<>();
            for (IngestServer to : List.of(server, second)) {
                var stub = stub(to, token("fabric"));
                calls.add(threads.submit(() -> {
                    for (int i = 0; i < 10; i++) {
                        HealthEvents call =
                                call(event(to == server ? "a" + i : "b" + i).build());
                        until(() -> stub.healthEventOccurredV1(call));
                    }
                }));
            }
            for (Future<?> each : calls) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(checks()).hasSize(20);
    }

    /** Repeats a call that the aggregator did not accept, like a sender. */
    private static void until(Runnable call) {
        for (int tries = 1; ; tries++) {
            try {
                call.run();
                return;
            } catch (StatusRuntimeException e) {
                if (tries == 20 || e.getStatus().getCode() != Status.Code.UNAVAILABLE) {
                    throw e;
                }
            }
        }
    }
}
