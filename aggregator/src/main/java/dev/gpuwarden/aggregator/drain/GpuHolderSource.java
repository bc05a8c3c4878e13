package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.pods.PodView;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A source of the holders of a node's GPUs. Several threads call it; it must not block. */
public interface GpuHolderSource {

    sealed interface Answer {

        /**
         * Reports the holders of the GPUs.
         *
         * @param holders UUIDs of the requested GPUs that each pod holds, by `NAMESPACE/NAME` of the pod
         * @param asOf time of the information
         * @param processes pods that have them open without being holders
         */
        record Known(Map<String, Set<String>> holders, Instant asOf, GpuProcesses processes) implements Answer {
            public Known {
                holders = Map.copyOf(holders);
            }

            /** Creates an answer of a source that does not search processes. */
            Known(Map<String, Set<String>> holders, Instant asOf) {
                this(holders, asOf, GpuProcesses.unknown("processes were not searched"));
            }

            Known with(GpuProcesses found) {
                return new Known(holders, asOf, found);
            }
        }

        /** The holders cannot be found, at least not soon: all pods have to leave. */
        record Unknown(String why) implements Answer {}

        /** The holders were requested. The source adds the node to the work queue when the answer has come, or has failed. */
        record Asked(String what) implements Answer {}
    }

    /**
     * Returns the pods that hold GPUs of a node.
     *
     * @param gpus UUIDs of the GPUs
     * @param pods all pods of the node, as the API server has them now
     * @param since start of the drain, after the cordon; older information is not used
     */
    Answer holders(CachedNode node, Set<String> gpus, Collection<PodView> pods, Instant since);

    /** The devices that kubelets write into the status of each pod that requests some. */
    public record FromPodStatus(Clock clock) implements GpuHolderSource {

        /** The UUID of a GPU in the name of a device; behind it, the number of a share of the GPU, or its MIG device. */
        private static final Pattern GPU = Pattern.compile("(GPU-[^:/]+)(?:(?:::|/).*)?$");

        @Override
        public Answer holders(CachedNode node, Set<String> gpus, Collection<PodView> pods, Instant since) {
            Map<String, Set<String>> holders = new TreeMap<>();
            for (PodView pod : pods) {
                if (!pod.wantsGpu() || pod.ended()) {
                    continue;
                }
                if (pod.devices().isEmpty()) {
                    return new Answer.Unknown("the status of pod " + pod.path() + " does not name its GPUs");
                }
                for (String device : pod.devices().get()) {
                    Matcher gpu = GPU.matcher(device);
                    if (!gpu.find()) {
                        return new Answer.Unknown("pod " + pod.path() + " has " + device + ", which may be of any GPU");
                    }
                    if (gpus.contains(gpu.group(1))) {
                        holders.computeIfAbsent(pod.path(), any -> new HashSet<>())
                                .add(gpu.group(1));
                    }
                }
            }
            return new Answer.Known(holders, clock.instant());
        }
    }
}
