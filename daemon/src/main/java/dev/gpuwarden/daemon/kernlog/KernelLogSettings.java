package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The settings of the kernel-log monitor. */
public final class KernelLogSettings {

    /** The source of the log. */
    enum Source {
        /** The kernel's device if it can be read, else the journal, else the driver's events. */
        AUTO,
        KMSG,
        JOURNALD,
        FILE,
        /** No log: XIDs from the driver's events. */
        DRIVER,
        NONE
    }

    @Option(
            names = "--kernel-log.source",
            defaultValue = "auto",
            paramLabel = "SOURCE",
            converter = SourceConverter.class,
            description =
                    "Source of the kernel log: auto, kmsg, journald, file, driver or none; auto selects the kernel's"
                            + " device if it can be read, else the journal, else the XIDs of the driver's events"
                            + " (default: ${DEFAULT-VALUE}).")
    Source source = Source.AUTO;

    @Option(
            names = "--kernel-log.path",
            paramLabel = "PATH",
            description = "The device, the journal's folder, or the file, followed while it is rotated"
                    + " (default: /dev/kmsg, and the system's journal).")
    @Nullable Path path;

    @Option(
            names = "--kernel-log.trust-file",
            description =
                    "Lines with the tag of the kernel in the file or pipe are the kernel's: the system's logger does"
                            + " not let other programs write this tag. Otherwise faults of a file are stored, and no program acts"
                            + " on them.")
    boolean trustFile;

    @Bounds(from = "100ms", to = "1h")
    @Option(
            names = "--kernel-log.storm-window",
            defaultValue = "10s",
            paramLabel = "DURATION",
            description =
                    "Report a fault that the same GPU repeats once in this time, with the number of its repetitions"
                            + " (default: ${DEFAULT-VALUE}).")
    Duration stormWindow = Duration.ofSeconds(10);

    @Bounds(from = "1s", to = "30d")
    @Option(
            names = "--kernel-log.quiet",
            defaultValue = "10m",
            paramLabel = "DURATION",
            description =
                    "A fault that asks for no action, as those of applications, is cleared when it has not been seen for"
                            + " this long (default: ${DEFAULT-VALUE}).")
    Duration quiet = Duration.ofMinutes(10);

    @Option(
            names = "--kernel-log.rules",
            paramLabel = "FILE",
            description = "YAML file that changes what codes mean and adds patterns; read at the start.")
    @Nullable Path rules;

    static final class SourceConverter implements ITypeConverter<Source> {
        @Override
        public Source convert(String text) {
            for (Source source : Source.values()) {
                if (label(source).equals(text)) {
                    return source;
                }
            }
            throw new TypeConversionException(
                    "expected auto, kmsg, journald, file, driver or none, but was '" + text + "'");
        }
    }

    boolean readsLog() {
        return source != Source.NONE && source != Source.DRIVER;
    }

    boolean trustsFile() {
        return trustFile;
    }

    /** Returns the reason for which no log is read, where the settings switch it off. */
    String off() {
        return "switched off by --kernel-log.source=" + label(source);
    }

    Source source() {
        return source;
    }

    Optional<Path> path() {
        return Optional.ofNullable(path);
    }

    /**
     * Reads the user's rules.
     *
     * @throws UserError where the file cannot be read or is wrong
     */
    Rules rules() {
        return rules == null ? Rules.NONE : RuleFile.read(rules);
    }

    /** @throws UserError where values are out of range or contradict each other */
    public void validate() {
        if (quiet.compareTo(stormWindow) < 0) {
            throw new UserError("--kernel-log.quiet must not be shorter than --kernel-log.storm-window ("
                    + Durations.text(stormWindow) + "), but was " + Durations.text(quiet));
        }
        if (source == Source.FILE && path == null) {
            throw new UserError("--kernel-log.source=file needs --kernel-log.path");
        }
        rules();
    }

    private static String label(Source source) {
        return source.name().toLowerCase(Locale.ROOT);
    }
}
