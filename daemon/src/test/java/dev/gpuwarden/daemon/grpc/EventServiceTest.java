package dev.gpuwarden.daemon.grpc;

import static dev.gpuwarden.daemon.grpc.NodeServiceFixture.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.datamodels.Entity;
import dev.gpuwarden.api.datamodels.HealthEvent;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc.PlatformConnectorBlockingStub;
import dev.gpuwarden.api.datamodels.RecommendedAction;
import dev.gpuwarden.api.v1.GetNodeRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.SetHealthyRequest;
import dev.gpuwarden.checks.process.CallingProcess;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventServiceTest {

    @TempDir
    Path folder;

    private ServedNode node;
    private NodeClient checks;

    @BeforeEach
    void start() {
        node = ServedNode.start(folder);
        checks = NodeClient.of(folder.resolve("nvsentinel/nvsentinel.sock"));
    }

    @AfterEach
    void stop() {
        checks.close();
        node.close();
    }

    private PlatformConnectorBlockingStub report() {
        return PlatformConnectorGrpc.newBlockingStub(checks.channel()).withDeadlineAfter(20, TimeUnit.SECONDS);
    }

    private static HealthEvent.Builder event(String id) {
        return HealthEvent.newBuilder()
                .setId(id)
                .setAgent("preflight-dcgm-diag")
                .setComponentClass("GPU")
                .setCheckName("DcgmDiagnosticMemory")
                .setIsFatal(true)
                .setMessage("failed")
                .setRecommendedAction(RecommendedAction.RUN_FIELDDIAG)
                .addErrorCode("DCGM_FR_FAULTY_MEMORY")
                .addEntitiesImpacted(
                        Entity.newBuilder().setEntityType("GPU_UUID").setEntityValue("GPU-1"));
    }

    private static HealthEvents call(HealthEvent.Builder... events) {
        HealthEvents.Builder call = HealthEvents.newBuilder().setVersion(1);
        for (HealthEvent.Builder event : events) {
            call.addEvents(event);
        }
        return call.build();
    }

    @Test
    void acknowledgedEventsAreStored() {
        report().healthEventOccurredV1(call(event("a"), event("b").setCheckName("Other")));
        assertThat(node.store.events(EventFilter.all()))
                .hasSize(2)
                .allMatch(stored -> stored.event().nodeName().equals(ServedNode.NAME));
        assertThat(node.store.faults()).hasSize(2);
        report().healthEventOccurredV1(HealthEvents.getDefaultInstance());
    }

    @Test
    void aRepeatedEventIsAcknowledgedAndNotStoredTwice() {
        report().healthEventOccurredV1(call(event("a")));
        report().healthEventOccurredV1(call(event("a")));
        assertThat(node.store.events(EventFilter.all())).hasSize(1);
    }

    @Test
    void theSocketOfChecksAnswersNoQueriesAndTheOtherTakesEvents() {
        refused(
                Status.Code.UNIMPLEMENTED,
                "NodeService",
                () -> NodeServiceGrpc.newBlockingStub(checks.channel()).getNode(GetNodeRequest.getDefaultInstance()));
        var unused =
                PlatformConnectorGrpc.newBlockingStub(node.client.channel()).healthEventOccurredV1(call(event("a")));
        assertThat(node.store.faults()).hasSize(1);
    }

    @Test
    void aCallIsTakenAsAWholeOrNotAtAll() {
        refused(
                Status.Code.INVALID_ARGUMENT,
                "events[1].checkName: empty",
                () -> report().healthEventOccurredV1(call(event("a"), event("b").clearCheckName())));
        refused(
                Status.Code.PERMISSION_DENIED,
                "events[0].nodeName: another node's name; this is 'node-7'",
                () -> report().healthEventOccurredV1(call(event("a").setNodeName("node-8"))));
        assertThat(node.store.events(EventFilter.all())).isEmpty();
    }

    @Test
    void noEventIsAcknowledgedWhileTheStoreRefusesAndHealthReportsIt() {
        assertThat(health("datamodels.PlatformConnector")).isEqualTo(ServingStatus.SERVING);
        node.full.set(true);
        refused(
                Status.Code.UNAVAILABLE,
                "send the same events again",
                () -> report().healthEventOccurredV1(call(event("a"))));
        assertThat(health("datamodels.PlatformConnector")).isEqualTo(ServingStatus.NOT_SERVING);
        assertThat(health("gpuwarden.v1.NodeService")).isEqualTo(ServingStatus.SERVING);
        assertThat(health("")).isEqualTo(ServingStatus.SERVING);
        node.full.set(false);
        report().healthEventOccurredV1(call(event("a")));
        assertThat(health("datamodels.PlatformConnector")).isEqualTo(ServingStatus.SERVING);
        refused(Status.Code.NOT_FOUND, "", () -> health("no.such.Service"));
    }

    /** The call reaches the socket where its mode is 0666, or its group is the caller's. */
    @Test
    void permissionToAskIsNoneToRaiseOrEndAFault() {
        node.store.accept(ServedNode.xid("79").build());
        callAs(65534, new Owner.Unit("session-3.scope"), true);
        for (NodeClient socket : List.of(node.client, checks)) {
            PlatformConnectorBlockingStub report = PlatformConnectorGrpc.newBlockingStub(socket.channel());
            refused(
                    Status.Code.PERMISSION_DENIED,
                    "seen user 65534",
                    () -> report.healthEventOccurredV1(call(acquittal("syslog-health-monitor"))));
            refused(
                    Status.Code.PERMISSION_DENIED,
                    "seen user 65534",
                    () -> report.healthEventOccurredV1(call(event("a"))));
        }
        assertThat(node.store.faults()).hasSize(2);
        assertThat(node.store.events(EventFilter.all())).hasSize(1);
        assertThat(node.server.stats().refusals(CallStats.RefusedReport.REPORTER))
                .isEqualTo(4);
        assertThat(ask().getFaultCount()).isEqualTo(2);
    }

    /** Root in a container is root on the socket too. */
    @Test
    void rootInAPodEndsNothingByTheSocketForQueries() {
        node.store.accept(ServedNode.xid("79").build());
        callAs(0, AccessPolicyTest.pod("batch", "train-0"), false);
        refused(
                Status.Code.PERMISSION_DENIED,
                "other reporters use the socket of --events.socket",
                () -> PlatformConnectorGrpc.newBlockingStub(node.client.channel())
                        .healthEventOccurredV1(call(acquittal("syslog-health-monitor"))));
        refused(
                Status.Code.PERMISSION_DENIED,
                "outside containers",
                () -> NodeServiceGrpc.newBlockingStub(node.client.channel())
                        .setHealthy(SetHealthyRequest.newBuilder()
                                .setAll(true)
                                .setReason("mine")
                                .build()));
        assertThat(node.store.faults()).hasSize(2);
    }

    @Test
    void aMonitorsPodEndsWhatAnEarlierPodOfItRaisedAndAnotherPodDoesNot() {
        callAs(65534, AccessPolicyTest.pod("monitoring", "dcgm-abcde"), false);
        report().healthEventOccurredV1(call(event("a")));
        assertThat(node.store.faults()).hasSize(1);
        assertThat(node.store.faults().get(0).cause().metadata())
                .containsEntry("gpuwarden.dev/reporter", "pod monitoring/dcgm-abcde, user 65534");
        callAs(0, AccessPolicyTest.pod("batch", "train-0"), false);
        refused(
                Status.Code.PERMISSION_DENIED,
                "events[1]: it ends no fault: expected a report by namespace monitoring, which raised it, or 'gpuwarden"
                        + " set-healthy' by an administrator, seen pod batch/train-0, user 0",
                () -> report().healthEventOccurredV1(
                                call(event("b").setCheckName("Other"), acquittal("preflight-dcgm-diag"))));
        assertThat(node.store.faults()).as("the accusation beside it is stored").hasSize(2);
        assertThat(node.server.stats().refusals(CallStats.RefusedReport.ACQUITTAL))
                .isEqualTo(1);
        callAs(65534, AccessPolicyTest.pod("monitoring", "dcgm-vwxyz"), false);
        report().healthEventOccurredV1(call(acquittal("preflight-dcgm-diag")));
        assertThat(node.store.faults()).hasSize(1);
    }

    @Test
    void aMonitorUnderTheKernelLogsNameEndsItsOwnFaultAndTheKernelLogsStays() {
        node.store.accept(ServedNode.xid("79").build());
        callAs(0, AccessPolicyTest.pod("nvsentinel", "syslog-health-monitor-abcde"), false);
        HealthEvent.Builder same = event("a").setAgent("syslog-health-monitor").setCheckName("SysLogsXIDError");
        report().healthEventOccurredV1(call(same));
        assertThat(node.store.faults()).hasSize(3);
        report().healthEventOccurredV1(call(acquittal("syslog-health-monitor").setCheckName("SysLogsXIDError")));
        assertThat(node.store.faults())
                .hasSize(2)
                .allMatch(fault -> fault.key().reporter().isEmpty());
    }

    @Test
    void noReporterUsesTheNameOfThisNodesChecks() {
        refused(
                Status.Code.PERMISSION_DENIED,
                "events[0].agent: expected the reporter's own name, seen 'gpuwarden'",
                () -> report().healthEventOccurredV1(call(event("a").setAgent("gpuwarden"))));
    }

    private void callAs(int uid, Owner owner, boolean ofNode) {
        node.callers.set((pid, user, connected) -> new CallingProcess(uid, owner, Reading.of(ofNode)));
    }

    private dev.gpuwarden.api.v1.Node ask() {
        return NodeServiceGrpc.newBlockingStub(node.client.channel()).getNode(GetNodeRequest.getDefaultInstance());
    }

    private static HealthEvent.Builder acquittal(String agent) {
        return HealthEvent.newBuilder()
                .setAgent(agent)
                .setComponentClass("GPU")
                .setCheckName(agent.equals("syslog-health-monitor") ? "SysLogsXIDError" : "DcgmDiagnosticMemory")
                .setIsHealthy(true);
    }

    private ServingStatus health(String service) {
        return HealthGrpc.newBlockingStub(node.client.channel())
                .check(HealthCheckRequest.newBuilder().setService(service).build())
                .getStatus();
    }
}
