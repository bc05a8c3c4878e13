package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.janitor.Step.SetLabels.Label;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The writer of steps. Each call is one write, and blocks for the API server. A write that another writer has overtaken changes
 * nothing and is no error: the facts are read again.
 */
final class StepWriter {

    private static final String BY = "?fieldManager=" + Maintenance.MANAGER;

    private final KubeClient api;
    private final NodeLock locks;
    private final JanitorSettings settings;

    StepWriter(KubeClient api, NodeLock locks, JanitorSettings settings) {
        this.api = api;
        this.locks = locks;
        this.settings = settings;
    }

    /**
     * Makes the write of a step. Returns false if another writer was first.
     *
     * @throws IllegalArgumentException for a step without a write
     */
    boolean write(Maintenance resource, Step step) throws ApiException, InterruptedException {
        try {
            make(resource, step);
            return true;
        } catch (ApiException e) {
            if (!e.notFound() && !e.conflict() && !(step instanceof Step.SetLabels && e.invalid())) {
                throw e;
            }
            return false;
        }
    }

    private void make(Maintenance resource, Step step) throws ApiException, InterruptedException {
        if (step instanceof Step.AddFinalizer) {
            List<String> all = new ArrayList<>(resource.finalizers());
            all.add(Maintenance.FINALIZER);
            finalizers(resource, all);
        } else if (step instanceof Step.RemoveFinalizer) {
            finalizers(
                    resource,
                    resource.finalizers().stream()
                            .filter(each -> !each.equals(Maintenance.FINALIZER))
                            .toList());
        } else if (step instanceof Step.TakeLock) {
            locks.take(resource);
        } else if (step instanceof Step.ReleaseLock release) {
            locks.release(resource.node(), release.leaseUid());
        } else if (step instanceof Step.SetStatus status) {
            var unused = api.merge(
                    resource.path() + "/status" + BY,
                    Map.of(
                            "metadata",
                            Map.of("resourceVersion", resource.version()),
                            "status",
                            status.change().tree()));
        } else if (step instanceof Step.SetLabels labels) {
            labels(resource.node(), labels);
        } else if (step instanceof Step.CreateJob) {
            var unused = api.create(Jobs.kind(settings.namespace()).path(), Jobs.of(resource, settings));
        } else if (step instanceof Step.StartJob start) {
            var unused = api.merge(
                    Jobs.kind(start.job().namespace()).path(start.job().name()) + BY,
                    Map.of("metadata", Map.of("uid", start.job().uid()), "spec", Map.of("suspend", false)));
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

    private void finalizers(Maintenance resource, List<String> all) throws ApiException, InterruptedException {
        var unused = api.merge(
                resource.path() + BY,
                Map.of("metadata", Map.of("resourceVersion", resource.version(), "finalizers", all)));
    }

    private void labels(String node, Step.SetLabels step) throws ApiException, InterruptedException {
        var unused = api.patch(NodeCache.NODES.path(node) + BY, operations(step));
    }

    static List<Map<String, Object>> operations(Step.SetLabels step) {
        List<Map<String, Object>> operations = new ArrayList<>();
        operations.add(Map.of(
                "op", "test", "path", "/metadata/uid", "value", step.node().uid()));
        operations.add(Map.of(
                "op",
                "test",
                "path",
                "/metadata/resourceVersion",
                "value",
                step.node().version()));
        for (Label label : step.labels()) {
            String path = "/metadata/labels/" + label.key().replace("~", "~0").replace("/", "~1");
            operations.add(Map.of("op", "test", "path", path, "value", label.before()));
            operations.add(Map.of("op", "replace", "path", path, "value", label.after()));
        }
        return operations;
    }
}
