package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.KubeClient.Pages;
import dev.gpuwarden.aggregator.janitor.Scene.JobFacts;
import dev.gpuwarden.aggregator.janitor.Scene.Lock;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodePod;
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

    /** Returns the facts at the beginning of a turn; empty if the resource is gone. */
    Optional<Scene> begin(Maintenance known) throws ApiException, InterruptedException {
        Scene scene = around(known);
        if (Steps.next(scene).testsVersion()) {
            return Optional.of(scene);
        }
        Optional<Maintenance> now = resource(known);
        if (now.isEmpty() || now.get().version().equals(known.version())) {
            return now.map(any -> scene);
        }
        return Optional.of(around(now.get()));
    }

    /** Returns all facts but the pods; empty if the resource is gone. */
    Optional<Scene> all(Maintenance known) throws ApiException, InterruptedException {
        Optional<Maintenance> now = resource(known);
        return now.isEmpty() ? Optional.empty() : Optional.of(around(now.get()));
    }

    /** Returns the facts for the step after an answer; empty if the resource is gone. */
    Optional<Scene> after(Scene answered) throws ApiException, InterruptedException {
        return Steps.next(answered).readsAll() ? all(answered.resource()) : Optional.of(answered);
    }

    /** Returns the facts with the pods of the node. */
    Scene pods(Scene scene) throws ApiException, InterruptedException {
        List<NodePod> pods = new ArrayList<>();
        Pages.each(
                api,
                "/api/v1/pods",
                "fieldSelector="
                        + Pages.encoded("spec.nodeName=" + scene.resource().node()),
                tree -> pods.add(NodePod.of(JsonTrees.copy(tree))));
        return scene.with(pods);
    }

    /** Returns the facts with the Job of the resource. */
    Scene job(Scene scene) throws ApiException, InterruptedException {
        return scene(scene.resource(), scene.node(), scene.lock(), jobs.find(scene.resource()));
    }

    /** Returns facts without a request. */
    Scene scene(Maintenance resource, Optional<NodeFacts> node, Lock lock, Optional<JobFacts> job) {
        ReportedGpus there = Acceptance.needsGpus(resource) ? gpus.apply(resource.node()) : ReportedGpus.NONE;
        return new Scene(
                resource, node, lock, job, Optional.empty(), ahead(resource), there, settings, clock.instant());
    }

    /** Returns the facts after a write, without a request; empty if they must be read. */
    Optional<Scene> answered(Scene before, Written written) {
        return before.after(written, ahead(before.resource()), clock.instant());
    }

    private Optional<Maintenance> resource(Maintenance known) throws ApiException, InterruptedException {
        Optional<Maintenance> now = api.find(known.path())
                .map(tree -> Maintenance.of(known.kind(), tree))
                .filter(found -> found.uid().equals(known.uid()));
        now.ifPresentOrElse(cache::keep, () -> cache.forget(known));
        return now;
    }

    private Scene around(Maintenance resource) throws ApiException, InterruptedException {
        Optional<NodeFacts> node = node(resource.node());
        Lock lock = locks.read(resource.node(), resource.uid());
        Optional<JobFacts> job = resource.progress().started().isPresent() ? jobs.find(resource) : Optional.empty();
        return scene(resource, node, lock, job);
    }

    private Optional<NodeFacts> node(String name) throws ApiException, InterruptedException {
        return api.find(NodeCache.NODES.path(name)).map(NodeFacts::of);
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
