package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainTimes;
import dev.gpuwarden.aggregator.drain.DrainState.Refusal;
import dev.gpuwarden.aggregator.drain.GpuHolderSource.Answer;
import dev.gpuwarden.aggregator.drain.ManualDrainState.Result;
import dev.gpuwarden.aggregator.drain.ManualDrainState.Result.Outcome;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests;
import dev.gpuwarden.aggregator.pods.PodEviction;
import dev.gpuwarden.cli.run.Closer;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The drain of one node by an operator who waits for it, by the rules of {@link DrainPlan}. It watches the node and its pods,
 * and does not poll. {@link #run} blocks; {@link #stop} ends it from any thread.
 */
public final class ManualDrain {

    private static final ResourceKind PODS = ResourceKind.ofCluster("", "v1", "pods", "Pod");

    private static final int MOST_OF_A_NODE = 8;
    /** The limit for the first list of the node's pods. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Duration SOON = Duration.ofSeconds(2);
    /** The longest time between two reports to the listener. */
    private static final Duration PULSE = Duration.ofSeconds(5);

    /**
     * The request of an operator.
     *
     * @param gpus UUIDs of the GPUs whose pods have to leave; empty for all pods
     * @param unasked reason why the node's daemon is not asked for the holders; empty if it is
     * @param processes true to evict pods too that have a GPU open by a process alone; otherwise they are named
     * @param grace grace period of the evictions; empty for each pod's own
     * @param timeout limit of the drain; empty for none
     * @param dryRun true if the drain must not change anything
     */
    public record Settings(
            Set<String> gpus,
            Optional<String> unasked,
            boolean processes,
            DrainPolicies policies,
            Optional<Duration> grace,
            Optional<Duration> timeout,
            boolean dryRun) {

        private boolean asksDaemon() {
            return !gpus.isEmpty() && unasked.isEmpty();
        }

        /** Returns true if pods get a signal before they are evicted. */
        private boolean tells() {
            return !dryRun && !policies.notice().isZero();
        }

        private boolean followsHealth() {
            return asksDaemon() || tells();
        }
    }

    /** A listener for the progress of a drain, called in one thread while the drain waits. */
    public interface Listener {
        /** Receives the state at least every few seconds, also if it has not changed. */
        void evaluated(ManualDrainState state, Instant now);

        void waits(String why);
    }

    private final KubeClient api;
    private final Settings settings;
    private final Clock clock;
    private final Listener listener;
    private final Semaphore news = new Semaphore(0);
    private final DrainState drain = new DrainState(news::release, DrainTimes.DEFAULT.retry());
    private final NodeCache cache;

    private volatile boolean nodeSynced;
    private volatile boolean healthSynced;
    private volatile boolean stopped;

    public ManualDrain(KubeClient api, Settings settings, Clock clock, Listener listener) {
        this.api = api;
        this.settings = settings;
        this.clock = clock;
        this.listener = listener;
        this.cache = new NodeCache(new Changes(), clock);
    }

    /** Ends the drain: no further pod is evicted, and pods that were evicted go on ending. */
    public void stop() {
        stopped = true;
        news.release();
    }

    /**
     * Drains the node, and blocks until the end.
     *
     * @param node Node after its cordon
     */
    public Result run(CachedNode node) throws InterruptedException {
        Map<String, String> named = Map.of("metadata.name", node.name());
        try (Closer parts = new Closer()) {
            List<ResourceInformer> mirrors = new ArrayList<>();
            mirrors.add(api.informer(PODS, Map.of("spec.nodeName", node.name()), drain, () -> {}));
            mirrors.add(api.informer(NodeCache.NODES, named, cache.nodes(), () -> {
                nodeSynced = true;
                news.release();
            }));
            if (settings.followsHealth()) {
                mirrors.add(api.informer(NodeHealthClient.ALL, named, cache.healths(), () -> {
                    healthSynced = true;
                    news.release();
                }));
            }
            mirrors.forEach(parts::add);
            Optional<String> unasked = settings.asksDaemon()
                    ? Optional.empty()
                    : settings.unasked().or(() -> Optional.of("its daemon is not asked"));
            HoldersOfOneNode holders =
                    parts.add(new HoldersOfOneNode(api, unasked, cache, clock, name -> news.release()));
            return new Course(node, holders, parts.add(removals())).run();
        } finally {
            drain.close();
        }
    }

    private Instant now() {
        return DrainAnnotation.milli(clock.instant());
    }

    private boolean known() {
        return drain.isComplete() && nodeSynced && (healthSynced || !settings.followsHealth());
    }

    private PodEvictor removals() {
        return new PodEvictor(
                new PodEviction(api, settings.grace(), false),
                new SignalRequests(api, cache, clock),
                clock,
                new DrainAuditLog(audit -> {}),
                new DrainMetrics(),
                node -> news.release(),
                () -> !stopped,
                decided -> cache.node(decided.name())
                        .filter(now -> now.uid().equals(decided.uid()) && now.unschedulable()));
    }

    /** The course of one drain, from the first evaluation to the last. */
    private final class Course {
        private final CachedNode node;
        private final HoldersOfOneNode gpuPods;
        private final PodEvictor removals;
        private final Instant began = now();
        private final DrainAnnotation asked = DrainAnnotation.NONE.with(
                new DrainRequest(settings.gpus().isEmpty(), settings.gpus(), false, "by hand"), began);
        private final Set<String> signalled = new HashSet<>();
        private ManualDrainState state = ManualDrainState.NONE;
        private Optional<String> unlisted = Optional.empty();

        Course(CachedNode node, HoldersOfOneNode gpuPods, PodEvictor removals) {
            this.node = node;
            this.gpuPods = gpuPods;
            this.removals = removals;
        }

        Result run() throws InterruptedException {
            Optional<Result> end = evaluate(now());
            while (end.isEmpty()) {
                await(now());
                end = evaluate(now());
            }
            withdrawSignals();
            return end.get();
        }

        /** Removes the signal requests of this drain's pods. */
        private void withdrawSignals() throws InterruptedException {
            SignalRequests signals = new SignalRequests(api, cache, clock);
            try {
                for (String uid : signalled) {
                    signals.forget(node.name(), uid);
                }
            } catch (ApiException e) {
                // Requests of an earlier drain have no effect on a later one.
                listener.waits("signals for its pods stay in its NodeHealth: " + e.getMessage());
            }
        }

        private Optional<Result> evaluate(Instant now) throws InterruptedException {
            if (stopped) {
                return end(Outcome.STOPPED, "");
            }
            if (!known()) {
                if (now.isAfter(began.plus(SOON))) {
                    listener.waits("the API server is asked for its pods");
                }
                return now.isBefore(began.plus(PATIENCE))
                        ? Optional.empty()
                        : end(
                                Outcome.UNDECIDED,
                                "the API server has not listed its pods within " + PATIENCE.toSeconds() + " s");
            }
            Optional<CachedNode> there =
                    cache.node(node.name()).filter(one -> one.uid().equals(node.uid()));
            if (there.isEmpty()) {
                return end(Outcome.RELEASED, "the cluster no longer has this Node");
            }
            if (!settings.dryRun() && !there.get().unschedulable()) {
                return end(Outcome.RELEASED, "it was put back into service: pods that were not evicted stay");
            }
            Set<String> inFlight = drain.inFlight();
            Answer answer = asked.partial().isEmpty()
                    ? new Answer.Known(Map.of(), now)
                    : gpuPods.holders(there.get(), asked.partial(), drain.pods(), began);
            if (answer instanceof Answer.Unknown unknown) {
                return end(Outcome.UNDECIDED, unknown.why() + "; without --gpu all pods would be evicted");
            }
            if (answer instanceof Answer.Asked asks) {
                listener.waits(asks.what());
                return late(now) ? end(Outcome.TIMEOUT, "") : Optional.empty();
            }
            Answer.Known known = (Answer.Known) answer;
            unlisted =
                    known.processes().unknown().filter(why -> !settings.gpus().isEmpty());
            state = evaluate(known, drain.refusals(), now);
            if (settings.dryRun()) {
                state = evaluate(known, rehearsed(now), now);
                return end(
                        state.pods().stream().anyMatch(ManualDrainState.ManualPod::kept)
                                ? Outcome.LEFT
                                : Outcome.DRAINED,
                        "");
            }
            listener.evaluated(state, now);
            if (state.over()) {
                Optional<String> missing = known.processes().missing();
                return end(state.drained() && missing.isEmpty() ? Outcome.DRAINED : Outcome.LEFT, missing.orElse(""));
            }
            if (late(now)) {
                return end(Outcome.TIMEOUT, "");
            }
            for (PodPlan plan : drain.take(state.due(), inFlight, MOST_OF_A_NODE, now)) {
                if (plan.step() == PodPlan.Step.SIGNAL) {
                    signalled.add(plan.pod().uid());
                }
                removals.submit(there.get(), drain, plan);
            }
            return Optional.empty();
        }

        private ManualDrainState evaluate(Answer.Known known, Map<String, Refusal> refusals, Instant now) {
            Map<String, Object> health = cache.health(node.name()).orElse(Map.of());
            Map<String, Set<String>> holders =
                    settings.processes() ? known.processes().and(known.holders(), drain.pods()) : known.holders();
            List<PodPlan> plan = new CheckpointSignals(
                            health, drain.unsent(), settings.policies().notice(), DrainTimes.DEFAULT.signal())
                    .of(
                            asked,
                            known.processes()
                                    .named(
                                            DrainPlan.of(asked, drain.pods(), holders, settings.policies(), now),
                                            "--processes=evict"),
                            now);
            return ManualDrainState.of(state, plan, refusals, settings.policies(), began, now);
        }

        /** Returns the refusals of a dry run, in which the API server evaluates each eviction alone. */
        private Map<String, Refusal> rehearsed(Instant now) throws InterruptedException {
            PodEviction removal = new PodEviction(api, settings.grace(), true);
            Map<String, Refusal> refusals = new HashMap<>();
            for (PodPlan plan : state.due()) {
                if (plan.step() == PodPlan.Step.EVICT
                        && removal.evict(plan.pod()) instanceof PodEviction.Outcome.Refused refused) {
                    refusals.put(
                            plan.pod().uid(),
                            Refusal.before(now, "")
                                    .again(refused.why(), DrainTimes.DEFAULT.retry(), refused.least(), now));
                }
            }
            return refusals;
        }

        private boolean late(Instant now) {
            return deadline().filter(end -> !end.isAfter(now)).isPresent();
        }

        private Optional<Instant> deadline() {
            return settings.timeout().map(began::plus);
        }

        private void await(Instant now) throws InterruptedException {
            Instant next = now.plus(PULSE);
            for (Optional<Instant> time : List.of(state.next(), deadline())) {
                next = time.filter(next::isAfter).orElse(next);
            }
            long millis = Math.max(1, Duration.between(now, next).toMillis());
            var unused = news.tryAcquire(millis, TimeUnit.MILLISECONDS);
            news.drainPermits();
        }

        private Optional<Result> end(Outcome outcome, String why) {
            return Optional.of(new Result(outcome, why, state.pods(), unlisted, began, now()));
        }
    }

    private final class Changes implements NodeCache.Listener {
        @Override
        public void node(String name, Optional<CachedNode> node, boolean ours) {
            news.release();
        }

        @Override
        public void health(String name, Optional<Map<String, Object>> health) {
            news.release();
        }
    }
}
