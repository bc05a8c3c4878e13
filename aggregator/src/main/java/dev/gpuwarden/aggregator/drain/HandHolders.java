package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Which pods have which GPUs of one node, for a person: the API server is believed first, and then the node's daemon asked, unless
 * something stands against that.
 */
final class HandHolders implements GpuHolderSource, AutoCloseable {

    private final GpuHolderSource told;
    private final Optional<String> unasked;
    private final Optional<KubeletGpuHolders> daemon;

    /**
     * @param unasked why the daemon is not asked; empty where it is
     * @param fleet follows the node's NodeHealth where it is
     * @param again told when there may be an answer
     */
    HandHolders(KubeClient api, Optional<String> unasked, NodeCache fleet, Clock clock, Consumer<String> again) {
        this.told = new GpuHolderSource.FromPodStatus(clock);
        this.unasked = unasked;
        this.daemon = unasked.isPresent()
                ? Optional.empty()
                : Optional.of(new KubeletGpuHolders(told, api, fleet, clock, DrainTimes.DEFAULT.holders(), again));
    }

    @Override
    public Answer holders(CachedNode node, Set<String> gpus, Collection<PodView> pods, Instant since) {
        if (daemon.isPresent()) {
            return daemon.get().holders(node, gpus, pods, since);
        }
        Answer answer = told.holders(node, gpus, pods, since);
        return answer instanceof Answer.Unknown unknown
                ? new Answer.Unknown(
                        unknown.why() + unasked.map(why -> ", and " + why).orElse(""))
                : answer;
    }

    @Override
    public void close() {
        daemon.ifPresent(KubeletGpuHolders::close);
    }
}
