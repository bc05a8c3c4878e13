package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.ServiceLabels;
import dev.gpuwarden.aggregator.maintenance.Stage;
import dev.gpuwarden.aggregator.maintenance.Stage.State;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Jobs and services in the middle of an action: late, suspended by others, deleted, and still returning. */
class StepTimesTest {

    private static final String PAUSED = "paused-for-gpu-reset";

    @ParameterizedTest
    @EnumSource(
            value = MaintenanceKind.class,
            names = {"GPU_RESET", "REBOOT_NODE"})
    void programThatHasBegunDecidesItself(MaintenanceKind kind) {
        StepBench bench = new StepBench(kind, RebootProvider.JOB);
        bench.go();
        bench.resource.job.orElseThrow().begunOnNode = true;
        bench.world.cordoned = false;
        bench.go();
        assertThat(bench.resource.job)
                .as("a reset that is cut off leaves a GPU in an unknown state")
                .isPresent();
        bench.endJob(4, "withheld: Node node-1: expected a cordoned Node, seen one without a cordon");
        bench.go();
        assertThat(bench.condition(kind.doneCondition()).reason()).isEqualTo("RefusedOnNode");
        assertThat(bench.world.labels.values()).doesNotContain(PAUSED);
    }

    @Test
    void jobThatAnotherControllerSuspendsIsStoppedWhileTheNodeMayStillReboot() {
        StepBench bench = new StepBench(MaintenanceKind.REBOOT_NODE, RebootProvider.JOB);
        bench.go();
        bench.suspendJob();
        bench.go();
        assertThat(bench.resource.job).as("it could be resumed").isEmpty();
        assertThat(bench.resource.ended()).isFalse();
        bench.world.bootId = "boot-2";
        bench.go();
        assertThat(bench.condition("NodeReady").isTrue()).isTrue();
        assertThat(bench.resource.starts).isOne();
    }

    @Test
    void resourceThatIsDeletedInTheMiddleRestoresTheServicesBeforeItGoes() {
        StepBench bench = new StepBench(MaintenanceKind.GPU_RESET, RebootProvider.JOB);
        bench.goUntilJob();
        bench.world.delete(bench.resource);
        while (!bench.resource.ended()) {
            bench.world.write(bench.resource, bench.next(), bench.resource.version);
            bench.operate();
        }
        assertThat(bench.condition("Terminating").message())
                .isEqualTo("GPUReset maintenance-r0 was deleted in the middle");
        assertThat(bench.condition("Complete").reason()).isEqualTo("Cancelled");
        assertThat(bench.world.labels.values()).doesNotContain(PAUSED);
        bench.go();
        assertThat(bench.resource.gone).isTrue();
        assertThat(bench.resource.starts).isZero();
        assertThat(bench.world.holder()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = MaintenanceKind.class,
            names = {"GPU_RESET", "REBOOT_NODE"})
    void jobThatStartsLateHasItsWholeTime(MaintenanceKind kind) {
        StepBench bench = new StepBench(kind, RebootProvider.JOB);
        bench.goUntilJob();
        // No replica leads between the creation of the Job and its start.
        bench.pass(Duration.ofHours(1));
        bench.go();
        assertThat(bench.resource.starts).isOne();
        assertThat(bench.resource.job).as("not stopped in the middle").isPresent();
        bench.pass(Duration.ofMinutes(5));
        bench.endJob(true);
        bench.world.bootId = "boot-2";
        bench.go();
        assertThat(bench.condition(kind.doneCondition()).isTrue()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = MaintenanceKind.class,
            names = {"GPU_RESET", "REBOOT_NODE"})
    void jobThatTakesLongIsReadLessOften(MaintenanceKind kind) {
        StepBench bench = new StepBench(kind, RebootProvider.JOB);
        bench.go();
        List<Duration> waits = waitsUntilTheEnd(bench);
        assertThat(waits.get(0)).isEqualTo(Duration.ofSeconds(1));
        assertThat(waits).as("reads within the limit").hasSizeBetween(60, 200);
        assertThat(Collections.max(waits)).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void podsThatDoNotComeOrGoAreReadLessOften() {
        StepBench bench = new StepBench(MaintenanceKind.GPU_RESET, RebootProvider.JOB);
        bench.operates = false;
        bench.go();
        bench.world.podReady.clear();
        bench.world.podReady.put(ServiceLabels.LABELS.get(0), true);
        Instant begin = bench.world.now;
        List<Duration> waits = waitsUntilTheEnd(bench);
        assertThat(waits).hasSizeLessThan(50);
        assertThat(Duration.between(begin, bench.world.now))
                .as("the limit of 5 minutes")
                .isBetween(Duration.ofMinutes(5), Duration.ofMinutes(5).plusSeconds(1));
    }

    /** Lets each wait of one step pass, and returns them all. */
    private static List<Duration> waitsUntilTheEnd(StepBench bench) {
        List<Duration> waits = new ArrayList<>();
        while (bench.next() instanceof Step.Wait wait) {
            waits.add(wait.most());
            bench.pass(wait.most());
        }
        return waits;
    }

    @Test
    void servicesThatReturnAreNoFailureBeforeTheirTimeIsOver() {
        StepBench bench = new StepBench(MaintenanceKind.GPU_RESET, RebootProvider.JOB);
        MaintenanceCache cache = new MaintenanceCache(node -> {});
        bench.go();
        bench.operates = false;
        bench.endJob(true);
        bench.go();
        Optional<Instant> begin = Optional.of(bench.world.now);
        assertThat(bench.condition("ServicesRestored").reason()).isEqualTo("RestoringServices");
        assertThat(bench.restored())
                .isEqualTo(Stage.of("services restored", State.IN_PROGRESS, "").from(begin));
        cache.keep(bench.resource.read());
        assertThat(cache.servicesNotRestored()).isZero();

        bench.pass(Duration.ofMinutes(10));
        bench.go();
        Condition late = bench.condition("ServicesRestored");
        assertThat(late.reason()).isEqualTo("RestoreTimeoutExceeded");
        assertThat(bench.restored())
                .isEqualTo(Stage.of("services restored", State.FAILED, late.message())
                        .from(begin)
                        .until(Optional.of(bench.world.now)));
        cache.keep(bench.resource.read());
        assertThat(cache.servicesNotRestored()).isOne();
    }

    @Test
    void servicesThatDidNotStopHaveTheWholeTimeToReturn() {
        StepBench bench = new StepBench(MaintenanceKind.GPU_RESET, RebootProvider.JOB);
        bench.operates = false;
        bench.go();
        bench.pass(Duration.ofMinutes(5));
        bench.world.write(bench.resource, bench.next(), bench.resource.version);
        bench.world.podReady.clear();
        bench.go();
        assertThat(bench.condition("ServicesRestored").reason()).isEqualTo("RestoringServices");
        bench.pass(Duration.ofMinutes(10).minusSeconds(1));
        assertThat(bench.next()).isInstanceOf(Step.Wait.class);
        bench.pass(Duration.ofSeconds(1));
        bench.go();
        assertThat(bench.condition("ServicesRestored").reason()).isEqualTo("RestoreTimeoutExceeded");
        assertThat(bench.condition("Complete").reason()).isEqualTo("ServiceTeardownTimeoutExceeded");
    }

    @Test
    void completedResourceIsKeptForItsTimeAndThenDeleted() {
        StepBench bench = new StepBench(MaintenanceKind.REBOOT_NODE, RebootProvider.EXTERNAL);
        bench.go();
        bench.world.bootId = "boot-2";
        bench.go();
        assertThat(bench.condition("NodeReady").isTrue()).isTrue();
        bench.pass(Duration.ofDays(14).minusSeconds(1));
        assertThat(bench.next()).isEqualTo(new Step.Wait(Duration.ofSeconds(1)));
        bench.pass(Duration.ofSeconds(1));
        bench.go();
        assertThat(bench.resource.gone).isTrue();
    }
}
