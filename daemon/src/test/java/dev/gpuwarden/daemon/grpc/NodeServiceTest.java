package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.gpuwarden.api.v1.GetCheckRequest;
import dev.gpuwarden.api.v1.GetGpuRequest;
import dev.gpuwarden.api.v1.GetNodeRequest;
import dev.gpuwarden.api.v1.Gpu;
import dev.gpuwarden.api.v1.GpuView;
import dev.gpuwarden.api.v1.ListChecksRequest;
import dev.gpuwarden.api.v1.ListEventsRequest;
import dev.gpuwarden.api.v1.ListFaultsRequest;
import dev.gpuwarden.api.v1.ListGpusRequest;
import dev.gpuwarden.api.v1.ListPodMemoryRequest;
import dev.gpuwarden.api.v1.ListPodMemoryResponse;
import dev.gpuwarden.api.v1.ListVramBudgetsRequest;
import dev.gpuwarden.api.v1.MemoryGrouping;
import dev.gpuwarden.api.v1.Node;
import dev.gpuwarden.api.v1.Outcome;
import dev.gpuwarden.api.v1.RunChecksRequest;
import dev.gpuwarden.api.v1.SetHealthyRequest;
import dev.gpuwarden.api.v1.StoredEvent;
import dev.gpuwarden.api.v1.Unreached;
import dev.gpuwarden.api.v1.Verdict;
import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.VramView;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import dev.gpuwarden.watchdog.decision.RecycleRules;
import dev.gpuwarden.watchdog.observation.Tenant;
import io.grpc.Status;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Over a real socket, with a real store. */
class NodeServiceTest extends NodeServiceFixture {

    @Test
    void theNodeReportsItsIdentityAndVerdict() {
        node.checks.run(List.of());
        Node fit = ask().getNode(GetNodeRequest.getDefaultInstance());
        assertThat(fit.getName()).isEqualTo(ServedNode.NAME);
        assertThat(fit.getBootId()).isEqualTo("0d3c");
        assertThat(fit.getVersion()).isEqualTo("1.2.3");
        assertThat(fit.getDaemonStarted().getSeconds()).isEqualTo(ServedNode.STARTED.getEpochSecond());
        assertThat(fit.getDriver().getRunning().getFacts().getDriverVersion().getValue())
                .isNotEmpty();
        assertThat(fit.getGpuCount()).isEqualTo(2);
        assertThat(fit.getUnreachedList())
                .extracting(Unreached::getReceiver, Unreached::getWhy)
                .containsExactly(tuple("webhook", "the server answers 503"));

        node.store.accept(ServedNode.xid("79").build());
        Node unfit = ask().getNode(GetNodeRequest.getDefaultInstance());
        assertThat(unfit.getVerdict()).isEqualTo(Verdict.VERDICT_NOT_FIT);
        assertThat(unfit.getFaultCount()).isEqualTo(2);
        assertThat(unfit.getReasonsList())
                .anyMatch(reason -> reason.getMessage().startsWith("SysLogsXIDError 79: NVRM")
                        && reason.getSubject().equals("GPU-1"));
    }

    @Test
    void gpusAreListedWithAsMuchAsIsAskedFor() {
        List<Gpu> gpus = ask().listGpus(ListGpusRequest.getDefaultInstance()).getGpusList();
        assertThat(gpus)
                .hasSize(2)
                .allSatisfy(gpu -> assertThat(gpu.getReadingsList())
                        .anyMatch(reading -> reading.getName().equals("temperature_celsius") && reading.hasValue()));
        assertThat(ask().listGpus(ListGpusRequest.newBuilder()
                                .setView(GpuView.GPU_VIEW_BASIC)
                                .build())
                        .getGpusList())
                .hasSize(2)
                .allMatch(gpu -> gpu.getReadingsCount() == 0);
    }

    @Test
    void aGpuIsFoundUnderEachOfItsNames() {
        Gpu second = ask().getGpu(GetGpuRequest.newBuilder().setGpu("1").build());
        for (String name : List.of(
                second.getUuid().getValue(),
                second.getPciAddress().getValue(),
                "0000" + second.getPciAddress().getValue())) {
            assertThat(ask().getGpu(GetGpuRequest.newBuilder().setGpu(name).build())
                            .getIndex())
                    .isEqualTo(1);
        }
        refused(
                Status.Code.NOT_FOUND,
                "ListGpus names all",
                () -> ask().getGpu(GetGpuRequest.newBuilder().setGpu("GPU-none").build()));
    }

    @Test
    void checksAreListedAndRunOnRequestWithEvidence() {
        var results = new ArrayList<dev.gpuwarden.api.v1.CheckResult>();
        ask().runChecks(RunChecksRequest.getDefaultInstance()).forEachRemaining(results::add);
        assertThat(results).hasSize(2);
        node.finding.set(
                Finding.fail("port-down", Subject.NODE, "is down", "plug it in", RecommendedAction.CONTACT_SUPPORT));
        var again = ask().runChecks(RunChecksRequest.newBuilder().addIds("port").build());
        assertThat(again.next().getOutcome()).isEqualTo(Outcome.OUTCOME_FAIL);
        assertThat(again.hasNext()).isFalse();

        assertThat(ask().listChecks(ListChecksRequest.getDefaultInstance()).getChecksList())
                .extracting(check -> check.getId() + " " + check.getLast().getOutcome())
                .containsExactlyInAnyOrder("port OUTCOME_FAIL", "other OUTCOME_SKIPPED");
        var port = ask().getCheck(GetCheckRequest.newBuilder().setId("port").build());
        assertThat(port.getLast().getFindings(0).getEvidence(0).getName()).isEqualTo("speed_bits_per_second");
        assertThat(port.getLast().getFindings(0).getRemedy()).isEqualTo("plug it in");
        refused(
                Status.Code.NOT_FOUND,
                "ListChecks",
                () -> ask().getCheck(GetCheckRequest.newBuilder().setId("prot").build()));
        refused(
                Status.Code.INVALID_ARGUMENT,
                "ids: one that no check has",
                () -> ask().runChecks(
                                RunChecksRequest.newBuilder().addIds("prot").build())
                        .next());
    }

    @ParameterizedTest
    @EnumSource(
            names = {"UNRECOGNIZED", "MEMORY_GROUPING_UNSPECIFIED"},
            mode = EnumSource.Mode.EXCLUDE)
    void memoryIsReportedByOwnerAndReadOnceForAllCallers(MemoryGrouping grouping) {
        for (int i = 0; i < 10; i++) {
            ListPodMemoryResponse memory = ask().listPodMemory(ListPodMemoryRequest.newBuilder()
                    .setGrouping(grouping)
                    .build());
            assertThat(memory.getGpusList()).hasSize(2).allSatisfy(gpu -> {
                boolean processes = grouping == MemoryGrouping.MEMORY_GROUPING_PROCESS;
                assertThat(gpu.getSharesList()).hasSize(processes ? 2 : 1);
                assertThat(gpu.getSharesList().stream()
                                .mapToLong(share -> share.getUsedBytes().getValue())
                                .sum())
                        .isEqualTo(3L << 30);
            });
        }
        assertThat(node.memoryLooks).hasValue(1);
    }

    @Test
    void budgetsSurviveTheWire() {
        assertThat(ask().listVramBudgets(ListVramBudgetsRequest.getDefaultInstance())
                        .getGpusList())
                .as("the watchdog is off")
                .isEmpty();
        Instant now = Instant.parse("2026-06-02T12:00:00Z");
        VramStatus known = VramFixture.incident(NodeFixture.identity(0), now);
        VramStatus blind = VramFixture.status(
                NodeFixture.identity(1),
                now,
                Reading.absent(Absence.GPU_LOST, 15, "nvmlDeviceGetMemoryInfo"),
                Reading.absent(Absence.STALE),
                RecycleRules.DEFAULT,
                Map.of());
        node.vram.set(List.of(known, blind));
        assertThat(VramMessages.fromWire(ask().listVramBudgets(ListVramBudgetsRequest.getDefaultInstance())))
                .containsExactly(VramView.of(known), VramView.of(blind));
    }

    @Test
    void budgetsOfManyTenantsFitIntoAMessage() {
        List<Tenant> many = IntStream.range(0, 5000)
                .mapToObj(i -> VramFixture.tenant(i + "\u20ac".repeat(10_000), 20, i))
                .toList();
        VramStatus full = VramFixture.status(
                NodeFixture.identity(0),
                Instant.EPOCH,
                VramFixture.memory(9000),
                Reading.of(many),
                RecycleRules.DEFAULT,
                Map.of());
        node.vram.set(Collections.nCopies(16, full));
        var gpu = ask().listVramBudgets(ListVramBudgetsRequest.getDefaultInstance())
                .getGpus(15);
        assertThat(gpu.getTenantsList())
                .hasSize(64)
                .allMatch(tenant -> tenant.getName().length() <= 128);
        assertThat(gpu.getTenantsLeftOut()).isEqualTo(5000 - 64);
    }

    @Test
    void faultsAreListedUnderConditions() {
        node.store.accept(ServedNode.xid("79").build());
        node.store.accept(ServedNode.xid("13").fatal(false).build());
        assertThat(faults(ListFaultsRequest.newBuilder())).isEqualTo("79 79 13 13");
        assertThat(faults(ListFaultsRequest.newBuilder().setFatalOnly(true))).isEqualTo("79 79");
        assertThat(faults(ListFaultsRequest.newBuilder().addErrorCodes("13"))).isEqualTo("13 13");
        assertThat(faults(ListFaultsRequest.newBuilder().setEntityValue("GPU-1")))
                .isEqualTo("79 13");
        assertThat(faults(ListFaultsRequest.newBuilder().addAgents("gpuwarden")))
                .isEmpty();
        assertThat(faults(ListFaultsRequest.newBuilder().addCheckNames("SysLogsXIDError")))
                .isEqualTo("79 79 13 13");
    }

    private String faults(ListFaultsRequest.Builder request) {
        return ask().listFaults(request.build()).getFaultsList().stream()
                .map(fault -> fault.getKey().getErrorCode())
                .reduce((a, b) -> a + " " + b)
                .orElse("");
    }

    @Test
    void onlyTheSelectedFaultsAreCleared() {
        node.store.accept(ServedNode.xid("79").build());
        node.store.accept(ServedNode.xid("13").build());
        var response = ask().setHealthy(SetHealthyRequest.newBuilder()
                .setReason("riser replaced, ticket 4711")
                .addErrorCodes("79")
                .addEntities(dev.gpuwarden.api.datamodels.Entity.newBuilder()
                        .setEntityType(Entity.GPU_UUID)
                        .setEntityValue("GPU-1"))
                .build());
        assertThat(response.getClearedList())
                .hasSize(2)
                .allMatch(key -> key.getErrorCode().equals("79"));
        assertThat(node.store.faults())
                .hasSize(2)
                .allMatch(fault -> fault.key().errorCode().equals("13"));
        StoredEvent said = ask().listEvents(
                        ListEventsRequest.newBuilder().setIsHealthy(true).build())
                .getEvents(0);
        assertThat(said.getEvent().getMessage())
                .startsWith("set healthy by uid ")
                .endsWith(": riser replaced, ticket 4711");
        assertThat(said.getEvent().getMetadataMap()).containsKeys(ClearFaults.REASON, ClearFaults.REQUESTED_BY);

        assertThat(ask().setHealthy(SetHealthyRequest.newBuilder()
                                .setReason("node replaced")
                                .setAll(true)
                                .build())
                        .getClearedCount())
                .isEqualTo(2);
        assertThat(node.store.faults()).isEmpty();
    }

    @Test
    void noFaultIsClearedWithoutReasonAndSelection() {
        refused(
                Status.Code.INVALID_ARGUMENT,
                "reason: expected 1 to",
                () -> ask().setHealthy(
                                SetHealthyRequest.newBuilder().setAll(true).build()));
        refused(
                Status.Code.INVALID_ARGUMENT,
                "in one line",
                () -> ask().setHealthy(SetHealthyRequest.newBuilder()
                        .setAll(true)
                        .setReason("a\nb")
                        .build()));
        refused(
                Status.Code.INVALID_ARGUMENT,
                "either conditions",
                () -> ask().setHealthy(
                                SetHealthyRequest.newBuilder().setReason("r").build()));
        refused(
                Status.Code.INVALID_ARGUMENT,
                "either conditions",
                () -> ask().setHealthy(SetHealthyRequest.newBuilder()
                        .setReason("r")
                        .setAll(true)
                        .setAgent("a")
                        .build()));
        node.store.accept(ServedNode.xid("79").build());
        node.full.set(true);
        refused(
                Status.Code.UNAVAILABLE,
                "takes nothing",
                () -> ask().setHealthy(SetHealthyRequest.newBuilder()
                        .setReason("r")
                        .setAll(true)
                        .build()));
        assertThat(node.store.faults()).hasSize(2);
    }
}
