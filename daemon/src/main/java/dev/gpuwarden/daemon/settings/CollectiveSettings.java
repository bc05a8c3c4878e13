package dev.gpuwarden.daemon.settings;

import dev.gpuwarden.core.port.CollectiveOptions;
import dev.gpuwarden.core.port.DriverOptions;
import java.util.List;
import picocli.CommandLine.Option;

/** The place of the library of collectives. */
public final class CollectiveSettings {

    @Option(
            names = "--nccl.library-path",
            split = ",",
            paramLabel = "PATH",
            description = "NCCL library, or folder of it, to try before the loader's own search; may be repeated.")
    List<String> libraryPaths = List.of();

    public CollectiveOptions options(DriverOptions driver) {
        return new CollectiveOptions(List.copyOf(libraryPaths), driver);
    }
}
