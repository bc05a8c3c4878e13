package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Which pods hold which GPUs of a node. Called by several threads; must not block. */
public interface GpuHolderSource {

    sealed interface Answer {

        /**
         * @param holders by `NAMESPACE/NAME` of each pod that holds any of the GPUs asked for, those
         * @param asOf when it was so
         */
        record Known(Map<String, Set<String>> holders, Instant asOf) implements Answer {
            public Known {
                holders = Map.copyOf(holders);
            }
        }

        /** It cannot be known, at least not soon: all pods have to go. */
        record Unknown(String why) implements Answer {}

        /** It is being asked for; whoever knows has the node looked at again when there is an answer, and when there is none. */
        record Asked(String what) implements Answer {}
    }

    /**
     * @param gpus their UUIDs
     * @param pods all of the node, as the API server has them now
     * @param since when the drain began, with the node cordoned: what was known before is too old
     */
    Answer holders(CachedNode node, Set<String> gpus, Collection<PodView> pods, Instant since);

    /** What kubelets write into their pods' status: the devices of each container that asks for some. */
    public static final class FromPodStatus implements GpuHolderSource {

        private static final String GPU = "GPU-";
        /** Between a GPU and the number of one of those who share it. */
        private static final String REPLICA = "::";

        private final Clock clock;

        public FromPodStatus(Clock clock) {
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
                        holders.computeIfAbsent(pod.path(), any -> new HashSet<>())
                                .add(gpu);
                    }
                }
            }
            return new Answer.Known(holders, clock.instant());
        }
    }
}
