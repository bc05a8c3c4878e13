package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of commands that run the driver's programs and may keep evidence. */
final class EvidenceOptions {

    static final Duration LONGEST = Duration.ofHours(1);

    @Option(
            names = "--reset.nvidia-smi",
            paramLabel = "PATH",
            description =
                    "The program nvidia-smi (default: that of the driver, below /host where the host is mounted there).")
    @Nullable Path program;

    @Option(
            names = "--reset.bundle-timeout",
            defaultValue = "90s",
            paramLabel = "DURATION",
            description = "Longest run of nvidia-bug-report.sh, up to 1h (default: ${DEFAULT-VALUE}).")
    Duration longest = Duration.ofSeconds(90);

    void validate() {
        bounded("--reset.bundle-timeout", longest, Duration.ofSeconds(1));
    }

    static void bounded(String option, Duration value, Duration least) {
        if (value.compareTo(least) < 0 || value.compareTo(LONGEST) > 0) {
            throw new UserError(
                    option + ": expected " + Durations.text(least) + " to 1h, seen " + Durations.text(value));
        }
    }
}
