package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.maintenance.MaintenanceRecord;
import dev.gpuwarden.aggregator.maintenance.Stage;
import dev.gpuwarden.aggregator.part.AuditLog.Entry;
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

    private final Consumer<Entry> audits;
    /** UIDs of the resources whose begin is recorded: a write that another writer has overtaken is made again. */
    private final Set<String> begun = ConcurrentHashMap.newKeySet();

    MaintenanceAuditLog(Consumer<Entry> audits) {
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

    /**
     * Adds a record. The UID of the Node is empty if the action did not begin, and the faults if it was made by hand.
     *
     * @param decision start, succeeded, failed or refused
     */
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
        Map<String, Object> more = new LinkedHashMap<>();
        more.put("faults", record.fault().isEmpty() ? List.of() : List.of(record.fault()));
        more.put("resources", List.of(resource.title()));
        more.put("resourceUid", resource.uid());
        more.put("createdBy", resource.creator());
        more.put("gpus", resource.uuids());
        more.put(
                "steps",
                record.stages().stream().map(MaintenanceAuditLog::known).toList());
        audits.accept(new Entry(
                now,
                resource.node(),
                JsonTrees.text(status, "nodeUID"),
                "",
                false,
                "maintenance",
                decision,
                reason,
                more));
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
