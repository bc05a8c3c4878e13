package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.api.kube.ForeignJanitor;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Another janitor, or its definitions, beside this one: before an action, and in the middle of it. */
class OtherJanitorTest {

    private static final String PAUSED = "paused-for-gpu-reset";
    /** The fields of a status that the definitions of NVSentinel's janitor keep. */
    private static final Set<String> THEIRS = Set.of("startTime", "completionTime", "conditions");

    private static StepBench reset() {
        return new StepBench(MaintenanceKind.GPU_RESET, RebootProvider.JOB);
    }

    private static void isUndone(StepBench bench) {
        assertThat(bench.world.labels.values()).as("services").doesNotContain(PAUSED);
        assertThat(bench.resource.ended()).isTrue();
        assertThat(bench.resource.finalizers).doesNotContain(Maintenance.FINALIZER);
        assertThat(bench.world.holder()).as("lock").isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = MaintenanceKind.class,
            names = {"GPU_RESET", "REBOOT_NODE"})
    void actionSucceedsWithTheDefinitionsOfTheOther(MaintenanceKind kind) {
        StepBench bench = new StepBench(kind, RebootProvider.JOB);
        bench.resource.kept = THEIRS;
        bench.go();
        bench.world.bootId = "boot-2";
        bench.endJob(true);
        bench.go();
        assertThat(bench.condition(kind.doneCondition()).isTrue()).isTrue();
        assertThat(bench.resource.starts).isOne();
        assertThat(bench.resource.status.keySet()).isSubsetOf(THEIRS);
        isUndone(bench);
    }

    @Test
    void definitionsThatChangeInTheMiddleLoseNoService() {
        StepBench bench = reset();
        bench.goUntilJob();
        assertThat(bench.world.labels.values()).containsOnly(PAUSED);
        bench.resource.kept = THEIRS;
        bench.resource.changed();
        bench.go();
        bench.endJob(true);
        bench.go();
        assertThat(bench.condition("Complete").isTrue()).isTrue();
        assertThat(bench.condition("ServicesRestored").reason()).isEqualTo("ServicesRestored");
        isUndone(bench);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void definitionsWithoutConditionsEndTheActionAndUndoIt(boolean begun) {
        StepBench bench = reset();
        if (begun) {
            bench.goUntilJob();
        }
        bench.resource.kept = Set.of("startTime", "completionTime");
        bench.resource.changed();
        bench.go();
        assertThat(bench.resource.starts).isZero();
        isUndone(bench);
    }

    @Test
    void actionWithoutItsRecordNamesTheDefinition() {
        StepBench bench = reset();
        bench.goUntilJob();
        bench.resource.status.keySet().retainAll(THEIRS);
        bench.resource.status.put("conditions", List.of());
        bench.go();
        Condition done = bench.condition("Complete");
        assertThat(done.reason()).isEqualTo("StatusNotKept");
        assertThat(done.message())
                .startsWith(
                        "the status of GPUReset maintenance-r0: expected the condition gpuwarden.dev/ActionRecorded")
                .contains("gpuresets.janitor.dgxc.nvidia.com");
        isUndone(bench);
    }

    @ParameterizedTest
    @EnumSource(
            value = MaintenanceKind.class,
            names = {"GPU_RESET", "REBOOT_NODE"})
    void finalizerOfTheOtherInTheMiddleEndsTheActionAndUndoesIt(MaintenanceKind kind) {
        StepBench bench = new StepBench(kind, RebootProvider.JOB);
        bench.goUntilJob();
        bench.resource.finalizers.add(ForeignJanitor.FINALIZER);
        bench.resource.changed();
        bench.go();
        assertThat(bench.condition(kind.doneCondition()).reason()).isEqualTo("OtherJanitor");
        assertThat(bench.resource.starts).isZero();
        assertThat(bench.resource.finalizers).containsExactly(ForeignJanitor.FINALIZER);
        isUndone(bench);
    }

    @Test
    void statusOfTheOtherInTheMiddleEndsTheActionAndUndoesIt() {
        StepBench bench = reset();
        bench.goUntilJob();
        bench.resource.writtenByOther(Map.of());
        bench.go();
        assertThat(bench.condition("Complete").reason()).isEqualTo("OtherJanitor");
        assertThat(bench.condition("Complete").message())
                .contains("the status of GPUReset maintenance-r0 is written by janitor");
        assertThat(bench.resource.starts).isZero();
        isUndone(bench);
    }

    @Test
    void resetThatRunsIsAwaitedBeforeTheServicesReturn() {
        StepBench bench = reset();
        bench.go();
        bench.resource.job.orElseThrow().begunOnNode = true;
        bench.resource.writtenByOther(Map.of("completionTime", bench.world.now.toString()));
        bench.go();
        assertThat(bench.resource.job)
                .as("a reset that is cut off leaves a GPU in an unknown state")
                .isPresent();
        assertThat(bench.world.labels.values()).containsOnly(PAUSED);
        bench.endJob(true);
        bench.go();
        isUndone(bench);
    }

    @Test
    void resourceThatTheOtherHasBegunIsLeftWithItsLock() {
        StepBench bench = reset();
        while (!(bench.next() instanceof Step.SetStatus)) {
            bench.world.write(bench.resource, bench.next(), bench.resource.version);
        }
        bench.resource.writtenByOther(Map.of("startTime", bench.world.now.toString()));
        bench.go();
        assertThat(bench.next()).isInstanceOf(Step.Leave.class);
        assertThat(bench.resource.finalizers).isEmpty();
        assertThat(bench.world.holder()).as("the owner is the resource").contains(bench.resource);
        assertThat(bench.world.labels.values()).doesNotContain(PAUSED);
    }
}
