package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.checkpoint.PodSignals;
import dev.gpuwarden.aggregator.checkpoint.SignalRequest;
import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Brings nodes in quarantine to where no pod is in the way. A level like quarantine: what is remembered lies on the Node, what is
 * there is what the API server tells of the pods, and each look at a node begins with both. Nothing is asked for again and again:
 * a node is looked at when it or a pod of it changes, or when a time has come. Thread-safe; one node is looked at by one thread.
 */
public final class Drains implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Drains.class.getName());

    private static final int MOST_OF_A_NODE = 8;
    /** How often pods are listed that are not watched, of nodes whose drain has succeeded. */
    private static final Duration LIST_AGAIN = Duration.ofMinutes(5);

    private static final int MOST_TRIES = 8;
    /** So long the watch may take to tell what somebody else has written. */
    private static final Duration WATCH = Duration.ofSeconds(1);

    /**
     * @param armed else everything is decided and told, and no pod touched
     * @param force whether senders may have all pods go at once, whatever the policies say
     */
    public record Settings(boolean armed, DrainPolicies policies, DrainTimes times, boolean force) {

        public Settings(boolean armed, DrainPolicies policies) {
            this(armed, policies, DrainTimes.DEFAULT, false);
        }
    }

    private final ClusterApi api;
    private final Fleet fleet;
    private final Settings settings;
    private final GpuPods gpuPods;
    private final Clock clock;
    private final DrainLog log;
    private final Consumer<String> written;
    private final Removals removals;
    private final Together together;
    private final DrainTally tally = new DrainTally();
    private final FollowedNodes followed;
    private final Alarms alarms;
    /** What a dry run has said of a node, so that its pods need not be asked for again. */
    private final Map<String, DrainRehearsal> rehearsed = new ConcurrentHashMap<>();

    private volatile boolean open;

    /**
     * @param audits gets each decision before it is carried out, and what came of it
     * @param again has a node looked at, by {@link #settle}
     * @param written told that a node was written, and may be another one than it was known to be
     */
    public Drains(
            ClusterApi api,
            Fleet fleet,
            Settings settings,
            GpuPods gpuPods,
            Clock clock,
            Consumer<DrainAudit> audits,
            Consumer<String> again,
            Consumer<String> written) {
        this.api = api;
        this.fleet = fleet;
        this.settings = settings;
        this.gpuPods = gpuPods;
        this.clock = clock;
        this.log = new DrainLog(audits);
        this.written = written;
        this.removals = new Removals(
                new PodRemoval(api, settings.policies().grace(), false),
                new PodSignals(api, fleet, clock),
                fleet,
                clock,
                log,
                tally,
                again,
                () -> open,
                DrainAsk::drainable);
        this.followed = new FollowedNodes(api, again, settings.times().retry());
        this.together = new Together(again);
        this.alarms = new Alarms(again);
        fleet.follow((node, health) -> {
            if (followed.has(node) && SignalRequest.any(health)) {
                again.accept(node);
            }
        });
    }

    /** This one acts from now on. */
    public void open() {
        open = true;
    }

    /** Another one acts: no pod is asked for any more, and none followed. */
    public void stop() {
        open = false;
        followed.names().forEach(this::forget);
        rehearsed.clear();
    }

    public DrainTally tally() {
        return tally;
    }

    /** How many nodes are being drained. */
    public int nodes() {
        return followed.underWay().size();
    }

    /** How many pods were refused, and are tried again. */
    public int refused() {
        return followed.underWay().stream()
                .mapToInt(drain -> drain.refusals().size())
                .sum();
    }

    /** How many nodes have only pods that a person has to see to. */
    public int stuck() {
        return (int) followed.underWay().stream().filter(NodeDrain::isStuck).count();
    }

    /** What a dry run would do to a node; empty where there is nothing, or it is not known yet. */
    public Optional<DrainRehearsal> rehearsal(String node) {
        return Optional.ofNullable(rehearsed.get(node));
    }

    /** Looks at a node and does what is to be done. */
    public void settle(String name) throws ClusterException, InterruptedException {
        Optional<NodeRead> node = fleet.node(name);
        for (int tries = 1; node.isPresent() && open; tries++) {
            try {
                settle(node.get());
                return;
            } catch (ClusterException e) {
                if (e.notFound() || !(e.conflict() || e.invalid()) || tries == MOST_TRIES) {
                    throw e;
                }
                node = newer(node.get(), e);
                if (node.isEmpty()) {
                    return;
                }
            }
        }
        if (node.isEmpty()) {
            forget(name);
        }
    }

    /** What somebody else has made of it: as the watch told it, or will in a moment; else empty, and it is looked at again then. */
    private Optional<NodeRead> newer(NodeRead tried, ClusterException refused)
            throws ClusterException, InterruptedException {
        Optional<NodeRead> now = fleet.node(tried.name());
        if (now.filter(node -> node.resourceVersion().equals(tried.resourceVersion()))
                .isEmpty()) {
            return now;
        }
        if (followed.find(tried.name()).filter(NodeDrain::outrun).isPresent()) {
            alarms.set(tried.name(), clock.instant().plus(WATCH), clock.instant());
            return Optional.empty();
        }
        NodeRead read = NodeRead.of(api.get(Fleet.NODES.path(tried.name())));
        if (read.resourceVersion().equals(tried.resourceVersion())) {
            throw refused;
        }
        return Optional.of(read);
    }

    private void settle(NodeRead node) throws ClusterException, InterruptedException {
        Instant now = clock.instant();
        DrainRecord before;
        DrainRecord asked;
        try {
            before = DrainAsk.drainable(node) ? DrainRecord.of(node) : DrainRecord.NONE;
            asked = before.with(DrainAsk.of(node, settings.force()), now);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "node " + node.name() + " is not drained: " + e.getMessage());
            forget(node.name());
            return;
        }
        // A pod that comes after the end holds the GPU all the same, so the node is followed until it is released.
        boolean over = settings.armed() && asked.finished().isPresent();
        if (!asked.active() && !over) {
            end(node, now);
            return;
        }
        if (!settings.armed()
                && rehearsal(node.name()).filter(said -> said.is(node, asked)).isPresent()) {
            return;
        }
        NodeDrain drain = followed.follow(node);
        if (!open) {
            forget(node.name());
        }
        drain.over(over);
        if (!drain.isComplete()) {
            return;
        }
        act(node, drain, before, asked, now);
    }

    private void act(NodeRead node, NodeDrain drain, DrainRecord before, DrainRecord asked, Instant now)
            throws ClusterException, InterruptedException {
        drain.before(before);
        GpuPods.Answer answer = DrainDecision.asks(asked, drain.pods())
                ? gpuPods.holders(
                        node,
                        asked.partial(),
                        drain.pods(),
                        asked.gpus().values().stream().min(Instant::compareTo).orElse(now))
                : new GpuPods.Answer.Known(Map.of(), now);
        boolean quiet = drain.written().plus(settings.times().quiet()).isAfter(now);
        DrainDecision decision = DrainDecision.decide(
                node,
                before,
                asked,
                drain.pods(),
                answer,
                drain.refusals(),
                settings.policies(),
                plan -> notices(node, drain).of(asked, settings.armed() ? together.of(node.name(), plan) : plan, now),
                quiet,
                now);
        if (!settings.armed()) {
            if (!(answer instanceof GpuPods.Answer.Asked)) {
                rehearse(node, asked, decision, now);
            }
            return;
        }
        if (!decision.patch().isEmpty()) {
            if (decision.kind() != DrainDecision.Kind.PROGRESS
                    && drain.isNews(decision.kind() + " " + DrainText.what(decision.record()))) {
                log.decided(node, decision, now);
            }
            var unused = fleet.wrote(api.patch(Fleet.NODES.path(node.name()), decision.patch()));
            drain.written(now);
            written.accept(node.name());
            tally.drain(decision.kind().name().toLowerCase(java.util.Locale.ROOT));
        }
        drain.stuck(decision.record().failed());
        drain.over(!decision.record().active());
        if (drain.isOver()) {
            if (!decision.patch().isEmpty()) {
                tally.finishedAfter(System.nanoTime() - drain.endNanos());
                removals.untell(node.name());
            }
            rest(node.name(), now);
            return;
        }
        List<PodPlan> due =
                decision.plan().stream().filter(plan -> plan.isDue(now)).toList();
        for (PodPlan plan : drain.take(due, MOST_OF_A_NODE, now)) {
            removals.submit(node, drain, plan);
        }
        decision.next(
                        drain.refusals(),
                        settings.policies(),
                        drain.written().plus(settings.times().quiet()),
                        now)
                .ifPresent(time -> alarms.set(node.name(), time, now));
    }

    private Notices notices(NodeRead node, NodeDrain drain) {
        // It lies packed in memory, and few pods want to be told.
        boolean any = drain.pods().stream().anyMatch(pod -> pod.checkpoint().isPresent());
        Map<String, Object> health = any ? fleet.health(node.name()).orElse(Map.of()) : Map.of();
        return new Notices(
                health,
                drain.untold(),
                settings.policies().notice(),
                settings.times().signal());
    }

    // ---- which nodes ----

    /** It is not drained, or not any more. */
    private void end(NodeRead node, Instant now) {
        rehearsed.remove(node.name());
        Optional<NodeDrain> there = followed.find(node.name()).filter(drain -> !drain.isOver());
        if (there.isPresent() && settings.armed() && !DrainAsk.drainable(node)) {
            List<String> left = there.get().pods().stream()
                    .filter(pod -> !pod.ended() && pod.deleted().isEmpty())
                    .map(PodRead::path)
                    .sorted()
                    .toList();
            log.cancelled(node, left, now);
            removals.untell(node.name());
            tally.drain("cancel");
        }
        forget(node.name());
    }

    /** Its drain has succeeded: it is followed on, or looked at again in a while where too many are. */
    private void rest(String node, Instant now) {
        alarms.clear(node);
        together.forget(node);
        if (followed.tooManyOver()) {
            forget(node);
            alarms.set(node, now.plus(LIST_AGAIN), now);
        }
    }

    private void forget(String node) {
        alarms.clear(node);
        together.forget(node);
        followed.forget(node);
    }

    private void rehearse(NodeRead node, DrainRecord asked, DrainDecision decision, Instant now) {
        DrainRehearsal said = DrainRehearsal.of(node, asked, decision.plan(), now);
        if (rehearsed.put(node.name(), said) == null) {
            tally.drain("dry_run");
        }
        log.rehearsed(node, said, decision);
        forget(node.name());
        written.accept(node.name());
    }

    @Override
    public void close() {
        stop();
        alarms.close();
        removals.close();
    }
}
