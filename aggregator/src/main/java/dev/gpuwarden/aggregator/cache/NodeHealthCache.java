package dev.gpuwarden.aggregator.cache;

import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * A cache of the cluster that informers fill. It saves requests when thousands of nodes connect at the same time. It may be
 * some moments old: use it only where the API server refuses a request from old data. Thread-safe.
 */
public interface NodeHealthCache {

    /** The cache that is always empty. */
    NodeHealthCache NONE = new NodeHealthCache() {
        @Override
        public Optional<String> nodeUid(String node) {
            return Optional.empty();
        }

        @Override
        public Optional<Map<String, Object>> health(String node) {
            return Optional.empty();
        }

        @Override
        public Optional<String> healthVersion(String node) {
            return Optional.empty();
        }

        @Override
        public void answered(Map<String, Object> health) {}
    };

    /**
     * Adds a receiver of each NodeHealth that is new or changed from now on.
     *
     * @param receiver receives the name and the resource; the cache applies no other change during a call, so it must return
     *     fast
     */
    default void follow(BiConsumer<String, Map<String, Object>> receiver) {}

    /** Returns the UID of a Node; empty if the cache does not contain it. */
    Optional<String> nodeUid(String node);

    /** Returns the resource NodeHealth; empty if the cache does not contain it. */
    Optional<Map<String, Object>> health(String node);

    /** Returns the version of {@link #health} without unpacking the resource; empty if the cache does not contain it. */
    Optional<String> healthVersion(String node);

    /**
     * Stores a resource NodeHealth that the API server has just returned. A watch may deliver it later, or have delivered it.
     * The thread that sent the request calls this, so it must return fast.
     */
    void answered(Map<String, Object> health);
}
