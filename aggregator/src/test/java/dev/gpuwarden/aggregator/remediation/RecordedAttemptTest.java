package dev.gpuwarden.aggregator.remediation;

import static dev.gpuwarden.aggregator.remediation.RepairScene.GPU_A;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.remediation.Repair.Outcome;
import dev.gpuwarden.aggregator.remediation.RepairDecision.Kind;
import dev.gpuwarden.aggregator.remediation.RepairFacts.DrainStanding;
import dev.gpuwarden.core.event.RecommendedAction;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Attempts whose resource is made later than recorded, or never. */
class RecordedAttemptTest {

    private static final String RESET_A = "reset-" + GPU_A;

    private final RepairScene scene = new RepairScene();

    @Test
    void resourceThatAppearsAfterItsAttemptWasWithdrawnCounts() {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        Repair attempt = scene.decide().create().get(0);
        scene.drain = RepairFacts.DrainStanding.NONE;
        scene.later(1).decide();
        assertThat(scene.record.history().get(0).withdrawn()).isTrue();

        // The create was on the way, and its answer was lost.
        scene.make(attempt);
        scene.drain = new DrainStanding(true, true, Set.of());
        RepairDecision decision = scene.later(1).decide();
        assertThat(decision.kind()).isEqualTo(Kind.WAIT);
        assertThat(decision.record().history()).containsExactly(attempt);
        scene.later(10).end(MaintenanceKind.GPU_RESET, true);
        assertThat(scene.act()).as("the node has time to report").isEmpty();
        assertThat(scene.record.history().get(0).result().orElseThrow().outcome())
                .isEqualTo(Outcome.SUCCEEDED);
        assertThat(scene.later(300).act()).containsExactly(RESET_A);
        scene.later(10).end(MaintenanceKind.GPU_RESET, true);
        assertThat(scene.later(300).act()).as("two resets were made").containsExactly("restart");
    }

    @Test
    void recordedAttemptIsMadeAfterAKillAndNeverTwice() {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        List<Repair> lost = scene.decide().create();
        assertThat(scene.decide().create()).isEqualTo(lost);
        assertThat(scene.act()).containsExactly(RESET_A);
        assertThat(scene.decide().create()).isEmpty();
        scene.resources.clear();
        RepairDecision deleted = scene.decide();
        assertThat(deleted.create()).isEmpty();
        assertThat(deleted.kind()).isEqualTo(Kind.PERSON);
        assertThat(deleted.why()).contains("its resource was deleted before its end");
    }

    @Test
    void faultThatEndsBeforeTheResourceIsMadeActsNoMore() {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        assertThat(scene.decide().create()).hasSize(1);
        scene.faults.clear();
        assertThat(scene.decide().create()).isEmpty();
        assertThat(scene.record.history().get(0).inProgress()).isFalse();
    }

    @Test
    void attemptWithoutResourceOutlastsAnObstacleThatHidesItsFault() {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        assertThat(scene.decide().create()).hasSize(1);
        var hidden = List.copyOf(scene.faults);
        scene.faults.clear();
        scene.obstacle = Optional.of(RepairObstacle.of("the report is stale"));
        assertThat(scene.decide().create()).isEmpty();
        assertThat(scene.record.history())
                .singleElement()
                .satisfies(attempt -> assertThat(attempt.inProgress()).isTrue());
        scene.faults.addAll(hidden);
        scene.obstacle = Optional.empty();
        assertThat(scene.act()).containsExactly(RESET_A);
    }
}
