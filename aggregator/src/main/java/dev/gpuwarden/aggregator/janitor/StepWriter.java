package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.janitor.Scene.Written;
import dev.gpuwarden.aggregator.janitor.Step.SetLabels.Label;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.provider.NodeProvider;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The writer of steps. Each call is one write, or a request to a provider between two, and blocks for the API server. A write that another writer has overtaken changes
 * nothing and is no error: the facts are read again.
 *
 * @param nanoTime clock that is never set, and that goes on while this process stands still
 */
record StepWriter(
        KubeClient api,
        NodeLock locks,
        JobReader jobs,
        JanitorSettings settings,
        NodeProvider provider,
        Clock clock,
        LongSupplier nanoTime) {

    /** The age of a decision from which no request is made. More than the patience with the API server. */
    private static final Duration LATE = Duration.ofSeconds(15);

    private static final String BY = "?fieldManager=" + Maintenance.MANAGER;

    /**
     * Makes the write of a step. Returns the facts of its answer; empty if another writer was first.
     *
     * @throws IllegalArgumentException for a step without a write
     */
    Optional<Written> write(Maintenance resource, Step step) throws ApiException, InterruptedException {
        try {
            return Optional.of(make(resource, step));
        } catch (ApiException e) {
            if (!e.notFound() && !e.conflict() && !(step instanceof Step.SetLabels && e.invalid())) {
                throw e;
            }
            return Optional.empty();
        }
    }

    private Written make(Maintenance resource, Step step) throws ApiException, InterruptedException {
        if (step instanceof Step.AddFinalizer) {
            List<String> all = new ArrayList<>(resource.finalizers());
            all.add(Maintenance.FINALIZER);
            return finalizers(resource, all);
        }
        if (step instanceof Step.RemoveFinalizer) {
            Written removed = finalizers(
                    resource,
                    resource.finalizers().stream()
                            .filter(each -> !each.equals(Maintenance.FINALIZER))
                            .toList());
            // A deleted resource is gone then, and must not be stored again.
            return resource.deleted() ? Written.NOTHING : removed;
        }
        if (step instanceof Step.TakeLock) {
            return locks.take(resource).map(Written::of).orElse(Written.NOTHING);
        }
        if (step instanceof Step.ReleaseLock release) {
            locks.release(resource.node(), release.leaseUid());
            return Written.of(NodeLock.Lock.FREE);
        }
        if (step instanceof Step.SetStatus status) {
            return status(resource, status.change().tree());
        }
        if (step instanceof Step.Request request) {
            return request(resource, request);
        }
        if (step instanceof Step.CreateJob) {
            return Written.of(
                    jobs.of(resource, api.create(Jobs.kind(settings.namespace()).path(), Jobs.of(resource, settings))));
        }
        if (step instanceof Step.StartJob start) {
            return Written.of(jobs.of(
                    resource,
                    api.merge(
                            Jobs.kind(start.job().namespace()).path(start.job().name()) + BY,
                            Map.of(
                                    "metadata",
                                    Map.of(
                                            "uid",
                                            start.job().uid(),
                                            "resourceVersion",
                                            start.version(),
                                            "annotations",
                                            Map.of(Jobs.STARTED, clock.instant().toString())),
                                    "spec",
                                    Map.of("suspend", false)))));
        }
        act(resource, step);
        return Written.NOTHING;
    }

    private Written request(Maintenance resource, Step.Request request) throws ApiException, InterruptedException {
        try (NodeProvider.Connection connection = provider.connect()) {
            Map<String, Object> intention = request.intention().tree();
            long begin = nanoTime.getAsLong();
            Maintenance asked = status(resource, intention).resource().orElseThrow();
            Duration took = Duration.ofNanos(nanoTime.getAsLong() - begin);
            NodeProvider.Answer answer = took.compareTo(LATE) > 0
                    ? new NodeProvider.Answer.Refused("no request, because this replica stood still for "
                            + took.toSeconds() + " s after it had decided")
                    : asked(connection, resource);
            Progress.Change change = new Progress.Change(asked.progress(), clock.instant());
            return status(asked, NodeSignal.answered(change, answer).tree());
        }
    }

    private static NodeProvider.Answer asked(NodeProvider.Connection connection, Maintenance resource)
            throws InterruptedException {
        return resource.kind() == MaintenanceKind.REBOOT_NODE
                ? connection.reboot(resource.node(), resource.name())
                : connection.terminate(resource.node());
    }

    private Written status(Maintenance resource, Map<String, Object> status) throws ApiException, InterruptedException {
        return merged(resource, "/status", Map.of("status", status));
    }

    private void act(Maintenance resource, Step step) throws ApiException, InterruptedException {
        if (step instanceof Step.SetLabels labels) {
            labels(resource.node(), labels);
        } else if (step instanceof Step.StopJob stop) {
            api.delete(
                    Jobs.kind(stop.job().namespace()).path(stop.job().name()),
                    Map.of(
                            "propagationPolicy",
                            "Background",
                            "preconditions",
                            Map.of("uid", stop.job().uid())));
        } else if (step instanceof Step.Delete) {
            api.delete(
                    resource.path(),
                    Map.of("preconditions", Map.of("uid", resource.uid(), "resourceVersion", resource.version())));
        } else {
            throw new IllegalArgumentException("expected a write, found " + step);
        }
    }

    private Written merged(Maintenance resource, String subresource, Map<String, Object> change)
            throws ApiException, InterruptedException {
        Map<String, Object> all = JsonTrees.copy(change);
        Map<String, Object> metadata = JsonTrees.copy(JsonTrees.object(change, "metadata"));
        metadata.put("resourceVersion", resource.version());
        all.put("metadata", metadata);
        return Written.of(Maintenance.of(resource.kind(), api.merge(resource.path() + subresource + BY, all)));
    }

    private Written finalizers(Maintenance resource, List<String> all) throws ApiException, InterruptedException {
        return merged(resource, "", Map.of("metadata", Map.of("finalizers", all)));
    }

    private void labels(String node, Step.SetLabels step) throws ApiException, InterruptedException {
        var unused = api.patch(NodeCache.NODES.path(node) + BY, operations(step));
    }

    static List<Map<String, Object>> operations(Step.SetLabels step) {
        List<Map<String, Object>> operations = new ArrayList<>();
        operations.add(Map.of("op", "test", "path", "/metadata/uid", "value", step.uid()));
        operations.add(Map.of("op", "test", "path", "/metadata/resourceVersion", "value", step.version()));
        for (Label label : step.labels()) {
            String path = "/metadata/labels/" + label.key().replace("~", "~0").replace("/", "~1");
            operations.add(Map.of("op", "test", "path", path, "value", label.before()));
            operations.add(Map.of("op", "replace", "path", path, "value", label.after()));
        }
        return operations;
    }
}
