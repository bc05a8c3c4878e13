package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.port.ComputeOpening;
import dev.gpuwarden.core.port.ComputeOpening.Opened;
import dev.gpuwarden.core.port.ComputeOpening.Unavailable;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.DriverOpening.Reason;
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
        Found found;
        try {
            List<String> folders =
                    options.libraryPaths().stream().map(CudaProvider::folder).toList();
            found = LibrarySearch.search(LibrarySearch.CUDA, folders);
        } catch (LinkageError e) {
            return new Unavailable(Reason.FAILED, 0, "JNA's own library does not load: " + e.getMessage());
        }
        if (found instanceof Found.Library library) {
            return start(new CudaLibrary(library.library()));
        }
        if (found instanceof Found.Unusable unusable) {
            return new Unavailable(Reason.LIBRARY_UNUSABLE, 0, String.join("; ", unusable.why()));
        }
        List<String> looked = ((Found.Nothing) found).looked();
        return new Unavailable(
                Reason.LIBRARY_MISSING, 0, "no " + LibrarySearch.CUDA + " in " + String.join(", ", looked));
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
