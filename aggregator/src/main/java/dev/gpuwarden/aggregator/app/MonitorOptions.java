package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.objectmonitor.MonitorSettings;
import dev.gpuwarden.cli.UserError;
import java.time.Duration;
import picocli.CommandLine.Option;

/** How objects are monitored. */
final class MonitorOptions {

    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final int MOST = 64;
    private static final int MOST_CONFIRM_FROM = 1_000_000;

    @Option(
            names = "--monitor.resync",
            defaultValue = "5m",
            paramLabel = "TIME",
            description =
                    "How often objects are asked about again of which a MonitorPolicy can say something else because of"
                            + " the time alone; when it does, that is foreseen besides (default: ${DEFAULT-VALUE}).")
    Duration resync = Duration.ofMinutes(5);

    @Option(
            names = "--monitor.concurrency",
            defaultValue = "8",
            paramLabel = "N",
            description = "So many nodes are told of their objects at once (default: ${DEFAULT-VALUE}).")
    int concurrency = 8;

    @Option(
            names = "--monitor.retry",
            defaultValue = "30s",
            paramLabel = "TIME",
            description =
                    "How often kinds of objects are looked for that are not installed, or may not be read (default:"
                            + " ${DEFAULT-VALUE}).")
    Duration retry = Duration.ofSeconds(30);

    @Option(
            names = "--monitor.confirm-from",
            defaultValue = "" + MonitorSettings.CONFIRM_FROM,
            paramLabel = "N",
            description =
                    "From so many objects of its kind, or nodes, on, a MonitorPolicy that matches more than half of them"
                            + " raises no new fault until a person confirms it (default: ${DEFAULT-VALUE}).")
    int confirmFrom = MonitorSettings.CONFIRM_FROM;

    /** Throws {@link UserError} for what cannot be. */
    MonitorSettings settings(ActionMode mode) {
        atLeast("--monitor.resync", resync);
        atLeast("--monitor.retry", retry);
        if (concurrency < 1 || concurrency > MOST) {
            throw new UserError("--monitor.concurrency: expected 1 to " + MOST + ", found " + concurrency);
        }
        if (confirmFrom < 1 || confirmFrom > MOST_CONFIRM_FROM) {
            throw new UserError(
                    "--monitor.confirm-from: expected 1 to " + MOST_CONFIRM_FROM + ", found " + confirmFrom);
        }
        return new MonitorSettings(resync, concurrency, retry, mode == ActionMode.ARMED, confirmFrom);
    }

    private static void atLeast(String option, Duration given) {
        if (given.compareTo(SHORTEST) < 0) {
            throw new UserError(option + ": expected 1s at least, found " + given.toMillis() + "ms");
        }
    }
}
