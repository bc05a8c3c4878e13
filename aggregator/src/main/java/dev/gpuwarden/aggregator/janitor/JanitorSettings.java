package dev.gpuwarden.aggregator.janitor;

import java.time.Duration;
import java.util.regex.Pattern;

/**
 * The settings of the janitor.
 *
 * @param namespace namespace of the Jobs
 * @param lockNamespace namespace of the Leases; with NVSentinel's own, both exclude each other
 * @param image image of the Jobs
 * @param reboot the way in which nodes are rebooted
 * @param system namespaces whose pods may stay on a drained node
 */
public record JanitorSettings(
        String namespace,
        String lockNamespace,
        String image,
        RebootProvider reboot,
        Pattern system,
        JanitorTimes times) {

    /** The way in which a node is rebooted. */
    public enum RebootProvider {
        /** A privileged Job on the node requests the reboot from its systemd. */
        JOB,
        /** Another program reboots the nodes that have a RebootNode. This one waits for the new boot ID. */
        EXTERNAL,
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
     * @param poll interval at which Jobs and pods are read again
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
    }
}
