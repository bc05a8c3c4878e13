package dev.gpuwarden.daemon.telemetry;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** How often and how patiently the driver is asked, and which one. */
public final class SamplingSettings {

    @Option(
            names = "--sampling.fast-interval",
            defaultValue = "1s",
            paramLabel = "DURATION",
            description = "How often memory and health are read (default: ${DEFAULT-VALUE}).")
    Duration fastInterval = Duration.ofSeconds(1);

    @Option(
            names = "--sampling.slow-interval",
            defaultValue = "10s",
            paramLabel = "DURATION",
            description = "How often everything else is read (default: ${DEFAULT-VALUE}).")
    Duration slowInterval = Duration.ofSeconds(10);

    @Option(
            names = "--sampling.process-interval",
            defaultValue = "15s",
            paramLabel = "DURATION",
            description = "How often processes are listed; takes a lock in the driver (default: ${DEFAULT-VALUE}).")
    Duration processInterval = Duration.ofSeconds(15);

    @Option(
            names = "--sampling.inventory-interval",
            defaultValue = "1m",
            paramLabel = "DURATION",
            description = "How often the PCI bus is read and the driver asked which GPUs there are"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration inventoryInterval = Duration.ofMinutes(1);

    @Option(
            names = "--sampling.deadline",
            defaultValue = "2s",
            paramLabel = "DURATION",
            description = "A call that takes longer makes its GPU count as hung (default: ${DEFAULT-VALUE}).")
    Duration deadline = Duration.ofSeconds(2);

    @Option(
            names = "--driver.open-deadline",
            defaultValue = "30s",
            paramLabel = "DURATION",
            description = "Opening the driver may take this long; without persistence mode it wakes every GPU"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration openDeadline = Duration.ofSeconds(30);

    @Option(
            names = "--driver.retry-interval",
            defaultValue = "10s",
            paramLabel = "DURATION",
            description = "How long to wait before a driver that is not there is tried again"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration retryInterval = Duration.ofSeconds(10);

    @Option(
            names = "--driver.recovery-interval",
            defaultValue = "30s",
            paramLabel = "DURATION",
            description = "How soon the library is initialised again to look for GPUs that went away;"
                    + " doubles up to an hour (default: ${DEFAULT-VALUE}).")
    Duration recoveryInterval = Duration.ofSeconds(30);

    @Option(
            names = "--driver.library-path",
            split = ",",
            paramLabel = "PATH",
            description = "File or folder to look for the driver's library in before the loader's own search;"
                    + " may be repeated.")
    List<String> libraryPaths = List.of();

    @Option(
            names = "--driver.path",
            defaultValue = "auto",
            paramLabel = "PATH",
            converter = SamplerPathConverter.class,
            description = "Way into the driver: auto, jni or jna (default: ${DEFAULT-VALUE}).")
    SamplerPath samplerPath = SamplerPath.AUTO;

    /** Set by who exports it. */
    private boolean profiling;

    static final class SamplerPathConverter implements ITypeConverter<SamplerPath> {
        @Override
        public SamplerPath convert(String text) {
            return switch (text) {
                case "auto" -> SamplerPath.AUTO;
                case "jni" -> SamplerPath.JNI;
                case "jna" -> SamplerPath.JNA;
                default -> throw new TypeConversionException("expected auto, jni or jna, but was '" + text + "'");
            };
        }
    }

    public DriverOptions driverOptions() {
        return new DriverOptions(List.copyOf(libraryPaths), samplerPath, profiling);
    }

    /** Throws {@link UserError} where values are out of range or contradict each other. */
    public void validate() {
        Duration shortest = Duration.ofMillis(10);
        durations().forEach((option, value) -> {
            if (value.compareTo(shortest) < 0) {
                throw new UserError(option + " must be at least 10ms, but was " + Durations.text(value));
            }
        });
        if (slowInterval.compareTo(fastInterval) < 0) {
            throw new UserError("--sampling.slow-interval must not be shorter than --sampling.fast-interval ("
                    + Durations.text(fastInterval) + "), but was " + Durations.text(slowInterval));
        }
    }

    private Map<String, Duration> durations() {
        Map<String, Duration> all = new LinkedHashMap<>();
        all.put("--sampling.fast-interval", fastInterval);
        all.put("--sampling.slow-interval", slowInterval);
        all.put("--sampling.process-interval", processInterval);
        all.put("--sampling.inventory-interval", inventoryInterval);
        all.put("--sampling.deadline", deadline);
        all.put("--driver.open-deadline", openDeadline);
        all.put("--driver.retry-interval", retryInterval);
        all.put("--driver.recovery-interval", recoveryInterval);
        return all;
    }

    /** How old readings of this work may be before they no longer stand for the present. */
    long staleAfterNanos(SamplerStats.Work work) {
        return 2 * intervalNanos(work) + deadline.toNanos();
    }

    long intervalNanos(SamplerStats.Work work) {
        return switch (work) {
            case FAST -> fastInterval.toNanos();
            case SLOW -> slowInterval.toNanos();
            case PROCESSES -> processInterval.toNanos();
        };
    }

    public Duration fastInterval() {
        return fastInterval;
    }

    public Duration openDeadline() {
        return openDeadline;
    }

    public Duration deadline() {
        return deadline;
    }

    /** For tests and embedding: a copy with other intervals. */
    public static SamplingSettings of(Duration fast, Duration slow, Duration processes, Duration deadline) {
        SamplingSettings settings = new SamplingSettings();
        settings.fastInterval = fast;
        settings.slowInterval = slow;
        settings.processInterval = processes;
        settings.deadline = deadline;
        return settings;
    }

    public SamplingSettings withLibraryPath(String path) {
        libraryPaths = List.of(path);
        return this;
    }

    public SamplingSettings withProfiling(boolean wanted) {
        profiling = wanted;
        return this;
    }

    public SamplingSettings withSamplerPath(SamplerPath path) {
        samplerPath = path;
        return this;
    }

    /** How fast changes of the driver and of the set of GPUs are noticed. */
    public SamplingSettings withPatience(Duration inventory, Duration open, Duration retry, Duration recovery) {
        inventoryInterval = inventory;
        openDeadline = open;
        retryInterval = retry;
        recoveryInterval = recovery;
        return this;
    }
}
