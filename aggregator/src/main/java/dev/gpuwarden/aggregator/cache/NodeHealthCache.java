package dev.gpuwarden.aggregator.cache;

import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * What somebody here knows of the cluster by following it, which saves requests where thousands of nodes come at once. May be some
 * moments old: good for what the API server refuses if it is wrong. Thread-safe.
 */
public interface NodeHealthCache {

    /** Remembers nothing. */
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
     * Has somebody told of each NodeHealth that is new or changed, from now on: its name, and the resource. Told while nothing
     * else changes, so must be quick.
     */
    default void follow(BiConsumer<String, Map<String, Object>> told) {}

    /** Empty where no such Node is known. */
    Optional<String> nodeUid(String node);

    /** The resource NodeHealth; empty where none is known. */
    Optional<Map<String, Object>> health(String node);

    /** The version of {@link #health}, without reading that. */
    Optional<String> healthVersion(String node);

    /**
     * A resource NodeHealth as the API server has just answered, which a watch tells later and may have told already. Told by the
     * thread that has asked, so must be quick.
     */
    void answered(Map<String, Object> health);
}
