package dev.gpuwarden.aggregator.rehearsal;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainTimes;
import dev.gpuwarden.aggregator.drain.DrainRehearsal;
import dev.gpuwarden.aggregator.pods.PodEviction;
import dev.gpuwarden.aggregator.pods.PodEviction.Outcome;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.aggregator.quarantine.CurrentFaults;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Stage;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Verdict;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The drain of a rehearsal. Each eviction is validated by the API server, and each one alone. Blocks. */
final class DrainStage {

    /** The limit of requests. A node has at most 110 pods by default. */
    static final int MOST_EVICTIONS = 128;

    private static final Duration USUAL_GRACE = Duration.ofSeconds(30);

    private final PodEviction evictions;
    private final PipelineSettings settings;
    private final List<Map<String, Object>> podTrees;
    private final CurrentFaults current;
    private final Clock clock;
    private final Entries entries;
    private final Map<String, Duration> graces = new HashMap<>();
    private int asked;
    private boolean perhaps;

    DrainStage(
            KubeClient api,
            PipelineSettings settings,
            List<Map<String, Object>> pods,
            CurrentFaults current,
            Clock clock,
            Entries entries) {
        this.evictions = new PodEviction(api, settings.policies().grace(), true);
        this.settings = settings;
        this.podTrees = pods;
        this.current = current;
        this.clock = clock;
        this.entries = entries;
    }

    /**
     * Adds the steps of the drain.
     *
     * @param all the reason why all pods have to leave; empty if the faults alone decide
     * @return the Node when the drain has ended; empty if there is no drain
     */
    Optional<Map<String, Object>> run(Map<String, Object> node, Optional<String> all)
            throws IOException, InterruptedException {
        DrainPolicies policies = settings.policies();
        List<PodView> pods = podTrees.stream().map(PodView::of).toList();
        for (Map<String, Object> tree : podTrees) {
            PodView pod = PodView.of(tree);
            graces.put(pod.uid(), policies.grace().orElseGet(() -> grace(tree)));
        }
        Optional<DrainRehearsal> drain =
                DrainRehearsal.of(CachedNode.of(node), pods, current, all, policies, settings.forceDrain(), clock);
        if (drain.isEmpty()) {
            entries.add(Stage.DRAIN, Verdict.STOPS, "drain nothing", "the quarantine requests no drain");
            return Optional.empty();
        }
        List<PodPlan> leaving =
                drain.get().plan().stream().filter(PodPlan::inTheWay).toList();
        entries.add(
                Stage.DRAIN,
                Verdict.DOES,
                drain.get().text(),
                "pods that have to leave: " + leaving.size() + " of "
                        + drain.get().plan().size());
        drain.get()
                .unknown()
                .ifPresent(why -> entries.add(
                        Stage.DRAIN,
                        Verdict.WAITS,
                        "ask the node's daemon for the holders of the GPU; without an answer all pods leave",
                        why + ". The rehearsal does not ask, and counts each pod with a GPU",
                        Optional.of(DrainTimes.DEFAULT.holders())));
        perhaps = drain.get().unknown().isPresent();
        for (PodPlan each : leaving) {
            pod(each);
        }
        return Optional.of(drain.get().drained(node));
    }

    private static Duration grace(Map<String, Object> pod) {
        Map<String, Object> spec = JsonTrees.object(pod, "spec");
        return spec.containsKey("terminationGracePeriodSeconds")
                ? Duration.ofSeconds(JsonTrees.longNumber(spec, "terminationGracePeriodSeconds"))
                : USUAL_GRACE;
    }

    private void pod(PodPlan plan) throws InterruptedException {
        PodView pod = plan.pod();
        Duration grace = graces.getOrDefault(pod.uid(), USUAL_GRACE);
        switch (plan.step()) {
            case EVICT -> request(plan, "evict " + pod.path() + (perhaps ? ", if it holds the GPU" : ""), grace);
            case DELETE -> {
                Duration wait = settings.policies().timeout();
                request(
                        plan,
                        "delete " + pod.path() + " if it has not ended within " + Durations.text(wait),
                        wait.plus(grace));
            }
            case GOING -> entries.add(Stage.DRAIN, Verdict.WAITS, "await the end of " + pod.path(), "it ends already");
            case AWAIT, SIGNAL, CHECKPOINT ->
                entries.add(Stage.DRAIN, Verdict.WAITS, "await the end of " + pod.path(), plan.reason());
            case STAYS ->
                entries.add(
                        Stage.DRAIN,
                        perhaps ? Verdict.UNKNOWN : Verdict.STOPS,
                        "leave " + pod.path() + " to an operator" + (perhaps ? ", if it holds the GPU" : ""),
                        plan.reason());
            case LEFT -> {}
        }
    }

    private void request(PodPlan plan, String what, Duration most) throws InterruptedException {
        PodView pod = plan.pod();
        if (entries.late(Stage.DRAIN, what)) {
            return;
        }
        if (++asked > MOST_EVICTIONS) {
            entries.add(
                    Stage.DRAIN,
                    Verdict.UNKNOWN,
                    what,
                    "not validated: only " + MOST_EVICTIONS + " pods are, and this is one more");
            return;
        }
        boolean deletes = plan.step() == Step.DELETE;
        Outcome outcome = deletes ? evictions.delete(pod) : evictions.evict(pod);
        Optional<Duration> notice = DrainRehearsal.notice(pod, settings.policies());
        String saves = notice.map(time -> ", after up to " + Durations.text(time) + " to save its work")
                .orElse("");
        Duration limit = most.plus(notice.orElse(Duration.ZERO));
        if (outcome instanceof Outcome.Refused refused) {
            boolean unvalidated = DryRunWrites.unvalidated(refused.why());
            entries.add(
                    Stage.DRAIN,
                    unvalidated ? Verdict.UNKNOWN : Verdict.WAITS,
                    what + saves,
                    (unvalidated ? "not validated: " : "refused now, and tried again: ") + refused.why());
            return;
        }
        entries.add(
                Stage.DRAIN,
                deletes ? Verdict.WAITS : Verdict.DOES,
                what + saves,
                "the API server accepts it",
                Optional.of(limit));
    }
}
