package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.maintenance.MaintenanceRecord;
import dev.gpuwarden.aggregator.maintenance.Stage;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The audit log of maintenance: each action before it begins, and its end with the time of each step. Thread-safe. */
public final class MaintenanceAuditLog {

    private final Consumer<MaintenanceAudit> audits;
    /** UIDs of the resources whose begin is recorded: a write that another writer has overtaken is made again. */
    private final Set<String> begun = ConcurrentHashMap.newKeySet();

    MaintenanceAuditLog(Consumer<MaintenanceAudit> audits) {
        this.audits = audits;
    }

    /** Records the begin of an action before the write that begins it. */
    void before(Maintenance resource, Step step, Instant now) {
        if (step instanceof Step.SetStatus status && status.change().begins() && begun.add(resource.uid())) {
            try {
                add(resource, status.change(), "start", now);
            } catch (RuntimeException e) {
                begun.remove(resource.uid());
                throw e;
            }
        }
    }

    /** Records the end of an action after the write that ends it. */
    void after(Maintenance resource, Step step, Instant now) {
        if (step instanceof Step.SetStatus status && status.change().result().isPresent()) {
            begun.remove(resource.uid());
            boolean success = status.change().result().get();
            boolean refused = resource.progress().started().isEmpty();
            add(resource, status.change(), success ? "succeeded" : refused ? "refused" : "failed", now);
        }
    }

    private void add(Maintenance resource, Progress.Change change, String decision, Instant now) {
        Map<String, Object> status = new LinkedHashMap<>(change.tree());
        resource.progress().started().ifPresent(start -> status.putIfAbsent("startTime", start.toString()));
        status.putIfAbsent("nodeUID", resource.progress().nodeUid());
        MaintenanceRecord record = MaintenanceRecord.of(
                resource.kind(),
                Map.of(
                        "metadata",
                        Map.of(
                                "name",
                                resource.name(),
                                "creationTimestamp",
                                resource.created().toString(),
                                "annotations",
                                resource.annotations()),
                        "status",
                        status));
        String reason = record.stages().stream()
                .filter(stage -> stage.state() == Stage.State.FAILED)
                .map(Stage::why)
                .findFirst()
                .orElse("");
        audits.accept(new MaintenanceAudit(
                now,
                resource.node(),
                JsonTrees.text(status, "nodeUID"),
                decision,
                reason,
                resource.title(),
                resource.uid(),
                resource.creator(),
                record.fault(),
                resource.uuids(),
                record.stages()));
    }

    /**
     * An audit record of maintenance.
     *
     * @param uid UID of the Node; empty if the action did not begin
     * @param decision start, succeeded, failed or refused
     * @param reason reason of a failure; empty otherwise
     * @param resource kind and name
     * @param createdBy field manager that created the resource; empty if unknown
     * @param fault faults for which it was made; empty for one that was made by hand
     * @param gpus UUIDs of the GPUs to reset; empty for other actions
     */
    public record MaintenanceAudit(
            Instant at,
            String node,
            String uid,
            String decision,
            String reason,
            String resource,
            String resourceUid,
            String createdBy,
            String fault,
            List<String> gpus,
            List<Stage> steps) {

        public Map<String, Object> toTree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("at", at.toString());
            tree.put("node", node);
            tree.put("uid", uid);
            tree.put("mode", "armed");
            tree.put("decision", "maintenance_" + decision);
            tree.put("reason", reason);
            tree.put("faults", fault.isEmpty() ? List.of() : List.of(fault));
            tree.put("resources", List.of(resource));
            tree.put("resourceUid", resourceUid);
            tree.put("createdBy", createdBy);
            tree.put("gpus", gpus);
            tree.put("steps", steps.stream().map(MaintenanceAudit::known).toList());
            return tree;
        }

        /** Returns a stage without its resource, which the record names, and without unknown times. */
        private static Map<String, Object> known(Stage stage) {
            Map<String, Object> tree = new LinkedHashMap<>();
            stage.tree().forEach((name, value) -> {
                if (value instanceof Optional<?> time) {
                    time.ifPresent(known -> tree.put(name, known));
                } else {
                    tree.put(name, value);
                }
            });
            tree.remove("resource");
            return tree;
        }
    }
}
