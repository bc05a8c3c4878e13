package dev.gpuwarden.checks.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.UnresolvedDevice;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OccupancyTest {

    private static final int OWN = 77;
    private static final String UUID =
            NodeFixture.gpu(0).identity().uuid().asOptional().orElseThrow();
    private static final Reading<List<GpuProcess>> NO_PROCESS = Reading.of(List.of());
    private static final Reading<GpuHolders> NO_POD = pods(List.of(), List.of());

    private static Reading<GpuHolders> pods(List<GpuHolder> holders, List<UnresolvedDevice> unresolved) {
        return Reading.of(new GpuHolders(Instant.EPOCH, holders, unresolved, 0));
    }

    private static GpuSnapshot gpu(GpuState state, Reading<List<GpuProcess>> processes) {
        GpuSnapshot any = NodeFixture.gpu(0);
        return new GpuSnapshot(
                any.identity(),
                state,
                "",
                any.frame(),
                any.ageNanos(),
                processes,
                any.processesAgeNanos(),
                0,
                List.of());
    }

    private static Optional<Refusal> of(Reading<List<GpuProcess>> processes, Reading<GpuHolders> pods) {
        return Occupancy.of(gpu(GpuState.ANSWERING, processes), pods, pid -> pid == OWN, OccupancyTest::name);
    }

    private static String name(int pid) {
        return "process " + pid + " (trainer) of trainer.service";
    }

    private static Reading<List<GpuProcess>> process(int pid) {
        return Reading.of(List.of(NodeFixture.process(pid, 1)));
    }

    @Test
    void gpuWithoutHoldersIsFreeBesideTheOwnProcess() {
        assertThat(of(NO_PROCESS, NO_POD)).isEmpty();
        assertThat(of(process(OWN), NO_POD)).isEmpty();
    }

    @Test
    void anotherProcessHoldsTheGpu() {
        assertThat(of(process(4242), NO_POD))
                .contains(new Refusal(
                        "gpu-held", "the GPU is not free, held by process 4242 (trainer) of trainer.service"));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void podHoldsAnIdleGpuByAnyShare(Kind kind) {
        GpuHolder holder = new GpuHolder("ml", "idle-0", "main", UUID, kind, "any");
        assertThat(of(NO_PROCESS, pods(List.of(holder), List.of())))
                .contains(new Refusal("gpu-held", "the GPU is not free, held by pod ml/idle-0"));
        GpuHolder other = new GpuHolder("ml", "idle-0", "main", UUID.replace("GPU-0", "GPU-1"), kind, "any");
        assertThat(of(NO_PROCESS, pods(List.of(other), List.of()))).isEmpty();
    }

    @Test
    void gpuOfUnknownHoldersIsNotFree() {
        UnresolvedDevice device = new UnresolvedDevice("ml", "odd-0", "main", "nvidia.com/gpu", "x", "why");
        assertThat(List.of(
                        of(Reading.absent(Absence.STALE, 0, "listed 90 s ago"), NO_POD),
                        of(NO_PROCESS, Reading.absent(Absence.FAILED, 0, "the kubelet did not answer")),
                        of(NO_PROCESS, pods(List.of(), List.of(device))),
                        Occupancy.of(gpu(GpuState.HUNG, NO_PROCESS), NO_POD, pid -> false, OccupancyTest::name)))
                .allSatisfy(refusal -> assertThat(refusal.orElseThrow().code()).isEqualTo("holder-unknown"))
                .extracting(refusal -> refusal.orElseThrow().text())
                .satisfiesExactly(
                        text -> assertThat(text).contains("listed 90 s ago"),
                        text -> assertThat(text).contains("the kubelet did not answer"),
                        text -> assertThat(text).contains("x of ml/odd-0"),
                        text -> assertThat(text).contains("hung"));
    }
}
