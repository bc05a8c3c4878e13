package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.api.v1.Advertise;
import dev.gpuwarden.api.vram.CapacityPlan;
import dev.gpuwarden.api.vram.CapacityRules;
import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.core.util.JsonTrees;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** The writer of advertised values into Nodes. It reads a Node before it writes, and reads the answer to each write. Blocks. */
final class CapacityWriter {

    private static final System.Logger LOG = System.getLogger(CapacityWriter.class.getName());

    /** Writes in a row that another writer can provoke. Then it may provoke one in a minute. */
    static final int BURST = 10;

    private static final Duration EACH = Duration.ofMinutes(1);
    private static final Duration CONFIRM = Duration.ofHours(1);
    private static final int MOST_NODES = 20_000;

    private final KubeClient api;
    private final VramSettings settings;
    private final VramEvents events;
    private final VramMetrics metrics;
    private final Function<String, OptionalLong> reported;
    private final RateLimit limit;
    private final CapacityRules rules;

    /** @param reported the number of GPUs that a node itself reports, by its name; must not block */
    CapacityWriter(
            KubeClient api,
            VramSettings settings,
            VramEvents events,
            VramMetrics metrics,
            Function<String, OptionalLong> reported,
            LongSupplier nanoTime) {
        this.api = api;
        this.reported = reported;
        this.settings = settings;
        this.rules = settings.capacity();
        this.events = events;
        this.metrics = metrics;
        this.limit = new RateLimit(BURST, EACH.toNanos(), MOST_NODES, nanoTime);
    }

    /** Returns true if there is nothing of this program to remove, as far as the cached Node shows. */
    boolean hasNothing(CachedNode node) {
        return CapacityPlan.of(node.tree(), rules, OptionalLong.empty(), false) instanceof CapacityPlan.Unchanged;
    }

    /**
     * The end of a reconcile.
     *
     * @param warning consequences of the value for running pods; empty if it has none
     */
    private record Result(String outcome, String text, Duration again, String warning) {
        Result(String outcome, String text, Duration again) {
            this(outcome, text, again, "");
        }

        Result warn(String consequences) {
            return new Result(outcome, text, again, consequences);
        }

        String answer() {
            return warning.isEmpty() ? text : text + "; " + warning;
        }

        boolean accepted() {
            return outcome.equals("unchanged") || outcome.equals("written") || outcome.equals("removed");
        }
    }

    /** Writes the value if the Node has another, and answers the node. Returns the time until the next reconcile without another cause. */
    Duration reconcile(JoinedNode node, Advertise wanted) throws ApiException, InterruptedException {
        Optional<Map<String, Object>> there = api.find(NodeCache.NODES.path(node.name()));
        Result result = there.isEmpty()
                ? new Result("no_node", "the cluster has no Node '" + node.name() + "'", CONFIRM)
                : reconcile(node.name(), there.get(), wanted);
        if (there.isPresent() && wanted.hasMib() && result.accepted() && settings.advertises()) {
            mark(
                    there.get(),
                    wanted.hasLargestCardMib() ? OptionalLong.of(wanted.getLargestCardMib()) : OptionalLong.empty());
        }
        metrics.advertised.add(result.outcome());
        boolean news = node.answer(wanted, result.accepted(), result.answer());
        if (news && result.outcome().equals("refused")) {
            events.node(there.orElse(Map.of()), "VramNotAdvertised", result.text());
        }
        if (news && !result.warning().isEmpty()) {
            LOG.log(Level.WARNING, "node " + node.name() + ": " + result.answer());
            events.node(there.orElse(Map.of()), "VramBelowRequests", result.warning());
        }
        return result.again();
    }

    /** Writes the part of the largest card, which the amount of a Node does not show. */
    private void mark(Map<String, Object> node, OptionalLong card) throws ApiException, InterruptedException {
        Optional<Map<String, Object>> body = CardMark.write(node, card);
        if (body.isPresent()) {
            String name = JsonTrees.text(JsonTrees.object(node, "metadata"), "name");
            var unused = api.apply(NodeCache.NODES.path(name) + "/status", CardMark.MANAGER, body.get());
        }
    }

    /** Removes the resource from a Node that may not have it; leaves any other. */
    void removeFromExcluded(String name) throws ApiException, InterruptedException {
        Optional<Map<String, Object>> there = api.find(NodeCache.NODES.path(name));
        if (there.isPresent() && excluded(there.get())) {
            metrics.advertised.add(
                    reconcile(name, there.get(), OptionalLong.empty()).outcome());
        }
    }

    private boolean excluded(Map<String, Object> node) {
        return !settings.permits(JsonTrees.texts(JsonTrees.object(node, "metadata"), "labels"));
    }

    private Result reconcile(String name, Map<String, Object> node, Advertise wanted)
            throws ApiException, InterruptedException {
        OptionalLong mib = wanted.hasMib() ? OptionalLong.of(wanted.getMib()) : OptionalLong.empty();
        if (mib.isEmpty() || !excluded(node)) {
            Optional<String> refusal = mib.isEmpty() ? Optional.empty() : refusal(name, node, wanted);
            return refusal.isPresent() ? new Result("refused", refusal.get(), EACH) : reconcile(name, node, mib);
        }
        Result removed = reconcile(name, node, OptionalLong.empty());
        return removed.accepted()
                ? new Result("excluded", "the labels of the Node match no selector of --vram.nodes", CONFIRM)
                        .warn(removed.warning())
                : removed;
    }

    /** Returns why no node with these GPUs has this amount. The Node keeps the value that it has. */
    private Optional<String> refusal(String name, Map<String, Object> node, Advertise wanted) {
        OptionalLong card =
                wanted.hasLargestCardMib() ? OptionalLong.of(wanted.getLargestCardMib()) : OptionalLong.empty();
        return CardEvidence.of(node, reported.apply(name)).refusal(wanted.getMib(), card);
    }

    private Result reconcile(String name, Map<String, Object> node, OptionalLong mib)
            throws ApiException, InterruptedException {
        CapacityPlan plan = CapacityPlan.of(node, rules, mib, false);
        if (plan instanceof CapacityPlan.Unchanged unchanged) {
            return new Result("unchanged", unchanged.text(), CONFIRM);
        }
        if (plan instanceof CapacityPlan.Refused refused) {
            return new Result("refused", refused.text(), CONFIRM);
        }
        if (!settings.advertises()) {
            return new Result("off", "the aggregator writes no Node: its --vram.capacity is off", CONFIRM);
        }
        if (!limit.take(name)) {
            String text = "another writer changes " + settings.resource() + " of the Node again and again; next try in "
                    + EACH.toSeconds() + " s";
            return new Result("refused", text, EACH);
        }
        try {
            return plan instanceof CapacityPlan.Remove remove
                    ? remove(name, node, remove)
                    : write(name, ((CapacityPlan.Write) plan).body(), mib.orElseThrow());
        } catch (ApiException e) {
            if (e.invalid() || e.forbidden()) {
                return new Result("refused", "the API server refuses the value: " + e.answer(), EACH);
            }
            throw e;
        }
    }

    private Result write(String name, Map<String, Object> body, long mib) throws ApiException, InterruptedException {
        Map<String, Object> answer = apply(name, body);
        return rules.has(answer, mib)
                ? new Result("written", "the Node has " + settings.resource() + " " + mib, CONFIRM)
                        .warn(belowRequests(name, mib))
                : new Result("refused", "the API server accepted the value, and the Node does not have it", EACH);
    }

    private Result remove(String name, Map<String, Object> node, CapacityPlan.Remove remove)
            throws ApiException, InterruptedException {
        for (Map<String, Object> body : remove.bodies()) {
            var unused = apply(name, body);
        }
        mark(node, OptionalLong.empty());
        return new Result("removed", "the Node has no " + settings.resource() + " of gpuwarden any more", CONFIRM)
                .warn(belowRequests(name, 0));
    }

    /** Returns the consequences of an amount below the requests of the node's pods; empty where it is not below. */
    private String belowRequests(String name, long mib) throws InterruptedException {
        try {
            long requested = NodeRoom.read(api, name, settings.resource()).requested();
            return requested <= mib
                    ? ""
                    : "its pods request " + requested + " MiB, " + (requested - mib)
                            + " MiB more than that; they go on, new pods wait, and a kubelet that restarts may refuse"
                            + " some";
        } catch (ApiException e) {
            return "the requests of its pods cannot be compared with that: " + e.getMessage();
        }
    }

    private Map<String, Object> apply(String name, Map<String, Object> body) throws ApiException, InterruptedException {
        return api.apply(NodeCache.NODES.path(name) + "/status", CapacityPlan.MANAGER, body);
    }
}
