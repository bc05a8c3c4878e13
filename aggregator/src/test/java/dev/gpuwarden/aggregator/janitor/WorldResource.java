package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JobReader.JobFacts;
import dev.gpuwarden.aggregator.janitor.Scene.Written;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.MaintenanceRecord;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** A maintenance resource with its Job, as the API server holds them. */
final class WorldResource {

    /** A Job; it runs from its start to its result. */
    static final class Job {
        final String uid;
        Instant begun;
        /** The time of its start by the API server's clock. */
        Instant startedAt;

        long version;
        boolean started;
        /** True once the kubelet has started its program. */
        boolean begunOnNode;

        boolean suspended = true;
        Optional<Boolean> succeeded = Optional.empty();
        Optional<Integer> exitCode = Optional.empty();
        String message = "failed";

        Job(String uid, Instant created) {
            this.uid = uid;
            this.begun = created;
            this.startedAt = created;
        }

        JobFacts facts() {
            return new JobFacts(
                    uid,
                    Long.toString(version),
                    begun,
                    started,
                    suspended,
                    succeeded,
                    exitCode.or(() -> succeeded.map(success -> success ? 0 : 1)),
                    succeeded.orElse(true) ? "" : message);
        }

        boolean runs() {
            return !suspended && succeeded.isEmpty();
        }
    }

    final MaintenanceKind kind;
    final String uid;
    final Instant created;
    final List<String> finalizers = new ArrayList<>();
    final Map<String, Object> status = new HashMap<>();
    /** The fields of a status that the definition of the kind keeps; all if it is empty. */
    Set<String> kept = Set.of();
    /** True once a definition has dropped the conditions. */
    boolean pruned;
    /** True once another janitor has added its finalizer, or written the status. */
    boolean shared;

    final Set<String> statusManagers = new TreeSet<>(Set.of(Maintenance.MANAGER));
    long version;
    long generation = 1;
    /** The time of the begin of its action by the API server's clock. */
    Instant begun;

    boolean deleted;
    boolean gone;
    Optional<Job> job = Optional.empty();
    int starts;
    /** The number of acts on the node. */
    int acts;

    WorldResource(MaintenanceKind kind, String uid, Instant created) {
        this.kind = kind;
        this.uid = uid;
        this.created = created;
        this.begun = created;
    }

    Maintenance read() {
        return new Maintenance(
                kind,
                "maintenance-" + uid,
                uid,
                Long.toString(version),
                generation,
                created,
                deleted,
                List.copyOf(finalizers),
                List.copyOf(statusManagers),
                Map.of(),
                JanitorWorld.NODE,
                kind == MaintenanceKind.GPU_RESET ? List.of("GPU-" + uid) : List.of(),
                List.of(),
                false,
                Progress.of(status),
                "kubectl-create");
    }

    /** Returns the resource as operators see it. */
    MaintenanceRecord shown() {
        return MaintenanceRecord.of(
                kind,
                Map.of(
                        "metadata",
                        Map.of("name", "maintenance-" + uid, "creationTimestamp", created.toString()),
                        "status",
                        status));
    }

    boolean ended() {
        return status.containsKey("completionTime");
    }

    /** Another janitor writes the status. */
    void writtenByOther(Map<String, Object> change) {
        shared = true;
        statusManagers.add("janitor");
        status.putAll(change);
        changed();
    }

    Written answer() {
        changed();
        return gone ? Written.NOTHING : Written.of(read());
    }

    void changed() {
        version++;
        if (!kept.isEmpty()) {
            status.keySet().retainAll(kept);
            pruned |= !kept.contains("conditions");
        }
        gone = deleted && finalizers.isEmpty();
        if (gone) {
            job = Optional.empty();
        }
    }
}
