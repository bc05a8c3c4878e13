package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.Progress.JobRef;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.time.Duration;
import java.util.List;

/** The next step for a resource: at most one write, but for {@link Request}. */
sealed interface Step {

    /**
     * Returns true if all facts must be read again before this step, if it follows from an answer. False if it acts on no node, and its
     * write has a precondition: a version, a UID, or the absence of the object. A wait ends with the next change.
     */
    default boolean readsAll() {
        return !(testsVersion() && !(this instanceof Request || this instanceof Delete || this instanceof Leave)
                || this instanceof TakeLock
                || this instanceof ReleaseLock
                || this instanceof CreateJob);
    }

    /**
     * Returns true if the step may be decided for a resource that a watch has delivered, which can be old: its write requires that
     * version, or it makes no write.
     */
    default boolean testsVersion() {
        return this instanceof AddFinalizer
                || this instanceof RemoveFinalizer
                || this instanceof SetStatus
                || this instanceof Request
                || this instanceof Delete
                || this instanceof Wait
                || this instanceof Leave;
    }

    /** Returns true if the step acts on the node, so that {@link ActGate} must let it pass. */
    default boolean acts() {
        return this instanceof StartJob
                || this instanceof Request
                || this instanceof SetLabels labels && labels.stops();
    }

    record AddFinalizer() implements Step {}

    record RemoveFinalizer() implements Step {}

    /** Creates the Lease of the node. */
    record TakeLock() implements Step {}

    /** Deletes the Lease of the node if it still has this UID. */
    record ReleaseLock(String leaseUid) implements Step {}

    record SetStatus(Progress.Change change) implements Step {}

    /**
     * Changes labels of the Node, all or none: it must be the same Node, unchanged since it was read.
     *
     * @param uid UID of the Node
     * @param version its resourceVersion
     */
    record SetLabels(String uid, String version, List<Label> labels) implements Step {

        record Label(String key, String before, String after) {}

        /** Returns true if services stop. */
        boolean stops() {
            return labels.stream().anyMatch(label -> label.after().equals(MaintenanceKind.PAUSED));
        }
    }

    /** Creates the Job, which does not run yet: a leader that was replaced may be late with this write. */
    record CreateJob() implements Step {}

    /** Lets the Job run, once: it must be unchanged since it was read. */
    record StartJob(JobRef job, String version) implements Step {}

    record StopJob(JobRef job) implements Step {}

    /** Stores the intention, then asks the provider, then stores its answer. */
    record Request(Progress.Change intention) implements Step {}

    /** Deletes the resource itself. */
    record Delete() implements Step {}

    /** Reads the pods of the node, and decides again. */
    record ReadPods() implements Step {}

    /** Does nothing until something changes, and no longer than this. */
    record Wait(Duration most) implements Step {

        /** The time after which the facts are read again without a cause. */
        static final Duration LATER = Duration.ofMinutes(1);
    }

    /** Does nothing, because another janitor acts, or the API server keeps no step. */
    record Leave(String reason) implements Step {}

    /**
     * The result of an action: the decision of its kind, from which {@link Steps} make the writes of its end.
     *
     * @param reason reason of the done condition
     * @param message the subject, what was expected and what was seen
     */
    record End(boolean success, String reason, String message) implements Step {

        static End failed(String reason, String message) {
            return new End(false, reason, message);
        }
    }
}
