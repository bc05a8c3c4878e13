package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.JanitorTimes;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The options for the limits of the steps of maintenance. */
final class JanitorTimeOptions {

    private static final Duration LEAST = Duration.ofSeconds(10);
    private static final Duration MOST = Duration.ofDays(7);

    @Option(
            names = "--janitor.teardown-timeout",
            defaultValue = "5m",
            paramLabel = "DURATION",
            description = "Longest wait for the GPU Operator's pods to end before a reset, 10s to 7d"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration teardown = JanitorTimes.DEFAULT.teardown();

    @Option(
            names = "--janitor.job-timeout",
            defaultValue = "10m",
            paramLabel = "DURATION",
            description = "Longest run of a Job, 10s to 7d. The reset itself may take 5m, and its checks and the"
                    + " evidence of a failure some minutes more (default: ${DEFAULT-VALUE}).")
    Duration job = JanitorTimes.DEFAULT.job();

    @Option(
            names = "--janitor.restore-timeout",
            defaultValue = "10m",
            paramLabel = "DURATION",
            description = "Longest wait for the GPU Operator's pods to be ready again after a reset, 10s to 7d"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration restore = JanitorTimes.DEFAULT.restore();

    @Option(
            names = "--janitor.reboot-timeout",
            defaultValue = "30m",
            paramLabel = "DURATION",
            description = "Longest time from the signal of a reboot to the ready Node, 10s to 7d"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration reboot = JanitorTimes.DEFAULT.reboot();

    @Option(
            names = "--janitor.terminate-timeout",
            defaultValue = "24h",
            paramLabel = "DURATION",
            description = "Longest wait for another program to remove the Node of a TerminateNode, 10s to 7d"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration terminate = JanitorTimes.DEFAULT.terminate();

    /** Returns the times. Throws {@link UserError} for one out of range. */
    JanitorTimes times(Duration keep) {
        within("--janitor.teardown-timeout", teardown);
        within("--janitor.job-timeout", job);
        within("--janitor.restore-timeout", restore);
        within("--janitor.reboot-timeout", reboot);
        within("--janitor.terminate-timeout", terminate);
        return new JanitorTimes(teardown, job, restore, reboot, terminate, keep, JanitorTimes.DEFAULT.poll());
    }

    private static void within(String option, Duration value) {
        if (value.compareTo(LEAST) < 0 || value.compareTo(MOST) > 0) {
            throw new UserError(option + ": expected " + Durations.text(LEAST) + " to " + Durations.text(MOST)
                    + ", seen " + Durations.text(value));
        }
    }
}
