package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.port.DriverOpening.Reason;
import dev.gpuwarden.core.port.DriverOpening.Unavailable;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.nat.lib.LibrarySearch;
import dev.gpuwarden.nat.lib.LibrarySearch.Found;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The search for libcuda.so.1, and its initialisation. */
public final class CudaStart {

    private CudaStart() {}

    /** The outcome of a start. */
    public sealed interface Started {
        record Ready(CudaLibrary library) implements Started {}

        record Missing(Unavailable why) implements Started {}
    }

    /** Loads and initialises the library. Blocks in the driver. */
    public static Started start(DriverOptions options) {
        List<String> folders =
                options.libraryPaths().stream().map(CudaStart::folder).toList();
        Found found = LibrarySearch.search(LibrarySearch.CUDA, folders);
        return found instanceof Found.Library library
                ? initialised(new CudaLibrary(library.library()))
                : new Started.Missing(((Found.Missing) found).why());
    }

    /** Returns the folder of a path: the options may name the management library itself, which lies beside this one. */
    private static String folder(String given) {
        Path path = Path.of(given).toAbsolutePath();
        return Files.isDirectory(path)
                ? given
                : Optional.ofNullable(path.getParent()).orElse(path).toString();
    }

    private static Started initialised(CudaLibrary library) {
        List<String> missing = library.missing();
        if (!missing.isEmpty()) {
            return new Started.Missing(new Unavailable(
                    Reason.LIBRARY_UNUSABLE,
                    0,
                    library.path() + " is no usable CUDA driver: it lacks " + String.join(", ", missing)));
        }
        try {
            library.require(CudaSymbol.INIT, 0);
            return new Started.Ready(library);
        } catch (CudaException e) {
            return new Started.Missing(unavailable(library, e));
        }
    }

    /** Returns the reason for a library that does not start. */
    public static Unavailable unavailable(CudaLibrary library, CudaException failure) {
        String variable = VisibleDevices.ofStart(failure.result(), System.getenv());
        Reason reason = failure.result() == CudaResult.NO_DEVICE && variable.isEmpty()
                ? Reason.DRIVER_NOT_LOADED
                : Reason.FAILED;
        return new Unavailable(
                reason,
                failure.result(),
                library.path() + ": " + failure.symbol().symbol() + " answered " + library.describe(failure.result())
                        + variable);
    }
}
