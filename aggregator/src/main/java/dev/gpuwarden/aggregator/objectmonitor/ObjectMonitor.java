package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.controller.LeaderListener;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStatus.PolicyAssessor;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The monitor of the objects that MonitorPolicies select. While this replica leads, it reports the faulty objects of each node.
 * The reports are levels: they follow from the matches now, not from earlier changes. The monitor begins with the faults that
 * it finds reported.
 */
public final class ObjectMonitor implements LeaderListener, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ObjectMonitor.class.getName());

    private static final Duration TICK = Duration.ofSeconds(2);

    private final KubeClient api;
    private final MonitorSettings settings;
    private final Clock clock;
    private final MonitorMetrics metrics = new MonitorMetrics();
    private final ScheduledThreadPoolExecutor chores = thread("gpuwarden-monitor");
    /** A separate thread, since the tasks of {@code chores} wait for the API server. */
    private final ScheduledThreadPoolExecutor timers = thread("gpuwarden-monitor-timers");

    private final PolicyStore shelf = new PolicyStore(this::policiesChanged);
    private final MatchIndex book = new MatchIndex(this::nodeChanged);
    private final NodeFaultReconciler places;
    private final PolicyStandings standings;
    private final PolicyStatusReconciler statusReconciler;
    private final WorkQueue nodes;
    private final WorkQueue statuses;
    private final AtomicBoolean refreshing = new AtomicBoolean();
    private final Map<ResourceType, KindInformer> followers = new ConcurrentHashMap<>();
    private @Nullable ResourceInformer policies;
    private boolean works;
    private long discoveredNanos;
    private volatile boolean leads;

    private ObjectMonitor(KubeClient api, NodeCache cache, MonitorSettings settings) {
        this.api = api;
        this.clock = api.clock();
        this.settings = settings;
        this.places = new NodeFaultReconciler(api, cache, book, shelf, this::held, clock, metrics, settings.annotate());
        this.standings = new PolicyStandings(shelf, book, followers, cache, places::missing, settings);
        this.statusReconciler = new PolicyStatusReconciler(api, clock, shelf, standings::status);
        this.nodes = new WorkQueue("objects of node", settings.concurrency()).run(places::settle);
        this.statuses = new WorkQueue("monitor policy", 2).run(statusReconciler::updateStatus);
        cache.listen(places.listener(policy -> leads && standings.incomplete(policy), nodes::add));
        every(chores, TICK, this::tick);
        every(timers, settings.resync(), this::resync);
    }

    /** Starts a monitor, which waits until this replica leads. */
    public static ObjectMonitor start(
            KubeClient api, NodeCache nodes, Consumer<LeaderListener> leadership, MonitorSettings settings) {
        ObjectMonitor monitor = new ObjectMonitor(api, nodes, settings);
        leadership.accept(monitor);
        return monitor;
    }

    private static ScheduledThreadPoolExecutor thread(String name) {
        ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, Threads.daemon(name));
        executor.setRemoveOnCancelPolicy(true);
        return executor;
    }

    private interface Chore {
        void run() throws InterruptedException;
    }

    private static void every(ScheduledThreadPoolExecutor executor, Duration period, Chore chore) {
        var unused = executor.scheduleWithFixedDelay(
                () -> safely(chore), period.toMillis(), period.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void chore(Chore chore) {
        try {
            chores.execute(() -> safely(chore));
        } catch (RejectedExecutionException e) {
            // The program stops; the next one begins with all objects.
        }
    }

    /** Runs a task. An error with one object or policy must not end the others. */
    private static void safely(Chore chore) {
        try {
            chore.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "this is a bug in gpuwarden", e);
        }
    }

    // ---- begin and end ----

    @Override
    public void begin() {
        leads = true;
        chore(() -> {
            if (leads && policies == null) {
                places.recall();
                policies = api.informer(PolicyStore.KIND, shelf.begin());
            }
        });
    }

    @Override
    public void end() {
        leads = false;
        nodes.end();
        statuses.end();
        chore(this::rest);
    }

    /** Ends the work. It also runs if this replica already leads again: the work then begins again after it. */
    private void rest() {
        works = false;
        nodes.end();
        statuses.end();
        ResourceInformer following = policies;
        if (following != null) {
            following.close();
            policies = null;
        }
        followers.values().forEach(KindInformer::close);
        followers.clear();
        shelf.clear();
        book.clear();
        places.forget();
    }

    // ---- reconciling ----

    private void nodeChanged(String node) {
        nodes.add(node);
    }

    /** Several changes that arrive together are handled together. */
    private void policiesChanged() {
        if (refreshing.compareAndSet(false, true)) {
            chore(() -> {
                refreshing.set(false);
                refresh();
            });
        }
    }

    private void refresh() throws InterruptedException {
        if (!leads || !shelf.isComplete()) {
            return;
        }
        if (!works) {
            works = true;
            nodes.begin();
            statuses.begin();
        }
        Map<String, PolicyStore.Entry> entries = shelf.entries();
        for (String policy : book.policies()) {
            PolicyStore.Entry entry = entries.get(policy);
            if (entry == null || entry.disabled()) {
                book.removeIf(policy, any -> true);
            }
        }
        Map<ResourceType, List<PolicyStats>> runs = shelf.runs();
        followers.entrySet().removeIf(entry -> {
            boolean same = entry.getValue().policies().equals(runs.getOrDefault(entry.getKey(), List.of()));
            if (!same) {
                entry.getValue().close();
            }
            return !same;
        });
        for (Map.Entry<ResourceType, List<PolicyStats>> type : runs.entrySet()) {
            if (!followers.containsKey(type.getKey())) {
                KindInformer follower = follower(type.getKey(), type.getValue());
                followers.put(type.getKey(), follower);
                follower.tend(true);
            }
        }
        for (KindInformer follower : followers.values()) {
            follower.tend(false);
        }
        book.nodes().forEach(nodes::add);
        queueStatuses();
    }

    private KindInformer follower(ResourceType type, List<PolicyStats> runs) {
        PolicyEvaluator watch = new PolicyEvaluator(type, runs, book, timers, clock, metrics, this::policiesChanged);
        return new KindInformer(api, type, runs, book, watch, settings.brokenWatch());
    }

    private void tick() throws InterruptedException {
        if (!works || !leads) {
            return;
        }
        long now = System.nanoTime();
        boolean discover = now - discoveredNanos >= settings.retry().toNanos();
        if (discover) {
            discoveredNanos = now;
            places.missing().forEach(nodes::add);
        }
        for (KindInformer follower : followers.values()) {
            follower.tend(discover);
        }
        standings.released().forEach(policy -> book.nodes(policy).forEach(nodes::add));
        queueStatuses();
    }

    private boolean held(String policy) {
        return standings.held(policy);
    }

    private void queueStatuses() {
        statuses().stream()
                .filter(status ->
                        !status.reason().equals(PolicyAssessor.LISTING) && statusReconciler.isOutdated(status))
                .forEach(status -> statuses.add(status.policy()));
    }

    private void resync() {
        if (leads) {
            followers.values().forEach(KindInformer::resync);
            book.nodes().forEach(nodes::add);
        }
    }

    // ---- statistics ----

    /** Returns one status for each policy, by name; none while another replica leads. */
    public List<PolicyStatus> statuses() {
        return leads ? standings.statuses() : List.of();
    }

    /**
     * The state of the informer of one type.
     *
     * @param objects the number of objects
     * @param timed the number of objects whose result can change as time passes
     * @param watching true if changes arrive now
     */
    public record Followed(int objects, int timed, boolean watching) {}

    /** Returns the states of the informers by type. */
    public Map<String, Followed> followed() {
        Map<String, Followed> followed = new LinkedHashMap<>();
        followers.forEach((type, follower) ->
                followed.put(type.toString(), new Followed(follower.objects(), follower.timed(), follower.watching())));
        return followed;
    }

    /** The number of evaluations of a policy, and of evaluations that failed or found no node. */
    public record Asked(long times, long errors) {}

    /** Returns the numbers of evaluations by policy. */
    public Map<String, Asked> asked() {
        Map<String, Asked> asked = new LinkedHashMap<>();
        shelf.entries()
                .forEach((policy, entry) ->
                        entry.run().ifPresent(run -> asked.put(policy, new Asked(run.evaluations(), run.errors()))));
        return asked;
    }

    /** Returns, by policy, the number of matches that concern one node: the node with the most of them. */
    public Map<String, Integer> mostOfANode() {
        Map<String, Integer> most = new LinkedHashMap<>();
        if (leads) {
            shelf.entries().keySet().forEach(policy -> most.put(policy, book.mostOfANode(policy)));
        }
        return most;
    }

    MonitorMetrics metrics() {
        return metrics;
    }

    public int queued() {
        return nodes.size();
    }

    public int failing() {
        return nodes.failing() + statuses.failing();
    }

    @Override
    public void close() {
        leads = false;
        nodes.close();
        statuses.close();
        chore(this::rest);
        chores.shutdown();
        timers.shutdownNow();
        try {
            var unused = chores.awaitTermination(2, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
