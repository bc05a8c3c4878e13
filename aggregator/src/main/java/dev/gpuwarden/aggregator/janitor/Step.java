package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.Progress.JobRef;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
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

    record AddFinalizer() implements Step {}

    record RemoveFinalizer() implements Step {}

    /** Creates the Lease of the node. */
    record TakeLock() implements Step {}

    /** Deletes the Lease of the node if it still has this UID. */
    record ReleaseLock(String leaseUid) implements Step {}

    record SetStatus(Progress.Change change) implements Step {}

    /** Changes labels of the Node, all or none: it must be the same Node, unchanged since it was read. */
    record SetLabels(NodeFacts node, List<Label> labels) implements Step {

        record Label(String key, String before, String after) {}
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

        /** The longest pause between two reads, in shortest ones. */
        private static final int LONGEST = 10;

        /**
         * Returns the wait before facts that no watch brings are read again: a quarter of the time that they have taken, so that
         * one that takes long costs few reads. It does not exceed the limit by more than the shortest pause.
         *
         * @param since begin of the wait
         * @param end limit of the wait
         */
        static Wait again(Scene scene, Instant since, Instant end) {
            Duration shortest = scene.settings().times().poll();
            Duration pause = Collections.min(List.of(
                    Duration.between(since, scene.now()).dividedBy(4),
                    shortest.multipliedBy(LONGEST),
                    Duration.between(scene.now(), end)));
            return new Wait(pause.compareTo(shortest) < 0 ? shortest : pause);
        }
    }

    /** Does nothing, because another janitor acts, or the API server keeps no step. */
    record Leave(String reason) implements Step {}
}
