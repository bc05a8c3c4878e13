package dev.gpuwarden.daemon.vram.account;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.kube.KubeWatch;
import dev.gpuwarden.daemon.kube.NodeApi;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.daemon.vram.kube.PodControl;
import dev.gpuwarden.daemon.vram.kube.PodTerms;
import dev.gpuwarden.daemon.vram.kube.Pods;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/** The way to this node's pods by the daemon's own account. Pods that may be others by now are unknown, never gone. */
public final class NodeAccount implements PodControl, AutoCloseable {

    private final NodeApi api;
    private final String resource;
    private final NodeEvents events;
    private final CapacityKeeper keeper;
    private final PodList list;
    private final Optional<KubeWatch> pods;

    private NodeAccount(NodeApi api, String resource, boolean followsPods, Duration silence) {
        this.api = api;
        this.resource = resource;
        this.events = new NodeEvents(api);
        this.list = new PodList(resource);
        this.keeper = new CapacityKeeper(api, resource, events, followsPods, silence);
        this.pods = followsPods ? Optional.of(api.watchPods(list, silence)) : Optional.empty();
    }

    /**
     * Starts to follow the Node and its pods.
     *
     * @param followsPods false to remove an earlier amount from the Node, and do nothing else
     */
    public static NodeAccount start(NodeApi api, String resource, boolean followsPods) {
        return start(api, resource, followsPods, KubeWatch.SILENCE);
    }

    /** @param silence time without a sign of the API server after which pods are unknown */
    static NodeAccount start(NodeApi api, String resource, boolean followsPods, Duration silence) {
        return new NodeAccount(api, resource, followsPods, silence);
    }

    @Override
    public Reading<Pods> pods() {
        Optional<String> doubt = pods.map(KubeWatch::doubt).orElse(Optional.of("pods are not followed"));
        return doubt.isEmpty()
                ? Reading.of(list.pods())
                : Reading.absent(Absence.STALE, 0, "this node's pods are unknown: " + doubt.get());
    }

    @Override
    public void advertise(OptionalLong mib, OptionalLong ofLargestCard) {
        keeper.set(mib);
    }

    @Override
    public Actuator eviction(PodTerms terms, Duration mostGrace) {
        return new PodDeletion(api, resource, terms, mostGrace, events);
    }

    @Override
    public void close() {
        pods.ifPresent(KubeWatch::close);
        keeper.close();
        events.close();
    }
}
