package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.KubeClient.Pages;
import dev.gpuwarden.aggregator.janitor.JobReader.JobFacts;
import dev.gpuwarden.aggregator.janitor.NodeLock.Lock;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodePod;
import dev.gpuwarden.aggregator.janitor.Scene.Source;
import dev.gpuwarden.aggregator.janitor.Scene.Written;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A reader of the facts for the steps of a resource: as few as the next step needs. A method that throws {@link ApiException} blocks
 * for the API server. Thread-safe.
 */
final class SceneReader {

    private final KubeClient api;
    private final MaintenanceCache cache;
    private final JanitorSettings settings;
    private final NodeLock locks;
    private final JobReader jobs;
    private final Function<String, ReportedGpus> gpus;
    private final Clock clock;

    /** @param gpus returns the GPUs that a node reports */
    SceneReader(
            KubeClient api,
            MaintenanceCache cache,
            JanitorSettings settings,
            NodeLock locks,
            JobReader jobs,
            Function<String, ReportedGpus> gpus,
            Clock clock) {
        this.api = api;
        this.cache = cache;
        this.settings = settings;
        this.locks = locks;
        this.jobs = jobs;
        this.gpus = gpus;
        this.clock = clock;
    }

    /**
     * Returns the facts at the beginning of a turn.
     *
     * @param known the resource as its watch delivered it
     * @param before the facts with which it waits for its Job or its Node, with the Node of the watch; empty if it waits for neither
     */
    Scene begin(Maintenance known, Optional<Scene> before) throws ApiException, InterruptedException {
        if (!known.isBusy()) {
            return scene(known, Optional.empty(), Lock.FREE, Optional.empty(), Source.WATCHED);
        }
        return before.isPresent()
                ? scene(known, before.get().node(), before.get().lock(), jobs.find(known), Source.WATCHED)
                : around(known, Source.DELIVERED);
    }

    /** Returns newer facts, or new ones with the pods of the node; empty if the resource is gone. */
    Optional<Scene> more(Scene scene) throws ApiException, InterruptedException {
        return switch (scene.source()) {
            case WATCHED -> Optional.of(around(scene.resource(), Source.DELIVERED));
            case DELIVERED -> confirmed(scene);
            case ANSWERED -> all(scene.resource());
            case READ -> Optional.of(scene.with(pods(scene.resource().node())));
        };
    }

    /** Returns the facts after a write; empty if the resource is gone. */
    Optional<Scene> after(Scene before, Optional<Written> written) throws ApiException, InterruptedException {
        Maintenance resource = before.resource();
        Optional<Scene> answered = written.flatMap(made -> before.after(made, ahead(resource), clock.instant()));
        return answered.isPresent() ? answered : all(resource);
    }

    private Optional<Scene> confirmed(Scene scene) throws ApiException, InterruptedException {
        Maintenance known = scene.resource();
        Optional<Maintenance> now = resource(known);
        if (now.filter(read -> read.version().equals(known.version())).isPresent()) {
            return Optional.of(scene(known, scene.node(), scene.lock(), scene.job(), Source.READ));
        }
        return now.isEmpty() ? Optional.empty() : Optional.of(around(now.get(), Source.READ));
    }

    private Optional<Scene> all(Maintenance known) throws ApiException, InterruptedException {
        Optional<Maintenance> now = resource(known);
        return now.isEmpty() ? Optional.empty() : Optional.of(around(now.get(), Source.READ));
    }

    private Scene around(Maintenance resource, Source source) throws ApiException, InterruptedException {
        Optional<NodeFacts> node =
                api.find(NodeCache.NODES.path(resource.node())).map(NodeFacts::of);
        Lock lock = locks.read(resource.node(), resource.uid());
        Optional<JobFacts> job = resource.progress().started().isPresent() ? jobs.find(resource) : Optional.empty();
        return scene(resource, node, lock, job, source);
    }

    private Scene scene(
            Maintenance resource, Optional<NodeFacts> node, Lock lock, Optional<JobFacts> job, Source source) {
        ReportedGpus there = Acceptance.needsGpus(resource) ? gpus.apply(resource.node()) : ReportedGpus.NONE;
        return new Scene(
                resource, node, lock, job, Optional.empty(), ahead(resource), there, settings, clock.instant(), source);
    }

    private Optional<Maintenance> resource(Maintenance known) throws ApiException, InterruptedException {
        Optional<Maintenance> now = api.find(known.path())
                .map(tree -> Maintenance.of(known.kind(), tree))
                .filter(found -> found.uid().equals(known.uid()));
        now.ifPresentOrElse(cache::keep, () -> cache.forget(known));
        return now;
    }

    private List<NodePod> pods(String node) throws ApiException, InterruptedException {
        List<NodePod> pods = new ArrayList<>();
        Pages.each(
                api,
                "/api/v1/pods",
                "fieldSelector=" + Pages.encoded("spec.nodeName=" + node),
                tree -> pods.add(NodePod.of(JsonTrees.copy(tree))));
        return pods;
    }

    private List<Maintenance> ahead(Maintenance resource) {
        return cache.ofNode(resource.node()).stream()
                .filter(other -> !other.uid().equals(resource.uid()))
                .filter(Maintenance::inProgress)
                .filter(other -> other.begun() || other.foreign().isEmpty())
                .filter(other -> Maintenance.ORDER.compare(other, resource) < 0
                        || other.progress().started().isPresent())
                .toList();
    }
}
