package dev.gpuwarden.checks.settings;

import dev.gpuwarden.checks.compute.LazyCollectiveDriver;
import dev.gpuwarden.core.port.CollectiveOptions;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.DriverOptions;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** The place of the library of collectives. */
public final class CollectiveSettings {

    @Option(
            names = "--nccl.library-path",
            split = ",",
            paramLabel = "PATH",
            description = "NCCL library, or folder of it, to try before the loader's own search; may be repeated.")
    List<String> libraryPaths = List.of();

    /** Returns a driver that its first use opens within the deadline. */
    public LazyCollectiveDriver driver(
            Supplier<CollectiveProvider> provider, DriverOptions options, Duration deadline) {
        return new LazyCollectiveDriver(provider, new CollectiveOptions(List.copyOf(libraryPaths), options), deadline);
    }
}
