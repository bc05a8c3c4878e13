package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainTimes;
import dev.gpuwarden.aggregator.pods.PodView;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The holders of one node's GPUs for a command: the pods' status and the node's daemon, unless it must not be asked.
 */
final class HoldersOfOneNode implements GpuHolderSource, AutoCloseable {

    private final GpuHolderSource podStatus;
    private final Optional<String> unasked;
    private final Optional<KubeletGpuHolders> daemon;

    /**
     * @param unasked reason why the daemon is not asked; empty if it is
     * @param cache cache that follows the node's NodeHealth if the daemon is asked
     * @param again called when an answer may be present
     */
    HoldersOfOneNode(KubeClient api, Optional<String> unasked, NodeCache cache, Clock clock, Consumer<String> again) {
        this.podStatus = new GpuHolderSource.FromPodStatus(clock);
        this.unasked = unasked;
        this.daemon = unasked.isPresent()
                ? Optional.empty()
                : Optional.of(
                        new KubeletGpuHolders(podStatus, api, cache, clock, DrainTimes.DEFAULT.holders(), true, again));
    }

    @Override
    public Answer holders(CachedNode node, Set<String> gpus, Collection<PodView> pods, Instant since) {
        if (daemon.isPresent()) {
            return daemon.get().holders(node, gpus, pods, since);
        }
        return KubeletGpuHolders.without(
                podStatus.holders(node, gpus, pods, since), unasked.orElse("its daemon is not asked"));
    }

    @Override
    public void close() {
        daemon.ifPresent(KubeletGpuHolders::close);
    }
}
