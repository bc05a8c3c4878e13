package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An upgrade of the driver by the GPU Operator, before an action and in the middle of it. */
class DriverUpgradeStepsTest {

    private static final String LABEL = "nvidia.com/gpu-driver-upgrade-state";

    private static void label(StepBench bench, String state) {
        bench.world.labels.put(LABEL, state);
        bench.world.nodeVersion++;
    }

    @ParameterizedTest
    @EnumSource(
            value = MaintenanceKind.class,
            names = {"GPU_RESET", "REBOOT_NODE"})
    void actionWaitsForTheUpgradeAndNamesIt(MaintenanceKind kind) {
        StepBench bench = new StepBench(kind, RebootProvider.JOB);
        label(bench, "drain-required");
        bench.go();
        assertThat(bench.next()).isInstanceOf(Step.Wait.class);
        assertThat(bench.resource.shown().stages().get(0).why())
                .startsWith("waits: Node node-1: the GPU Operator upgrades its driver")
                .endsWith("seen drain-required");
        assertThat(bench.resource.finalizers).isEmpty();
        label(bench, "upgrade-done");
        bench.go();
        assertThat(bench.resource.starts).isOne();
    }

    @ParameterizedTest
    @EnumSource(
            value = MaintenanceKind.class,
            names = {"GPU_RESET", "REBOOT_NODE"})
    void upgradeThatBeginsInTheMiddleWithholdsTheActAndTheServicesReturn(MaintenanceKind kind) {
        StepBench bench = new StepBench(kind, RebootProvider.JOB);
        bench.goUntilJob();
        label(bench, "cordon-required");
        bench.go();
        assertThat(bench.condition(kind.doneCondition()).reason()).isEqualTo("DriverUpgrade");
        assertThat(bench.resource.starts).isZero();
        assertThat(bench.world.labels.values()).doesNotContain("paused-for-gpu-reset");
    }

    @ParameterizedTest
    @EnumSource(
            value = MaintenanceKind.class,
            names = {"GPU_RESET", "REBOOT_NODE"})
    void upgradeThatBeginsBeforeTheStartReleasesTheLock(MaintenanceKind kind) {
        StepBench bench = new StepBench(kind, RebootProvider.JOB);
        while (!bench.world.isLocked()) {
            bench.world.write(bench.resource, bench.next(), bench.resource.version);
        }
        label(bench, "drain-required");
        bench.go();
        assertThat(bench.world.isLocked()).isFalse();
        assertThat(bench.next()).isInstanceOf(Step.Wait.class);
        label(bench, "upgrade-done");
        bench.go();
        assertThat(bench.resource.starts).isOne();
    }

    @Test
    void rebootThatHasWaitedHasItsWholeTime() {
        StepBench bench = new StepBench(MaintenanceKind.REBOOT_NODE, RebootProvider.EXTERNAL);
        label(bench, "drain-required");
        bench.go();
        bench.pass(Duration.ofHours(5));
        label(bench, "upgrade-done");
        bench.go();
        assertThat(bench.resource.ended()).isFalse();
        bench.pass(Duration.ofMinutes(30));
        bench.go();
        assertThat(bench.condition("NodeReady").reason()).isEqualTo("Timeout");
    }

    @Test
    void terminationDoesNotWait() {
        StepBench bench = new StepBench(MaintenanceKind.TERMINATE_NODE, RebootProvider.COMMAND);
        label(bench, "upgrade-failed");
        bench.go();
        assertThat(bench.resource.starts).isOne();
    }
}
