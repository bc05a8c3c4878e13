package dev.gpuwarden.aggregator.drain;

import static dev.gpuwarden.aggregator.drain.Some.NOW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.aggregator.quarantine.CurrentFaults;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.HealthEventFields;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.OpenVerification;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DrainAnnotationTest {

    private static final DrainRequest FULL = new DrainRequest(true, Set.of(), false, "Xid 79");

    /** The GPUs that the node reports. */
    private static final ReportedGpus THERE = TestGpus.ofUnknownUnits("GPU-1", "GPU-2");

    private static DrainRequest gpus(String... gpus) {
        return new DrainRequest(false, Set.of(gpus), false, "Xid 48");
    }

    // ---- requests ----

    @Test
    void onlyResetOfANamedGpuIsAPartialDrain() {
        assertThat(DrainRequest.of(
                        List.of(Some.event(RecommendedAction.COMPONENT_RESET, "GPU-1", "GPU-2")), THERE, true))
                .isEqualTo(new DrainRequest(false, Set.of("GPU-1", "GPU-2"), false, "Xid 48"));
        assertThat(DrainRequest.of(List.of(Some.event(RecommendedAction.COMPONENT_RESET)), THERE, true)
                        .full())
                .isTrue();
        for (RecommendedAction action : RecommendedAction.values()) {
            assertThat(DrainRequest.of(List.of(Some.event(action, "GPU-1")), THERE, true)
                            .full())
                    .as(action.name())
                    .isEqualTo(action != RecommendedAction.COMPONENT_RESET);
        }
    }

    @Test
    void resetDrainsAllGpusThatCanOnlyBeResetTogether() {
        ReportedGpus units = TestGpus.units(List.of("GPU-1", "GPU-3"), List.of("GPU-2"));
        HealthEvent reset = Some.event(RecommendedAction.COMPONENT_RESET, "GPU-1", "GPU-2");
        assertThat(DrainRequest.of(List.of(reset), units, true)).isEqualTo(gpus("GPU-1", "GPU-2", "GPU-3"));
    }

    @Test
    void oneFullRequestMakesTheDrainFullAndSkippedFaultsRequestNone() {
        HealthEvent reset = Some.event(RecommendedAction.COMPONENT_RESET, "GPU-1");
        HealthEvent reboot = Some.event(RecommendedAction.RESTART_BM);
        assertThat(DrainRequest.of(List.of(reset, reboot), THERE, true).full()).isTrue();
        HealthEvent skipped =
                reboot.toBuilder().drain(new Overrides(false, true)).build();
        assertThat(DrainRequest.of(List.of(reset, skipped), THERE, true)).isEqualTo(gpus("GPU-1"));
        assertThat(DrainRequest.of(List.of(skipped), THERE, true).isNone()).isTrue();
        HealthEvent forced = reset.toBuilder().drain(new Overrides(true, false)).build();
        assertThat(DrainRequest.of(List.of(forced), THERE, true).full()).isTrue();
        assertThat(DrainRequest.of(List.of(forced), THERE, true).forced()).isTrue();
        assertThat(DrainRequest.of(List.of(forced), THERE, false))
                .as("unless senders may")
                .isEqualTo(gpus("GPU-1"));
    }

    @Test
    void resetOfAGpuThatTheNodeDoesNotReportDrainsNoPod() {
        HealthEvent typo = Some.event(RecommendedAction.COMPONENT_RESET, "GPU-7");
        HealthEvent reset = Some.event(RecommendedAction.COMPONENT_RESET, "GPU-1");
        assertThat(DrainRequest.of(List.of(typo), THERE, true).isNone()).isTrue();
        assertThat(DrainRequest.of(List.of(reset), ReportedGpus.NONE, true).isNone())
                .as("the node reports no GPUs yet")
                .isTrue();
        assertThat(DrainRequest.of(List.of(reset), TestGpus.cut(TestGpus.units(List.of("GPU-2"))), true)
                        .isNone())
                .as("its unit may be missing")
                .isTrue();
        assertThat(DrainRequest.of(List.of(typo, reset), THERE, true)).isEqualTo(gpus("GPU-1"));
    }

    // ---- what is current ----

    private static CachedNode quarantined(HealthEvent... holding) {
        return CachedNode.of(Map.of(
                "metadata",
                Map.of(
                        "name",
                        "n",
                        "annotations",
                        Map.of(
                                NodeAnnotations.EVENTS,
                                Json.write(Stream.of(holding)
                                        .map(HealthEventFields::of)
                                        .toList()))),
                "spec",
                Map.of("unschedulable", true)));
    }

    private static CurrentFaults current(HealthEvent... causes) {
        return new CurrentFaults(
                Stream.of(causes)
                        .flatMap(cause -> cause.keys().stream().map(key -> new Fault(key, cause, 1, NOW, NOW, 1)))
                        .toList(),
                THERE);
    }

    private static HealthEvent of(RecommendedAction action, String gpu) {
        return Some.event(action).toBuilder().entities(List.of(Entity.gpu(gpu))).build();
    }

    private static HealthEvent held(HealthEvent event) {
        return event.toBuilder().metadata(Map.of(HealthEvent.OUTCOME, "pass")).build();
    }

    @Test
    void faultThatIsOverOrHeldDrainsNoPod() throws Exception {
        HealthEvent reboot = of(RecommendedAction.RESTART_BM, "GPU-1");
        HealthEvent reset = of(RecommendedAction.COMPONENT_RESET, "GPU-2");
        CachedNode node = quarantined(reboot, reset);
        assertThat(DrainRequest.of(node, current(reboot, reset), true).full()).isTrue();
        assertThat(DrainRequest.of(node, current(held(reboot), reset), true)).isEqualTo(gpus("GPU-2"));
        assertThat(DrainRequest.of(node, current(reset), true)).isEqualTo(gpus("GPU-2"));
        assertThat(DrainRequest.of(node, current(held(reboot), held(reset)), true)
                        .isNone())
                .isTrue();
        assertThat(DrainRequest.of(node, CurrentFaults.NONE, true).isNone())
                .as("without a NodeHealth nothing is known")
                .isTrue();
        CachedNode released = CachedNode.of(
                Map.of("metadata", JsonTrees.object(node.tree(), "metadata"), "spec", Map.of("unschedulable", false)));
        assertThat(DrainRequest.of(released, current(reboot), true).isNone()).isTrue();
    }

    @Test
    void podLeavesOnlyForAFaultThatIsCurrent() {
        DrainAnnotation both = Some.partial("GPU-1", "GPU-2");
        PodView one = Some.read(Some.pod("one"));
        PodView two = Some.read(Some.pod("two"));
        GpuHolderSource.Answer holders =
                new GpuHolderSource.Answer.Known(Map.of(one.path(), Set.of("GPU-1"), two.path(), Set.of("GPU-2")), NOW);
        assertThat(gpus("GPU-2").reaches(one, both, holders)).isFalse();
        assertThat(gpus("GPU-2").reaches(two, both, holders)).isTrue();
        assertThat(DrainRequest.NONE.reaches(two, both, holders)).isFalse();
        assertThat(FULL.covers(gpus("GPU-1"))).isTrue();
        assertThat(gpus("GPU-1").covers(FULL)).isFalse();
        assertThat(gpus("GPU-1").covers(gpus("GPU-1", "GPU-2"))).isFalse();
    }

    @Test
    void verificationThatWaitsForAPodDrainsItsGpuAndNeverAll() throws Exception {
        HealthEvent pending = HealthEvent.of("gpuwarden", "GPU", OpenVerification.CHECK)
                .nodeName("n")
                .fatal(true)
                .drain(new Overrides(false, true))
                .errorCodes(List.of("boot"))
                .entities(List.of(Entity.gpu("GPU-1")))
                .build();
        HealthEvent open = pending.toBuilder()
                .fatal(false)
                .errorCodes(List.of("gpu-results"))
                .metadata(OpenVerification.metadata("gpu-held"))
                .build();
        HealthEvent failed = open.toBuilder()
                .metadata(OpenVerification.metadata("wrong-result"))
                .build();
        CachedNode node = quarantined(pending);
        assertThat(DrainRequest.of(node, current(pending), true).isNone()).isTrue();
        assertThat(DrainRequest.of(node, current(pending, failed), true).isNone())
                .isTrue();
        DrainRequest request = DrainRequest.of(node, current(pending, open), true);
        assertThat(request.full()).isFalse();
        assertThat(request.gpus()).containsExactly("GPU-1");
        assertThat(request.within(new GpuHolderSource.Answer.Unknown("the kubelet does not answer")))
                .isEqualTo(new GpuHolderSource.Answer.Asked("free the GPU by hand: the kubelet does not answer"));
        assertThat(gpus("GPU-1").within(new GpuHolderSource.Answer.Unknown("why")))
                .isEqualTo(new GpuHolderSource.Answer.Unknown("why"));
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
