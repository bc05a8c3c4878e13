package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.remediation.NodePipeline.Resources;
import java.util.Optional;
import java.util.function.Consumer;

/** The maintenance resources that a replica follows, for readers that change nothing. Thread-safe. */
public interface MaintenanceView {

    /** The view of a replica without repairs. */
    MaintenanceView OFF = new MaintenanceView() {
        @Override
        public Resources of(CachedNode node) {
            return Resources.unread("this replica follows no maintenance resources (--remediation.mode=off)");
        }

        @Override
        public Optional<String> inProgress(CachedNode node) {
            return Optional.empty();
        }

        @Override
        public void listen(Consumer<String> changed) {}
    };

    Resources of(CachedNode node);

    /** Returns what is under way on a node, this program's and others'; empty if nothing is known to be. */
    Optional<String> inProgress(CachedNode node);

    /** @param changed receives the node of each resource that changes; must not block */
    void listen(Consumer<String> changed);
}
