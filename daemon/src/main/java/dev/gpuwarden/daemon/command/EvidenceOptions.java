package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Bounds;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of commands that run the driver's programs and may keep evidence. */
final class EvidenceOptions {

    @Option(
            names = "--reset.nvidia-smi",
            paramLabel = "PATH",
            description =
                    "The program nvidia-smi (default: that of the driver, below /host where the host is mounted there).")
    @Nullable Path program;

    @Bounds(from = "1s", to = "1h")
    @Option(
            names = "--reset.bundle-timeout",
            defaultValue = "90s",
            paramLabel = "DURATION",
            description = "Longest run of nvidia-bug-report.sh (default: ${DEFAULT-VALUE}).")
    Duration longest = Duration.ofSeconds(90);
}
