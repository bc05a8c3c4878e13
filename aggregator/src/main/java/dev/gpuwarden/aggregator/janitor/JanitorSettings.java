package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.pods.SystemNamespaces;
import dev.gpuwarden.aggregator.provider.NodeProvider;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The settings of the janitor.
 *
 * @param namespace namespace of the Jobs
 * @param lockNamespace namespace of the Leases; with NVSentinel's own, both exclude each other
 * @param image image of the Jobs
 * @param reboot the way in which nodes are rebooted
 * @param command the operator's program; empty if another way reboots the nodes
 * @param system namespaces whose pods may stay on a drained node: those of the drain
 */
public record JanitorSettings(
        String namespace,
        String lockNamespace,
        String image,
        RebootProvider reboot,
        Optional<NodeCommand> command,
        SystemNamespaces system,
        JanitorTimes times) {

    /** The ServiceAccount of the Jobs, in their namespace: with it their programs test again just before they act. */
    public static final String JOB_ACCOUNT = "gpuwarden-maintenance";

    /**
     * A program of the operator that reboots and terminates machines.
     *
     * @param words the program and its arguments
     * @param secret Secret whose keys become environment variables of the program; empty for none
     */
    public record NodeCommand(String image, List<String> words, Optional<String> secret) {
        public NodeCommand {
            words = List.copyOf(words);
        }
    }

    /** The way in which a node is rebooted. */
    public enum RebootProvider {
        /** A privileged Job on the node requests the reboot from its systemd. */
        JOB,
        /** Another program reboots the nodes that have a RebootNode. This one waits for the new boot ID. */
        EXTERNAL,
        /** A Job on another node runs the operator's program, for each reboot and for each termination. */
        COMMAND,
        /** A {@link NodeProvider} is asked for each reboot, and for each termination. */
        PROVIDER
    }

    /**
     * The times of the janitor.
     *
     * @param teardown limit for the end of the operator's pods
     * @param job limit for the run of a Job
     * @param restore limit for the return of the operator's pods
     * @param reboot limit from the signal to the ready Node
     * @param terminate limit for the end of a Node
     * @param keep time for which completed resources are kept
     * @param poll shortest interval at which Jobs and pods are read again; ten times as long while they take long
     */
    public record JanitorTimes(
            Duration teardown,
            Duration job,
            Duration restore,
            Duration reboot,
            Duration terminate,
            Duration keep,
            Duration poll) {

        public static final JanitorTimes DEFAULT = new JanitorTimes(
                Duration.ofMinutes(5),
                Duration.ofMinutes(10),
                Duration.ofMinutes(10),
                Duration.ofMinutes(30),
                Duration.ofHours(24),
                Duration.ofDays(14),
                Duration.ofSeconds(1));

        /** The time beyond the Job's own limit after which it is stopped from here. */
        private static final Duration JOB_SLACK = Duration.ofMinutes(1);

        /** The longest pause between two reads, in shortest ones. */
        private static final int LONGEST_PAUSE = 10;

        /** Returns the time from its start after which a Job is stopped. */
        Duration jobLimit() {
            return job.plus(JOB_SLACK);
        }

        /**
         * Returns the pause before Jobs and pods are read again: a quarter of the time that they have taken, so that one that takes
         * long costs few reads. It does not exceed the limit by more than the shortest pause.
         *
         * @param past time since the begin of the wait
         * @param left time until the limit of the wait
         */
        Duration pause(Duration past, Duration left) {
            Duration pause = Collections.min(List.of(past.dividedBy(4), poll.multipliedBy(LONGEST_PAUSE), left));
            return pause.compareTo(poll) < 0 ? poll : pause;
        }
    }
}
