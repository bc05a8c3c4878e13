package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.objectmonitor.MonitorSettings;
import dev.gpuwarden.cli.UserError;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The options of the object monitor. */
final class MonitorOptions {

    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final int MOST = 64;
    private static final int MOST_CONFIRM_FROM = 1_000_000;

    @Option(
            names = "--monitor.resync",
            defaultValue = "5m",
            paramLabel = "TIME",
            description = "Interval at which a MonitorPolicy is evaluated again for objects whose match time alone can"
                    + " change; the moment of the change is computed in addition (default: ${DEFAULT-VALUE}).")
    Duration resync = Duration.ofMinutes(5);

    @Option(
            names = "--monitor.concurrency",
            defaultValue = "8",
            paramLabel = "N",
            description = "Nodes whose object faults are written at the same time (default: ${DEFAULT-VALUE}).")
    int concurrency = 8;

    @Option(
            names = "--monitor.retry",
            defaultValue = "30s",
            paramLabel = "TIME",
            description =
                    "Interval of the search for kinds of objects that are not installed, or may not be read (default:"
                            + " ${DEFAULT-VALUE}).")
    Duration retry = Duration.ofSeconds(30);

    @Option(
            names = "--monitor.confirm-from",
            defaultValue = "" + MonitorSettings.CONFIRM_FROM,
            paramLabel = "N",
            description =
                    "Number of objects of its kind, or of nodes, from which a MonitorPolicy that matches more than half"
                            + " of them raises no new fault until a person confirms it (default: ${DEFAULT-VALUE}).")
    int confirmFrom = MonitorSettings.CONFIRM_FROM;

    /** Returns the settings. Throws {@link UserError} for invalid options. */
    MonitorSettings settings(ActionMode mode) {
        atLeast("--monitor.resync", resync);
        atLeast("--monitor.retry", retry);
        atMost("--monitor.concurrency", MOST, concurrency);
        atMost("--monitor.confirm-from", MOST_CONFIRM_FROM, confirmFrom);
        return new MonitorSettings(resync, concurrency, retry, mode == ActionMode.ARMED, confirmFrom);
    }

    private static void atMost(String option, int most, int given) {
        if (given < 1 || given > most) {
            throw new UserError(option + ": expected 1 to " + most + ", found " + given);
        }
    }

    private static void atLeast(String option, Duration given) {
        if (given.compareTo(SHORTEST) < 0) {
            throw new UserError(option + ": expected 1s at least, found " + given.toMillis() + "ms");
        }
    }
}
