package dev.gpuwarden.aggregator.drain;

import static dev.gpuwarden.aggregator.drain.Some.NOW;
import static dev.gpuwarden.aggregator.drain.Some.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Pods that hold a GPU by a process alone, in the drain of an operator. */
class GpuProcessesTest {

    private static final GpuProcesses OPEN =
            new GpuProcesses(Map.of("team/a", Set.of("GPU-2", "GPU-1")), Optional.empty(), false);

    private static PodPlan plan(String pod, Map<String, Set<String>> holders) {
        return DrainPlan.of(
                        Some.partial("GPU-1", "GPU-2"),
                        List.of(Some.read(pod)),
                        holders,
                        Some.policies("*=Immediate"),
                        NOW)
                .get(0);
    }

    private static PodPlan named(String pod) {
        return OPEN.named(List.of(plan(pod, Map.of())), "--processes=evict").get(0);
    }

    @Test
    void podOfAProcessIsAHolderAlsoIfItWouldComeAgain() {
        Map<String, Set<String>> holders = Map.of("team/a", Set.of("GPU-1"), "team/b", Set.of("GPU-1"));
        assertThat(OPEN.and(holders, List.of(Some.read(pod("a")), Some.read(pod("b")))))
                .containsOnly(Map.entry("team/a", Set.of("GPU-1", "GPU-2")), Map.entry("team/b", Set.of("GPU-1")));
        String daemons = pod("a").replace("ReplicaSet", "DaemonSet");
        Map<String, Set<String>> open = OPEN.and(Map.of(), List.of(Some.read(daemons)));
        assertThat(open).containsOnlyKeys("team/a");
        assertThat(plan(daemons, open))
                .returns(Step.STAYS, PodPlan::step)
                .returns("it holds a GPU, and its DaemonSet would start it again there", PodPlan::reason);
        String service = daemons.replace(
                "{\"containers", "{\"nodeSelector\": {\"nvidia.com/gpu.deploy.dcgm\": \"true\"}, \"containers");
        assertThat(plan(service, open)).as("the reset stops it").returns(Step.LEFT, PodPlan::step);
        assertThat(OPEN.and(Map.of(), List.of())).as("it has ended").isEmpty();
    }

    @Test
    void eachPodIsNamedWithWhatAnOperatorCanDo() {
        assertThat(named(pod("a")))
                .returns(Step.STAYS, PodPlan::step)
                .returns(
                        "a process of it has GPU-1, GPU-2 open without a request (--processes=evict)", PodPlan::reason);
        assertThat(named(pod("a").replace("ReplicaSet", "DaemonSet")))
                .returns(Step.STAYS, PodPlan::step)
                .returns(
                        "a process of it has GPU-1, GPU-2 open, and its DaemonSet would start it again there",
                        PodPlan::reason);
        assertThat(named(pod("a").replace("\"uid\"", "\"deletionTimestamp\": \"2026-11-22T06:01:00Z\", \"uid\"")))
                .returns(Step.GOING, PodPlan::step);
        assertThat(named(pod("b"))).returns(Step.LEFT, PodPlan::step).returns(DrainPlan.OTHER_GPUS, PodPlan::reason);
        assertThat(named(pod("a").replace("Running", "Succeeded"))).returns(Step.LEFT, PodPlan::step);
    }

    @Test
    void podOfASystemNamespaceHasNoOptionThatEvictsIt() {
        GpuProcesses open = new GpuProcesses(Map.of("kube-system/a", Set.of("GPU-1")), Optional.empty(), false);
        List<PodPlan> plan = DrainPlan.of(
                Some.partial("GPU-1"),
                List.of(Some.read(pod("a").replace("team", "kube-system"))),
                Map.of(),
                Some.policies("*=Immediate"),
                NOW);
        assertThat(open.named(plan, "--processes=evict").get(0).reason())
                .isEqualTo("a process of it has GPU-1 open, and it is in a namespace of the system");
    }
}
