package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.port.ComputeOpening;
import dev.gpuwarden.core.port.ComputeOpening.Opened;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.DriverOpening.Reason;
import dev.gpuwarden.core.port.DriverOpening.Unavailable;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.nat.lib.LibrarySearch;
import dev.gpuwarden.nat.lib.LibrarySearch.Found;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A factory of compute drivers on libcuda.so.1, which comes with every driver. */
public final class CudaProvider implements ComputeProvider {

    @Override
    public ComputeOpening open(DriverOptions options) {
        List<String> folders =
                options.libraryPaths().stream().map(CudaProvider::folder).toList();
        Found found = LibrarySearch.search(LibrarySearch.CUDA, folders);
        return found instanceof Found.Library library
                ? start(new CudaLibrary(library.library()))
                : ((Found.Missing) found).why();
    }

    /** Returns the folder of a path: the options may name the management library itself, which lies beside this one. */
    private static String folder(String given) {
        Path path = Path.of(given).toAbsolutePath();
        return Files.isDirectory(path)
                ? given
                : Optional.ofNullable(path.getParent()).orElse(path).toString();
    }

    private static ComputeOpening start(CudaLibrary library) {
        List<String> missing = library.missing();
        if (!missing.isEmpty()) {
            return new Unavailable(
                    Reason.LIBRARY_UNUSABLE,
                    0,
                    library.path() + " is no usable CUDA driver: it lacks " + String.join(", ", missing));
        }
        try {
            library.require(CudaSymbol.INIT, 0);
            return new Opened(CudaDriver.of(library));
        } catch (CudaException e) {
            Reason reason = e.result() == CudaResult.NO_DEVICE ? Reason.DRIVER_NOT_LOADED : Reason.FAILED;
            return new Unavailable(
                    reason,
                    e.result(),
                    library.path() + ": " + e.symbol().symbol() + " answered " + library.describe(e.result()));
        }
    }
}
