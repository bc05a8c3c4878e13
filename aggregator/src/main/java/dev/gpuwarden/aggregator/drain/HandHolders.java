package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.Mirror;
import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.aggregator.health.NodeHealths;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Which pods have which GPUs of one node, for a person: the API server is believed first, and then the node's daemon asked, unless
 * something stands against that.
 */
final class HandHolders implements GpuPods, AutoCloseable {

    private final GpuPods told;
    private final Optional<String> unasked;
    private final Optional<AskedGpuPods> daemon;
    private final Optional<Mirror> healths;

    private volatile boolean ready;

    /**
     * @param unasked why the daemon is not asked; empty where it is
     * @param fleet gets the node's NodeHealth
     * @param again told when there may be an answer
     */
    HandHolders(
            ClusterApi api, String node, Optional<String> unasked, Fleet fleet, Clock clock, Consumer<String> again) {
        this.told = new StatusGpuPods(clock);
        this.unasked = unasked;
        this.ready = unasked.isPresent();
        if (unasked.isPresent()) {
            daemon = Optional.empty();
            healths = Optional.empty();
        } else {
            daemon = Optional.of(new AskedGpuPods(told, api, fleet, clock, again));
            // What is asked must be known before the answer to it can be.
            healths = Optional.of(
                    api.mirror(NodeHealths.ALL, Map.of("metadata.name", node), new Complete(fleet.healths(), () -> {
                        ready = true;
                        again.accept(node);
                    })));
        }
    }

    /** Whether it may be asked who holds what. */
    boolean ready() {
        return ready;
    }

    @Override
    public Answer holders(NodeRead node, Set<String> gpus, Collection<PodRead> pods, Instant since) {
        if (daemon.isPresent()) {
            return daemon.get().holders(node, gpus, pods, since);
        }
        Answer answer = told.holders(node, gpus, pods, since);
        return answer instanceof Answer.Unknown unknown
                ? new Answer.Unknown(unknown.why() + ", and " + unasked.orElse("nobody is asked"))
                : answer;
    }

    @Override
    public void close() {
        daemon.ifPresent(AskedGpuPods::close);
        healths.ifPresent(Mirror::close);
    }

    /** Passes on what it is told, and says when that was all. */
    static final class Complete implements Mirror.Listener {
        private final Mirror.Listener told;
        private final Runnable then;

        Complete(Mirror.Listener told, Runnable then) {
            this.told = told;
            this.then = then;
        }

        @Override
        public void there(String name, Map<String, Object> tree) {
            told.there(name, tree);
        }

        @Override
        public void gone(String name) {
            told.gone(name);
        }

        @Override
        public void complete() {
            told.complete();
            then.run();
        }
    }
}
