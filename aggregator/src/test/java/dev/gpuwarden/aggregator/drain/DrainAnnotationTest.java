package dev.gpuwarden.aggregator.drain;

import static dev.gpuwarden.aggregator.drain.Some.NOW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.ResetUnits;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DrainAnnotationTest {

    private static final DrainRequest FULL = new DrainRequest(true, Set.of(), false, "Xid 79");

    private static DrainRequest gpus(String... gpus) {
        return new DrainRequest(false, Set.of(gpus), false, "Xid 48");
    }

    // ---- requests ----

    @Test
    void onlyResetOfANamedGpuIsAPartialDrain() {
        assertThat(DrainRequest.of(
                        List.of(Some.event(RecommendedAction.COMPONENT_RESET, "GPU-1", "GPU-2")),
                        ResetUnits.UNKNOWN,
                        true))
                .isEqualTo(new DrainRequest(false, Set.of("GPU-1", "GPU-2"), false, "Xid 48"));
        assertThat(DrainRequest.of(List.of(Some.event(RecommendedAction.COMPONENT_RESET)), ResetUnits.UNKNOWN, true)
                        .full())
                .isTrue();
        for (RecommendedAction action : RecommendedAction.values()) {
            assertThat(DrainRequest.of(List.of(Some.event(action, "GPU-1")), ResetUnits.UNKNOWN, true)
                            .full())
                    .as(action.name())
                    .isEqualTo(action != RecommendedAction.COMPONENT_RESET);
        }
    }

    @Test
    void resetDrainsAllGpusThatCanOnlyBeResetTogether() {
        ResetUnits units = new ResetUnits(Map.of("GPU-1", Set.of("GPU-1", "GPU-3"), "GPU-2", Set.of("GPU-2")));
        HealthEvent reset = Some.event(RecommendedAction.COMPONENT_RESET, "GPU-1", "GPU-2");
        assertThat(DrainRequest.of(List.of(reset), units, true)).isEqualTo(gpus("GPU-1", "GPU-2", "GPU-3"));
    }

    @Test
    void oneFullRequestMakesTheDrainFullAndSkippedFaultsRequestNone() {
        HealthEvent reset = Some.event(RecommendedAction.COMPONENT_RESET, "GPU-1");
        HealthEvent reboot = Some.event(RecommendedAction.RESTART_BM);
        assertThat(DrainRequest.of(List.of(reset, reboot), ResetUnits.UNKNOWN, true)
                        .full())
                .isTrue();
        HealthEvent skipped =
                reboot.toBuilder().drain(new Overrides(false, true)).build();
        assertThat(DrainRequest.of(List.of(reset, skipped), ResetUnits.UNKNOWN, true))
                .isEqualTo(gpus("GPU-1"));
        assertThat(DrainRequest.of(List.of(skipped), ResetUnits.UNKNOWN, true).isNone())
                .isTrue();
        HealthEvent forced = reset.toBuilder().drain(new Overrides(true, false)).build();
        assertThat(DrainRequest.of(List.of(forced), ResetUnits.UNKNOWN, true).full())
                .isTrue();
        assertThat(DrainRequest.of(List.of(forced), ResetUnits.UNKNOWN, true).forced())
                .isTrue();
        assertThat(DrainRequest.of(List.of(forced), ResetUnits.UNKNOWN, false))
                .as("unless senders may")
                .isEqualTo(gpus("GPU-1"));
    }

    // ---- the stored drain ----

    @Test
    void furtherRequestsChangeNothingAfterAFullDrain() {
        DrainAnnotation done = Some.full().finished(NOW);
        assertThat(done.with(FULL, NOW.plusSeconds(9))).isEqualTo(done);
        assertThat(done.with(gpus("GPU-1"), NOW.plusSeconds(9))).isEqualTo(done);
    }

    @Test
    void partialDrainIsDoneOnlyForItsOwnGpu() {
        DrainAnnotation done = Some.partial("GPU-1").finished(NOW);
        assertThat(done.with(gpus("GPU-1"), NOW.plusSeconds(9))).isEqualTo(done);
        DrainAnnotation next = done.with(gpus("GPU-1", "GPU-2"), NOW.plusSeconds(9));
        assertThat(next.active()).isTrue();
        assertThat(next.done()).containsExactly("GPU-1");
        assertThat(next.gpus()).containsEntry("GPU-1", NOW).containsEntry("GPU-2", NOW.plusSeconds(9));
        assertThat(done.with(FULL, NOW).active()).isTrue();
    }

    @Test
    void clearedFaultDoesNotReduceTheDrain() {
        DrainAnnotation drain = Some.partial("GPU-1", "GPU-2");
        assertThat(drain.with(gpus("GPU-2"), NOW.plusSeconds(9))).isEqualTo(drain);
        assertThat(drain.with(DrainRequest.NONE, NOW.plusSeconds(9))).isEqualTo(drain);
        assertThat(Some.full().with(gpus("GPU-2"), NOW)).isEqualTo(Some.full());
    }

    /** Random requests in random order: the annotation is read as it was written, and a request never becomes smaller. */
    @Test
    void annotationIsReadAsWrittenAndRequestsOnlyGrow() throws Exception {
        Random random = new Random(7);
        for (int walk = 0; walk < 200; walk++) {
            DrainAnnotation record = DrainAnnotation.NONE;
            for (int step = 0; step < 8; step++) {
                Instant now = NOW.plusMillis(random.nextInt(100_000));
                DrainAnnotation before = record;
                record = switch (random.nextInt(6)) {
                    case 0 -> record.with(FULL, now);
                    case 1 -> record.with(gpus("GPU-" + random.nextInt(3)), now);
                    case 2 -> record.active() ? record.finished(now) : record;
                    case 3 -> record.partial().isEmpty() ? record : record.escalated("no answer", now);
                    case 4 -> record.finished().isPresent() ? record.reopened(Set.of(), now) : record;
                    default ->
                        record.active()
                                ? record.waiting(
                                        1,
                                        random.nextBoolean(),
                                        List.of(new DrainAnnotation.Waiting("a/b", "evict", "\"why\"", NOW)))
                                : record;
                };
                assertThat(record.gpus().keySet()).containsAll(before.gpus().keySet());
                assertThat(record.full().isPresent() || before.full().isEmpty()).isTrue();
                assertThat(record.done()).containsAll(before.done());
                assertThat(record.gpus().keySet()).containsAll(record.done());
                if (record.active() || record.finished().isPresent()) {
                    assertThat(DrainAnnotation.of(Some.node(Optional.of(record.text()))))
                            .isEqualTo(record);
                }
            }
        }
    }

    @Test
    void errorOfAnInvalidValueNamesTheAnnotation() {
        for (String text : List.of("", "[]", "{\"full\": \"today\"}", "{\"waiting\": [{}]}")) {
            assertThatThrownBy(() -> DrainAnnotation.of(Some.node(Optional.of(text))))
                    .hasMessageContaining("annotation gpuwarden.dev/drain cannot be read");
        }
    }
}
