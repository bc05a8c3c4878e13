package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The intervals and deadlines of sampling, and the driver to sample. */
public final class SamplingSettings {

    @Bounds(from = "10ms")
    @Option(
            names = "--sampling.fast-interval",
            defaultValue = "1s",
            paramLabel = "DURATION",
            description = "Interval of reading memory and health (default: ${DEFAULT-VALUE}).")
    Duration fastInterval = Duration.ofSeconds(1);

    @Bounds(from = "10ms")
    @Option(
            names = "--sampling.memory-interval",
            defaultValue = "250ms",
            paramLabel = "DURATION",
            description = "Interval of reading memory while budgets are watched (default: ${DEFAULT-VALUE}).")
    Duration memoryInterval = Duration.ofMillis(250);

    @Bounds(from = "10ms")
    @Option(
            names = "--sampling.slow-interval",
            defaultValue = "10s",
            paramLabel = "DURATION",
            description = "Interval of reading everything else (default: ${DEFAULT-VALUE}).")
    Duration slowInterval = Duration.ofSeconds(10);

    @Bounds(from = "10ms")
    @Option(
            names = "--sampling.process-interval",
            defaultValue = "15s",
            paramLabel = "DURATION",
            description = "Interval of listing processes; takes a lock in the driver (default: ${DEFAULT-VALUE}).")
    Duration processInterval = Duration.ofSeconds(15);

    @Bounds(from = "10ms")
    @Option(
            names = "--sampling.inventory-interval",
            defaultValue = "1m",
            paramLabel = "DURATION",
            description =
                    "Interval of reading the PCI bus and the driver's list of GPUs" + " (default: ${DEFAULT-VALUE}).")
    Duration inventoryInterval = Duration.ofMinutes(1);

    @Bounds(from = "10ms")
    @Option(
            names = "--sampling.deadline",
            defaultValue = "2s",
            paramLabel = "DURATION",
            description = "Deadline of a driver call; past it, the GPU counts as hung (default: ${DEFAULT-VALUE}).")
    Duration deadline = Duration.ofSeconds(2);

    @Bounds(from = "10ms")
    @Option(
            names = "--driver.open-deadline",
            defaultValue = "30s",
            paramLabel = "DURATION",
            description = "Deadline of opening the driver; without persistence mode that wakes every GPU"
                    + " (default: ${DEFAULT-VALUE}).")
    Duration openDeadline = Duration.ofSeconds(30);

    @Bounds(from = "10ms")
    @Option(
            names = "--driver.retry-interval",
            defaultValue = "10s",
            paramLabel = "DURATION",
            description = "Wait before a missing driver is tried again" + " (default: ${DEFAULT-VALUE}).")
    Duration retryInterval = Duration.ofSeconds(10);

    @Bounds(from = "10ms")
    @Option(
            names = "--driver.recovery-interval",
            defaultValue = "30s",
            paramLabel = "DURATION",
            description = "First wait before the library is initialised again to find GPUs that went away;"
                    + " doubles up to an hour (default: ${DEFAULT-VALUE}).")
    Duration recoveryInterval = Duration.ofSeconds(30);

    @Option(
            names = "--driver.library-path",
            split = ",",
            paramLabel = "PATH",
            description =
                    "Driver library, or folder of it, to try before the loader's own search;" + " may be repeated.")
    List<String> libraryPaths = List.of();

    @Option(
            names = "--cublas.library-path",
            split = ",",
            paramLabel = "PATH",
            description = "cuBLAS library, or folder of it, to try before the loader's own search; may be repeated.")
    List<String> matrixLibraryPaths = List.of();

    @Option(
            names = "--driver.path",
            defaultValue = "auto",
            paramLabel = "PATH",
            converter = SamplerPathConverter.class,
            description = "Access path to the driver: auto, jni or jna (default: ${DEFAULT-VALUE}).")
    SamplerPath samplerPath = SamplerPath.AUTO;

    /** True if an exporter of profiling metrics is on. */
    private boolean profiling;
    /** True if budgets are watched. */
    private boolean watching;

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

    /** Searches the driver's library in these folders too, after those that the user names. */
    public void searchIn(List<String> folders) {
        libraryPaths = Stream.concat(libraryPaths.stream(), folders.stream()).toList();
    }

    public DriverOptions driverOptions() {
        return new DriverOptions(List.copyOf(libraryPaths), samplerPath, profiling, List.copyOf(matrixLibraryPaths));
    }

    /** Throws {@link UserError} if values contradict each other. */
    public void validate() {
        if (slowInterval.compareTo(fastInterval) < 0) {
            throw new UserError("--sampling.slow-interval must not be shorter than --sampling.fast-interval ("
                    + Durations.text(fastInterval) + "), but was " + Durations.text(slowInterval));
        }
    }

    /** Returns the age in nanoseconds at which readings of this work are stale. */
    long staleAfterNanos(SamplerStats.Work work) {
        return 2 * intervalNanos(work) + deadline.toNanos();
    }

    long intervalNanos(SamplerStats.Work work) {
        return switch (work) {
            case FAST -> fastInterval.toNanos();
            case SLOW -> slowInterval.toNanos();
            case PROCESSES -> processInterval.toNanos();
            case MEMORY -> memoryInterval.toNanos();
        };
    }

    /** Returns the deadline of opening a driver library. */
    public Duration openDeadline() {
        return openDeadline;
    }

    /** So long the first readings of all GPUs may take. */
    Duration firstReadings() {
        return openDeadline.plus(deadline).plusSeconds(1);
    }

    public Duration fastInterval() {
        return fastInterval;
    }

    /** Returns the deadline of a call. It is longer for the first call to a GPU, which may have to wake the GPU up. */
    long deadlineNanos(boolean firstCall) {
        return (firstCall ? openDeadline : deadline).toNanos();
    }

    /** Returns settings with these intervals, for tests and embedding. */
    public static SamplingSettings of(Duration fast, Duration slow, Duration processes, Duration deadline) {
        SamplingSettings settings = new SamplingSettings();
        settings.fastInterval = fast;
        settings.slowInterval = slow;
        settings.processInterval = processes;
        settings.deadline = deadline;
        return settings;
    }

    /** Sets the intervals of memory and of processes. */
    public SamplingSettings withIntervals(Duration fast, Duration processes) {
        fastInterval = fast;
        processInterval = processes;
        return this;
    }

    public SamplingSettings withLibraryPath(String path) {
        libraryPaths = List.of(path);
        return this;
    }

    public SamplingSettings withProfiling(boolean wanted) {
        profiling = wanted;
        return this;
    }

    /** @param wanted whether memory is also read at its own interval, for the VRAM watchdog */
    public SamplingSettings withMemoryWatch(boolean wanted) {
        watching = wanted;
        return this;
    }

    boolean watchesMemory() {
        return watching;
    }

    /** Sets how fast changes of the driver and of the set of GPUs are noticed. */
    public SamplingSettings withPatience(Duration inventory, Duration open, Duration retry, Duration recovery) {
        inventoryInterval = inventory;
        openDeadline = open;
        retryInterval = retry;
        recoveryInterval = recovery;
        return this;
    }
}
