package dev.gpuwarden.aggregator.drain;

import static dev.gpuwarden.aggregator.drain.Some.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.drain.DrainDecision.Kind;
import dev.gpuwarden.aggregator.drain.DrainEvents.DrainText;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainState.Refusal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DrainDecisionTest {

    private static final GpuHolderSource.Answer NO_HOLDER = new GpuHolderSource.Answer.Known(Map.of(), NOW);

    private DrainAnnotation written = DrainAnnotation.NONE;
    private Map<String, Refusal> refusals = Map.of();
    private DrainPolicies policies = Some.policies("*=Immediate");
    private boolean quiet;

    private DrainDecision decide(DrainAnnotation asked, GpuHolderSource.Answer answer, Instant now, String... pods) {
        CachedNode node =
                Some.node(written.equals(DrainAnnotation.NONE) ? Optional.empty() : Optional.of(written.text()));
        DrainDecision decision = DrainDecision.decide(
                node,
                written,
                asked,
                List.of(pods).stream().map(Some::read).toList(),
                answer,
                refusals,
                policies,
                plan -> plan,
                quiet,
                now);
        written = decision.record();
        return decision;
    }

    @Test
    void drainStartsProgressesWithoutWritesAndFinishes() {
        DrainDecision start = decide(Some.full(), NO_HOLDER, NOW, Some.pod("a"), Some.pod("b"));
        assertThat(start.kind()).isEqualTo(Kind.START);
        assertThat(start.patch().toString())
                .contains("/metadata/uid", "quarantineHealthEvent", "draining")
                .doesNotContain("resourceVersion");
        assertThat(decide(written, NO_HOLDER, NOW.plusSeconds(1), Some.pod("a"), Some.pod("b"))
                        .kind())
                .isEqualTo(Kind.NONE);
        quiet = true;
        DrainDecision less = decide(written, NO_HOLDER, NOW.plusSeconds(2), Some.pod("b"));
        assertThat(less.kind()).as("written later, with the next change").isEqualTo(Kind.NONE);
        assertThat(less.behind()).isTrue();
        DrainDecision end = decide(written, NO_HOLDER, NOW.plusSeconds(3));
        assertThat(end.kind()).isEqualTo(Kind.FINISH);
        assertThat(end.patch().toString()).contains("drain-succeeded");
        assertThat(decide(written, NO_HOLDER, NOW.plusSeconds(4)).kind()).isEqualTo(Kind.NONE);
    }

    private static String withGpu(String name, String created, String more) {
        return Some.pod(name)
                .replace("\"labels\"", "\"creationTimestamp\": \"" + created + "\", \"labels\"")
                .replace(
                        "{\"name\": \"main\"}]},",
                        "{\"name\": \"main\", \"resources\": {\"limits\": {\"nvidia.com/gpu\": \"1\"}}}]},")
                .replace("\"phase\": \"Running\"", "\"phase\": \"Running\"" + more);
    }

    @Test
    void newHolderReopensTheDrainAndIsNotEvictedRepeatedly() {
        assertThat(decide(Some.full(), NO_HOLDER, NOW).kind()).isEqualTo(Kind.FINISH);
        assertThat(decide(written, NO_HOLDER, NOW.plusSeconds(70), Some.pod("no-gpu"))
                        .kind())
                .isEqualTo(Kind.NONE);
        String late = withGpu("late", "2026-11-22T06:01:05Z", "");
        DrainDecision again = decide(written, NO_HOLDER, NOW.plusSeconds(70), late);
        assertThat(again.kind()).isEqualTo(Kind.REOPEN);
        assertThat(again.patch().toString()).contains("drain-failed").doesNotContain("\"finished\"\":\"\"");
        assertThat(again.plan().get(0).step()).as("it would come again").isEqualTo(PodPlan.Step.STAYS);
        assertThat(DrainText.of(written))
                .contains("not drained of all pods", "team/late: it holds a GPU, and it was created at")
                .contains("it was drained at 2026-11-22T06:00:00Z, and is open again since 2026-11-22T06:01:10Z");
        assertThat(DrainEvents.of(written).stream().map(news -> news.reason()))
                .containsExactly("DrainReopened", "DrainNeedsHelp");
        assertThat(decide(written, NO_HOLDER, NOW.plusSeconds(71), late, Some.pod("no-gpu")).plan().stream()
                        .map(PodPlan::step))
                .contains(PodPlan.Step.STAYS);

        quiet = true;
        DrainDecision soon = decide(written, NO_HOLDER, NOW.plusSeconds(72));
        assertThat(soon.kind())
                .as("a pod that comes and ends is not written each time")
                .isEqualTo(Kind.NONE);
        assertThat(soon.behind()).isTrue();
        quiet = false;
        assertThat(decide(written, NO_HOLDER, NOW.plusSeconds(82)).kind()).isEqualTo(Kind.FINISH);
        assertThat(written.reopened()).isEmpty();
    }

    @Test
    void podBoundBeforeTheCordonIsEvictedEvenIfItComesAfterTheEnd() {
        decide(Some.full(), NO_HOLDER, NOW);
        DrainDecision again = decide(written, NO_HOLDER, NOW.plusSeconds(5), withGpu("p", "2026-11-22T05:59:59Z", ""));
        assertThat(again.kind()).isEqualTo(Kind.REOPEN);
        assertThat(again.plan().get(0).step()).isEqualTo(PodPlan.Step.EVICT);
    }

    @Test
    void partialDrainReopensForItsGpuOnlyAndNeverBecomesFull() {
        String before = withGpu("before", "2026-11-22T01:00:00Z", ", \"startTime\": \"2026-11-22T01:00:00Z\"");
        String late = withGpu("late", "2026-11-22T06:02:00Z", ", \"startTime\": \"2026-11-22T06:02:01Z\"");
        decide(Some.partial("GPU-1"), NO_HOLDER, NOW, before);
        Instant then = NOW.plusSeconds(130);
        assertThat(DrainDecision.asks(written, List.of(Some.read(before)))).isFalse();
        assertThat(DrainDecision.asks(written, List.of(Some.read(before), Some.read(late))))
                .isTrue();
        GpuHolderSource.Answer other = new GpuHolderSource.Answer.Known(Map.of(), then);
        assertThat(decide(written, other, then, before, late).kind()).isEqualTo(Kind.NONE);

        DrainDecision unknown = decide(written, new GpuHolderSource.Answer.Unknown("no daemon"), then, before, late);
        assertThat(unknown.kind()).isEqualTo(Kind.REOPEN);
        assertThat(unknown.record().full()).isEmpty();
        assertThat(unknown.record().done()).isEmpty();
        assertThat(written.waiting())
                .singleElement()
                .satisfies(pod -> assertThat(pod.pod()).isEqualTo("team/late"))
                .satisfies(pod -> assertThat(pod.why()).startsWith("it may hold the GPU"));
        assertThat(decide(written, other, then.plusSeconds(9), before, late).kind())
                .isEqualTo(Kind.FINISH);
    }

    @Test
    void timeAloneDoesNotDrainANotReadyNode() {
        String silent = withGpu("a", "2026-11-22T01:00:00Z", "")
                .replace(
                        "\"status\": \"True\"",
                        "\"status\": \"False\", \"lastTransitionTime\": \"2026-11-22T06:00:00Z\"");
        decide(Some.full(), NO_HOLDER, NOW, silent);
        assertThat(decide(written, NO_HOLDER, NOW.plus(Duration.ofDays(3)), silent)
                        .patch()
                        .toString())
                .contains("drain-failed");
        assertThat(written.waiting().get(0).why())
                .isEqualTo("it holds a GPU, and it has not been ready since 2026-11-22T06:00:00Z");
    }

    @Test
    void drainWithoutPodsFinishesInOneWrite() {
        assertThat(decide(Some.full(), NO_HOLDER, NOW).kind()).isEqualTo(Kind.FINISH);
    }

    @Test
    void refusalIsReportedImmediatelyWithItsStart() {
        decide(Some.full(), NO_HOLDER, NOW, Some.pod("a"));
        quiet = true;
        refusals = Map.of("uid-a", new Refusal(1, NOW.plusSeconds(1), "budget web", NOW.plusSeconds(6)));
        assertThat(decide(written, NO_HOLDER, NOW.plusSeconds(1), Some.pod("a")).kind())
                .isEqualTo(Kind.PROGRESS);
        assertThat(written.waiting())
                .containsExactly(new DrainAnnotation.Waiting("team/a", "evict", "budget web", NOW.plusSeconds(1)));
        // The next leader, whose request was refused later.
        refusals = Map.of("uid-a", new Refusal(1, NOW.plusSeconds(60), "budget web", NOW.plusSeconds(66)));
        assertThat(decide(written, NO_HOLDER, NOW.plusSeconds(60), Some.pod("a"))
                        .kind())
                .isEqualTo(Kind.NONE);
        assertThat(DrainEvents.of(written))
                .singleElement()
                .satisfies(news -> assertThat(news.reason()).isEqualTo("DrainBlocked"))
                .satisfies(news -> assertThat(news.text()).contains("team/a: budget web, since 2026-11-22T06:00:01Z"));
    }

    @Test
    void podThatMayNotBeEvictedFailsTheDrainUntilItIsGone() {
        String unmanaged = Some.pod("a").replace("\"controller\": true", "\"controller\": false");
        DrainDecision start = decide(Some.full(), NO_HOLDER, NOW, unmanaged, Some.pod("b"));
        assertThat(start.patch().toString()).contains("value=draining");
        DrainDecision stuck = decide(written, NO_HOLDER, NOW.plusSeconds(20), unmanaged);
        assertThat(stuck.patch().toString()).contains("drain-failed");
        assertThat(DrainText.of(written)).contains("not drained", "1 pod left", "--drain.unmanaged");
        assertThat(decide(written, NO_HOLDER, NOW.plusSeconds(30)).patch().toString())
                .contains("drain-succeeded");
    }

    @Test
    void overduePodIsReportedWithItsFinalizers() {
        String going = Some.pod("a")
                .replace(
                        "\"labels\"",
                        "\"deletionTimestamp\": \"2026-11-22T06:01:00Z\", \"finalizers\": [\"x/hold\"], \"labels\"");
        decide(Some.full(), NO_HOLDER, NOW, going);
        assertThat(written.waiting()).isEmpty();
        Instant over = Instant.parse("2026-11-22T06:01:00Z").plus(DrainDecision.OVERDUE);
        assertThat(decide(written, NO_HOLDER, over, going).kind()).isEqualTo(Kind.PROGRESS);
        assertThat(written.waiting().get(0).why()).contains("finalizers hold it: x/hold");
        String ended = going.replace("\"running\"", "\"terminated\"");
        assertThat(decide(written, NO_HOLDER, over.plusSeconds(1), ended).kind())
                .as("its containers have ended; the object may stay")
                .isEqualTo(Kind.FINISH);
    }

    @Test
    void allPodsAreEvictedIfTheHoldersAreUnknown() {
        GpuHolderSource.Answer unknown = new GpuHolderSource.Answer.Unknown("pod team/b names no GPU");
        DrainDecision start = decide(Some.partial("GPU-1"), unknown, NOW, Some.pod("a"), Some.pod("b"));
        assertThat(start.record().full()).isPresent();
        assertThat(start.record().why()).contains("all pods", "pod team/b names no GPU");
        assertThat(start.plan().stream().map(PodPlan::step)).containsOnly(PodPlan.Step.EVICT);
    }

    @Test
    void drainWaitsForTheAnswerAboutHolders() {
        GpuHolderSource.Answer asks = new GpuHolderSource.Answer.Asked("asking the node");
        DrainDecision start = decide(Some.partial("GPU-1"), asks, NOW, Some.pod("a"));
        assertThat(start.kind()).isEqualTo(Kind.START);
        assertThat(start.plan()).isEmpty();
        assertThat(decide(written, asks, NOW.plusSeconds(1), Some.pod("a")).kind())
                .isEqualTo(Kind.NONE);
        GpuHolderSource.Answer known = new GpuHolderSource.Answer.Known(Map.of("team/a", Set.of("GPU-1")), NOW);
        assertThat(decide(written, known, NOW.plusSeconds(2), Some.pod("a"))
                        .plan()
                        .get(0)
                        .step())
                .isEqualTo(PodPlan.Step.EVICT);
        assertThat(decide(written, new GpuHolderSource.Answer.Known(Map.of(), NOW), NOW.plusSeconds(9), Some.pod("b"))
                        .kind())
                .isEqualTo(Kind.FINISH);
    }

    @Test
    void drainStaysOpenWhilePodsByProcessesMayBeMissing() {
        GpuHolderSource.Answer cut = new GpuHolderSource.Answer.Known(Map.of("team/a", Set.of("GPU-1")), NOW)
                .with(GpuProcesses.cut(Map.of(), "no room for all"));
        assertThat(decide(Some.partial("GPU-1"), cut, NOW, Some.pod("a"))
                        .plan()
                        .get(0)
                        .step())
                .as("a known holder leaves")
                .isEqualTo(PodPlan.Step.EVICT);
        DrainDecision open = decide(written, cut, NOW.plusSeconds(1));
        assertThat(open.record().active()).isTrue();
        assertThat(open.patch().toString()).contains("drain-failed", "no room for all");
        assertThat(decide(written, cut, NOW.plusSeconds(2)).kind()).isEqualTo(Kind.NONE);
        assertThat(decide(written, NO_HOLDER, NOW.plusSeconds(3)).kind()).isEqualTo(Kind.FINISH);
    }

    @Test
    void retriesOfARefusalBackOffUpToALimit() {
        Refusal refusal = Refusal.before(NOW, "");
        List<Long> pauses = new java.util.ArrayList<>();
        for (int i = 0; i < 5; i++) {
            refusal = refusal.again("no", Duration.ofSeconds(5), Duration.ZERO, NOW);
            pauses.add(Duration.between(NOW, refusal.again()).toSeconds());
        }
        assertThat(pauses).containsExactly(5L, 10L, 20L, 30L, 30L);
        assertThat(refusal.since()).isEqualTo(NOW);
        assertThat(refusal.again("no", Duration.ofSeconds(5), Duration.ofSeconds(55), NOW)
                        .again())
                .isEqualTo(NOW.plusSeconds(55));
    }
}
