package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What kubelets write into their pods' status: the devices of each container that asks for some. */
public final class PodStatusGpuHolders implements GpuHolderSource {

    private static final String GPU = "GPU-";
    /** Between a GPU and the number of one of those who share it. */
    private static final String REPLICA = "::";

    private final Clock clock;

    public PodStatusGpuHolders(Clock clock) {
        this.clock = clock;
    }

    @Override
    public Answer holders(CachedNode node, Set<String> gpus, Collection<PodView> pods, Instant since) {
        Map<String, Set<String>> holders = new TreeMap<>();
        for (PodView pod : pods) {
            if (!pod.wantsGpu() || pod.ended()) {
                continue;
            }
            if (pod.devices().isEmpty()) {
                return new Answer.Unknown("the status of pod " + pod.path() + " does not tell which GPUs it has");
            }
            for (String device : pod.devices().get()) {
                String id = device.substring(Math.max(0, device.indexOf(GPU)));
                int end = id.indexOf(REPLICA);
                String gpu = end < 0 ? id : id.substring(0, end);
                if (!gpu.startsWith(GPU)) {
                    return new Answer.Unknown("pod " + pod.path() + " has " + device + ", which may be of any GPU");
                }
                if (gpus.contains(gpu)) {
                    holders.computeIfAbsent(pod.path(), any -> new HashSet<>()).add(gpu);
                }
            }
        }
        return new Answer.Known(holders, clock.instant());
    }
}
