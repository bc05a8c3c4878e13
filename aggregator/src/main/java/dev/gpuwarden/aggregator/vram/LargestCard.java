package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.vram.BudgetedNodes.Amount;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * The largest card of the cluster, in the ConfigMap that the component vram-warnings installs. Each replica compares it each
 * minute; equal values are not written. Without the ConfigMap or the right to read it, nothing happens. Thread-safe.
 */
final class LargestCard implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(LargestCard.class.getName());

    private static final String TASK = "gpuwarden-vram";
    private static final Duration EACH = Duration.ofMinutes(1);

    private final KubeClient api;
    private final VramSettings settings;
    private final Supplier<List<Amount>> nodes;
    private final Clock clock;
    private final Duration settle;
    private final WorkQueue queue = new WorkQueue("largest card in ConfigMap", 1).run(any -> reconcile());
    private OptionalLong last = OptionalLong.empty();
    private String foreign = "";

    /**
     * @param nodes all nodes that have the resource; must not block
     * @param settle pause after a change, so that the Nodes of a first list are compared together
     */
    LargestCard(KubeClient api, VramSettings settings, Supplier<List<Amount>> nodes, Clock clock, Duration settle) {
        this.api = api;
        this.settings = settings;
        this.nodes = nodes;
        this.clock = clock;
        this.settle = settle;
        queue.begin();
    }

    /** Compares soon. Call it after each change of a node; does not block. */
    void nodesChanged() {
        OptionalLong now = largest();
        synchronized (this) {
            if (now.equals(last)) {
                return;
            }
            last = now;
        }
        queue.addAfter(TASK, settle);
    }

    private OptionalLong largest() {
        return nodes.get().stream().mapToLong(Amount::largestCard).max();
    }

    private void reconcile() throws ApiException, InterruptedException {
        // First, so that it does not replace the earlier time of a change.
        queue.addAfter(TASK, EACH);
        OptionalLong mib = largest();
        if (mib.isPresent() && mib.getAsLong() > 0) {
            reconcile(mib.getAsLong());
        }
    }

    private void reconcile(long mib) throws ApiException, InterruptedException {
        String path = "/api/v1/namespaces/" + settings.namespace() + "/configmaps/" + CardParameter.CONFIG_MAP;
        Optional<Map<String, Object>> there;
        try {
            there = api.find(path);
        } catch (ApiException e) {
            if (e.forbidden()) {
                // The component is not installed.
                return;
            }
            throw e;
        }
        CardParameter plan = there.isEmpty()
                ? new CardParameter.Unchanged()
                : CardParameter.of(there.get(), settings.resource(), mib, clock.instant());
        String why = plan instanceof CardParameter.Foreign other ? other.why() : "";
        if (!why.isEmpty() && !why.equals(foreign)) {
            LOG.log(
                    Level.INFO,
                    "ConfigMap " + CardParameter.CONFIG_MAP + " does not follow the largest card, " + mib + " MiB: "
                            + why);
        }
        foreign = why;
        if (plan instanceof CardParameter.Write write) {
            write(path, write);
        }
    }

    private void write(String path, CardParameter.Write write) throws ApiException, InterruptedException {
        try {
            var unused = api.apply(path, CardParameter.MANAGER, write.body());
            LOG.log(Level.INFO, "ConfigMap " + CardParameter.CONFIG_MAP + ": " + write.text());
        } catch (ApiException e) {
            if (!e.conflict()) {
                throw e;
            }
            // An operator or another replica wrote since the read.
            queue.addAfter(TASK, settle);
        }
    }

    @Override
    public void close() {
        queue.close();
    }
}
