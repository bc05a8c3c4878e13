package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.LeaderElector;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The creation of the resources of repairs.
 *
 * @param recheck last check before each creation
 * @param nanoTime clock that is never set, and that goes on while this process stands still
 */
record RepairRequests(
        KubeClient api,
        MaintenanceResources resources,
        RepairTemplates templates,
        TemplateLock lock,
        Recheck recheck,
        LongSupplier nanoTime) {

    private static final System.Logger LOG = System.getLogger(RepairRequests.class.getName());

    /** The pause before another try for the lock. */
    private static final Duration LOCKED = Duration.ofSeconds(5);

    /** The pause before another decision, in which the watch delivers what the last check has read. */
    private static final Duration CHANGED = Duration.ofSeconds(1);

    /** The age of a decision after which another replica may lead, and may have ended the repair. */
    private static final Duration LATE = LeaderElector.Times.DEFAULT.leaseDuration();

    /** The result of a try. */
    sealed interface Result {

        /** The resource exists now. */
        record Made() implements Result {}

        /** Nothing was done: the attempt must be decided again. */
        record Later(Duration pause) implements Result {}

        /** The API server refuses the resource for good. */
        record Refused(String why) implements Result {}
    }

    /** The last check of a node before an act on it. Blocks. */
    interface Recheck {
        /** Returns true if the attempt may still begin. */
        boolean still(CachedNode node, Repair repair) throws ApiException, InterruptedException;
    }

    /** Returns the time of a decision, which begins now. */
    long decisionNanos() {
        return nanoTime.getAsLong();
    }

    /**
     * Creates the resource of a repair, unless it exists, and takes the lock of the node before for a template. Blocks.
     *
     * @param demands requests of the node's faults
     * @param decisionNanos begin of the decision, whose record has been written
     * @throws ApiException if a request fails, so that a later one may succeed
     */
    Result make(CachedNode node, Repair repair, List<Demand> demands, long decisionNanos)
            throws ApiException, InterruptedException {
        Duration age = Duration.ofNanos(nanoTime.getAsLong() - decisionNanos);
        if (age.compareTo(LATE) > 0) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "node " + node.name() + ": " + repair.resource()
                            + " is decided again, because this replica stood still for " + age.toSeconds()
                            + " s after it had decided");
            return new Result.Later(Duration.ZERO);
        }
        if (!recheck.still(node, repair)) {
            LOG.log(
                    System.Logger.Level.INFO,
                    "node " + node.name() + ": " + repair.resource()
                            + " is decided again: expected a node in quarantine with its fault, seen another state");
            return new Result.Later(CHANGED);
        }
        if (repair.group().template().isPresent() && !lock.take(node, repair)) {
            return new Result.Later(LOCKED);
        }
        Optional<String> refused = create(node, repair, demands);
        return refused.isPresent() ? new Result.Refused(refused.get()) : new Result.Made();
    }

    /** Returns the reason why the API server refuses the resource for good; empty if it exists now. */
    private Optional<String> create(CachedNode node, Repair repair, List<Demand> demands)
            throws ApiException, InterruptedException {
        Optional<RepairTemplate> template = templates.of(repair.group());
        if (template.isEmpty() && repair.group().template().isPresent()) {
            return Optional.of("its template is no longer configured");
        }
        ResourceKind kind = repair.group().kind().resources();
        Map<String, Object> made;
        try {
            made = api.create(
                    kind.path() + "?fieldManager=" + RepairAnnotations.MANAGER,
                    template.isPresent()
                            ? template.get().body(node.name(), node.uid(), repair, values(node, repair, demands))
                            : body(node, repair));
        } catch (ApiException e) {
            if (e.invalid() || e.unreadable()) {
                return Optional.of("the API server refuses its resource: " + e.answer());
            }
            if (!e.alreadyThere()) {
                throw e;
            }
            made = api.get(kind.path(repair.resource()));
        }
        if (!isOf(node, made)) {
            return Optional.of("a resource with its name exists already, of another creator");
        }
        resources.answered(repair.group().kind(), made);
        return Optional.empty();
    }

    /** Returns the values for an attempt. After a change of the faults, they are those of another one of its GPUs. */
    static Map<String, Object> values(CachedNode node, Repair repair, List<Demand> demands) {
        Demand demand = demands.stream()
                .filter(each -> each.fault().equals(repair.fault()))
                .findFirst()
                .or(() -> demands.stream().filter(repair::isFor).findFirst())
                .orElseThrow(() -> new IllegalStateException("an attempt without a fault: " + repair));
        return FaultJson.values(node.name(), node.uid(), repair, demand);
    }

    /** Returns true for a resource that this program has made for the Node. */
    static boolean isOf(CachedNode node, Map<String, Object> tree) {
        Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
        return MaintenanceResource.US.equals(JsonTrees.texts(metadata, "labels").get(MaintenanceResource.MANAGED_BY))
                && node.uid().equals(JsonTrees.texts(metadata, "annotations").get(MaintenanceResource.NODE_UID));
    }

    static Map<String, Object> body(CachedNode node, Repair repair) {
        ResourceKind kind = repair.group().kind().resources();
        Map<String, Object> spec = new LinkedHashMap<>();
        spec.put("nodeName", node.name());
        if (repair.group().restarts()) {
            spec.put("force", false);
        } else {
            spec.put("selector", Map.of("uuids", List.copyOf(repair.group().gpus())));
        }
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("name", repair.resource());
        metadata.put("labels", Map.of(MaintenanceResource.MANAGED_BY, MaintenanceResource.US));
        metadata.put(
                "annotations",
                Map.of(
                        MaintenanceResource.NODE_UID, node.uid(),
                        MaintenanceResource.FAULT, repair.why(),
                        MaintenanceResource.GROUP, repair.group().name()));
        metadata.put("ownerReferences", List.of(NodeCache.NODES.reference(node.name(), node.uid())));
        return Map.of("apiVersion", kind.apiVersion(), "kind", kind.kind(), "metadata", metadata, "spec", spec);
    }
}
