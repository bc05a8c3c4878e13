package dev.gpuwarden.checks.settings;

import dev.gpuwarden.checks.Sources;
import dev.gpuwarden.checks.compute.LazyLibrary;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveOptions;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.Provider;
import java.util.List;
import picocli.CommandLine.Option;

/** The libraries for work on GPUs, each opened by its first use, and the places of those that do not come with the driver. */
public final class LibrarySettings {

    @Option(
            names = "--nccl.library-path",
            split = ",",
            paramLabel = "PATH",
            description = "NCCL library, or folder of it, to try before the loader's own search; may be repeated.")
    List<String> libraryPaths = List.of();

    /** Returns these sources with each library, for the daemon and for commands that run checks. */
    public Sources addTo(Sources sources, SamplingSettings sampling) {
        return sources.with(ComputeDriver.class, compute(sampling)).with(CollectiveDriver.class, collectives(sampling));
    }

    public LazyLibrary<ComputeDriver> compute(SamplingSettings sampling) {
        return library("the CUDA driver library", ComputeProvider.class, sampling.driverOptions(), sampling);
    }

    public LazyLibrary<CollectiveDriver> collectives(SamplingSettings sampling) {
        CollectiveOptions options = new CollectiveOptions(List.copyOf(libraryPaths), sampling.driverOptions());
        return library("NCCL", CollectiveProvider.class, options, sampling);
    }

    private static <D, O> LazyLibrary<D> library(
            String what, Class<? extends Provider<D, O>> port, O options, SamplingSettings sampling) {
        return new LazyLibrary<>(what, () -> Provider.of(port).open(options), sampling.openDeadline());
    }
}
