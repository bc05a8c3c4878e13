package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.api.kube.Condition;
import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.api.kube.FaultText;
import dev.gpuwarden.api.kube.NodeConditions;
import dev.gpuwarden.api.kube.NodeView;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.kube.KubernetesOptions.Part;
import dev.gpuwarden.daemon.sink.Wakeup;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Makes this node's conditions and labels in the API what they must be: at start, when something changes, when the API server is
 * back, and now and then, in case somebody else changed them. Holds what the server last said of the node and nothing else, so
 * however long the server is away costs nothing. Sleeps while nothing changes.
 */
public final class NodeReconciler implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(NodeReconciler.class.getName());

    /** What belongs together is written together: one fault is several lines of the log. */
    private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    /** 10,000 nodes ask 17 times a second. */
    static final Duration LOOK_AGAIN = Duration.ofMinutes(10);
    /** What flaps all day changes the Node twice a minute at most. */
    private static final int BURST = 10;

    private static final Duration EACH = Duration.ofSeconds(30);
    private static final Duration REPEATED_EACH = Duration.ofSeconds(30);
    /** Where a person must change something first. */
    private static final int SLOW = 5;

    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(2), 0.5);

    private final KubeClient client;
    private final KubeCounters tally;
    private final String node;
    private final Set<Part> parts;
    private final boolean dryRun;
    private final EventRepeats news;
    private final NodeStatusSource facts;
    private final Clock clock;
    private final Duration lookAgain;
    private final Wakeup bell = new Wakeup();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final RateLimiter pace = new RateLimiter(BURST, EACH, System.nanoTime());
    private final RateLimiter repeats = new RateLimiter(1, REPEATED_EACH, System.nanoTime());
    private final Thread thread;

    private @Nullable NodeView view;
    private long lookNanos;
    private int failures;
    private String logged = "";

    /** @param lookAgain how often the server is asked what it has, if nothing else makes this node ask */
    NodeReconciler(
            KubernetesNode target,
            KubeClient client,
            KubeCounters tally,
            EventRepeats news,
            NodeStatusSource facts,
            Clock clock,
            Duration lookAgain) {
        this.lookAgain = lookAgain;
        this.client = client;
        this.tally = tally;
        this.node = target.name();
        this.parts = target.parts();
        this.dryRun = target.dryRun();
        this.news = news;
        this.facts = facts;
        this.clock = clock;
        this.thread = Threads.daemon("gpuwarden-kube-node", Threads.SMALL_STACK_BYTES, this::run);
    }

    void start() {
        thread.start();
    }

    /** Something may have changed. Never waits. */
    public void look() {
        bell.ring();
    }

    private void run() {
        try {
            while (ended.getCount() > 0) {
                bell.await(turn());
                var unused = ended.await(SETTLE_NANOS, TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            // The daemon ends; the next one begins with what is there.
            Thread.currentThread().interrupt();
        }
    }

    /** Returns how long until there is something to do if nobody rings. */
    private long turn() throws InterruptedException {
        try {
            long wait = writeNode();
            tally.settled();
            wait = Math.min(wait, tellRepeats());
            if (failures > 0) {
                LOG.log(Level.INFO, "Node " + node + " is kept up to date again");
                logged = "";
                failures = 0;
            }
            return wait;
        } catch (KubeException | RuntimeException e) {
            failed(e);
            return 0;
        }
    }

    private long writeNode() throws KubeException, InterruptedException {
        if (!parts.contains(Part.conditions) && !parts.contains(Part.labels)) {
            return lookAgain.toNanos();
        }
        NodeView there = there();
        List<Fault> faults = facts.faults();
        if (parts.contains(Part.conditions)) {
            Optional<List<Condition>> conditions =
                    NodeConditions.change(faults, facts.complete(), there, clock.instant());
            if (conditions.isPresent()) {
                long wait = pace.waitNanos(System.nanoTime());
                if (wait > 0) {
                    return wait;
                }
                there = there.withConditionsOf(write(
                        ApiRequest.conditions(node, NodeConditions.body(node, conditions.get())),
                        told(conditions.get(), there)));
                view = there;
            }
        }
        if (parts.contains(Part.labels)) {
            Map<String, @Nullable String> labels = LabelPatch.of(facts.results(), facts.complete(), faults, there);
            if (!labels.isEmpty()) {
                long wait = pace.waitNanos(System.nanoTime());
                if (wait > 0) {
                    return wait;
                }
                view = there.withLabelsOf(write(ApiRequest.labels(node, LabelPatch.body(labels)), "labels " + labels));
            }
        }
        return Math.max(0, lookNanos - System.nanoTime());
    }

    private NodeView there() throws KubeException, InterruptedException {
        NodeView there = view;
        // What a dry run would have written is not there however often one looks.
        if (there == null || !dryRun && lookNanos - System.nanoTime() <= 0) {
            there = view(client.ask(ApiRequest.read(node)));
            view = there;
            double jitter = 0.9 + ThreadLocalRandom.current().nextDouble() / 5;
            lookNanos = System.nanoTime() + (long) (lookAgain.toNanos() * jitter);
        }
        return there;
    }

    private static NodeView view(Optional<JsonObject> node) {
        return NodeView.of(node.orElse(JsonObject.NONE).map(), ApiRequest.MANAGER);
    }

    private NodeView write(ApiRequest request, String what) throws KubeException, InterruptedException {
        NodeView after = view(client.ask(request));
        pace.take(System.nanoTime());
        if (!what.isEmpty()) {
            LOG.log(Level.INFO, (dryRun ? "dry run: would write to Node " : "wrote to Node ") + node + ": " + what);
        }
        return after;
    }

    private static String told(List<Condition> conditions, NodeView there) {
        return conditions.stream()
                .filter(condition -> {
                    Condition before = there.conditions().get(condition.type());
                    return before == null || !before.says(condition);
                })
                .map(condition -> "condition " + condition.type() + "=" + condition.status() + " ("
                        + FaultText.line(condition.message(), 200) + ")")
                .collect(Collectors.joining(", "));
    }

    /** The count of an Event is a nicety: one that was told with others, or by the daemon before, is left alone. */
    private long tellRepeats() throws KubeException, InterruptedException {
        if (!parts.contains(Part.events) || !news.anyRepeated()) {
            return Long.MAX_VALUE;
        }
        long wait = repeats.waitNanos(System.nanoTime());
        if (wait > 0) {
            return wait;
        }
        repeats.take(System.nanoTime());
        for (StoredEvent stored : news.repeated()) {
            EventObject told = EventObject.of(List.of(stored), node).get(0);
            if (news.countsOne(told)) {
                var unused = client.ask(ApiRequest.event(told.name(), told.told()));
            }
        }
        return Long.MAX_VALUE;
    }

    private void failed(Exception cause) throws InterruptedException {
        // Whatever was written or not: it is asked for again.
        view = null;
        boolean slow = cause instanceof KubeException answered && answered.slow();
        String kind = cause instanceof KubeException answered ? "answer " + answered.status() : cause.toString();
        if (!logged.equals(kind)) {
            logged = kind;
            LOG.log(
                    Level.WARNING,
                    "Node " + node + " is not kept up to date in Kubernetes, which is tried again: "
                            + (cause instanceof KubeException ? cause.getMessage() : cause.toString()));
        }
        failures++;
        Duration wait = RETRY.pause(failures).multipliedBy(slow ? SLOW : 1);
        // Not on the bell: news are no reason to try sooner.
        var unused = ended.await(wait.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        ended.countDown();
        thread.interrupt();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(2));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
