package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Set;

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
}
