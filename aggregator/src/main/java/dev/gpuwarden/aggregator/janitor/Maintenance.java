package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.MaintenanceRecord;
import dev.gpuwarden.api.kube.ForeignJanitor;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A maintenance resource as the API server returned it.
 *
 * @param version its resourceVersion, which each write of its status requires
 * @param created creation by the API server's clock
 * @param deleted true if its deletion was requested
 * @param statusManagers field managers that have written its status
 * @param uuids GPUs of the selector, by UUID, each once
 * @param addresses GPUs of the selector, by PCI address
 * @param creator field manager that created it; empty if unknown
 */
record Maintenance(
        MaintenanceKind kind,
        String name,
        String uid,
        String version,
        long generation,
        Instant created,
        boolean deleted,
        List<String> finalizers,
        List<String> statusManagers,
        Map<String, String> annotations,
        String node,
        List<String> uuids,
        List<String> addresses,
        boolean force,
        Progress progress,
        String creator) {

    /** The finalizer of this program, while it acts. */
    static final String FINALIZER = "gpuwarden.dev/janitor";

    /** The field manager of all writes of the janitor. */
    static final String MANAGER = "gpuwarden-janitor";

    /** The UID of the Node for which a resource was made. */
    static final String NODE_UID = "gpuwarden.dev/node-uid";

    /** The label of a Job and its pod with the UID of their resource. */
    static final String OF = "gpuwarden.dev/maintenance";

    /** The order in which the resources of a node get its lock. */
    static final Comparator<Maintenance> ORDER =
            Comparator.comparing(Maintenance::created).thenComparing(Maintenance::uid);

    static Maintenance of(MaintenanceKind kind, Map<String, Object> tree) {
        Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
        Map<String, Object> spec = JsonTrees.object(tree, "spec");
        Map<String, Object> selector = JsonTrees.object(spec, "selector");
        return new Maintenance(
                kind,
                JsonTrees.text(metadata, "name"),
                JsonTrees.text(metadata, "uid"),
                JsonTrees.text(metadata, "resourceVersion"),
                JsonTrees.longNumber(metadata, "generation"),
                JsonTrees.time(metadata, "creationTimestamp").orElse(Instant.EPOCH),
                metadata.containsKey("deletionTimestamp"),
                JsonTrees.textList(metadata, "finalizers"),
                JsonTrees.objects(metadata, "managedFields").stream()
                        .filter(fields -> JsonTrees.text(fields, "subresource").equals("status"))
                        .map(fields -> JsonTrees.text(fields, "manager"))
                        .toList(),
                JsonTrees.texts(metadata, "annotations"),
                Identifiers.node(JsonTrees.text(spec, "nodeName")),
                List.copyOf(Identifiers.gpus(JsonTrees.textList(selector, "uuids"))),
                JsonTrees.textList(selector, "pciBusIDs"),
                JsonTrees.isTrue(spec, "force"),
                Progress.of(JsonTrees.object(tree, "status")),
                MaintenanceRecord.creator(metadata));
    }

    String path() {
        return kind.resources().path(name);
    }

    /** Returns kind and name, for texts. */
    String title() {
        return kind.resources().kind() + " " + name;
    }

    /** Returns the name of its Job. It follows from the UID, so a second create fails. */
    String jobName() {
        String action = switch (kind) {
            case GPU_RESET -> "gpu-reset-";
            case REBOOT_NODE -> "reboot-";
            case TERMINATE_NODE -> "terminate-";
        };
        return action + uid;
    }

    boolean hasFinalizer() {
        return finalizers.contains(FINALIZER);
    }

    boolean inProgress() {
        return progress.completed().isEmpty();
    }

    /** Returns true if this janitor may have work left for it. */
    boolean isBusy() {
        return inProgress() || hasFinalizer();
    }

    /** Returns true if this program has begun its action, and not ended it. */
    boolean begun() {
        return inProgress() && hasFinalizer() && progress.isRecorded();
    }

    /** Returns true if the resource has ended and no janitor has work left for it. */
    boolean released() {
        return !inProgress() && finalizers.isEmpty();
    }

    /** Returns true if the resource was deleted, or its spec changed, after the action had begun. */
    boolean cancelled() {
        return deleted || progress.observedGeneration() != 0 && progress.observedGeneration() != generation;
    }

    /** Returns the text about its deletion or change. */
    String cancellation() {
        return title()
                + (deleted
                        ? " was deleted in the middle"
                        : ": expected the spec of generation " + progress.observedGeneration() + ", seen "
                                + generation);
    }

    /** Returns the text about a Job whose result is lost. */
    String interruption() {
        return "Job " + jobName()
                + ": expected it to run once, seen it suspended after its start by another controller:"
                + " its pod may have acted, so it is not started again";
    }

    /** Returns the text about a condition that was written and is missing. */
    String notKept(String condition) {
        return "the status of " + title() + ": expected the condition " + condition
                + ", which this program has written, seen none: the definition "
                + kind.resources().plural() + "." + MaintenanceKind.GROUP
                + " does not keep status.conditions, or another program has removed it. Apply gpuwarden's definitions";
    }

    /**
     * Returns the reason why another janitor carries out this resource; empty if none does. It may begin at any time, also in the
     * middle of an action of this one.
     */
    Optional<String> foreign() {
        return ForeignJanitor.of(title(), finalizers, statusManagers);
    }
}
