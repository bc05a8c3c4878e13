package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import dev.gpuwarden.nat.lib.LibrarySearch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The search for libcuda.so.1, and its initialisation. */
public final class CudaStart {

    private CudaStart() {}

    /** Loads and initialises the library. Blocks in the driver. */
    public static Opening<CudaLibrary> start(DriverOptions options) {
        List<String> folders =
                options.libraryPaths().stream().map(CudaStart::folder).toList();
        return LibrarySearch.search(LibrarySearch.CUDA, folders).then(file -> {
            CudaLibrary library = new CudaLibrary(file);
            return library.ifComplete("CUDA driver", () -> initialised(library));
        });
    }

    /** Returns the folder of a path: the options may name the management library itself, which lies beside this one. */
    private static String folder(String given) {
        Path path = Path.of(given).toAbsolutePath();
        return Files.isDirectory(path)
                ? given
                : Optional.ofNullable(path.getParent()).orElse(path).toString();
    }

    private static Opening<CudaLibrary> initialised(CudaLibrary library) {
        try {
            library.require(CudaSymbol.INIT, 0);
            return new Opened<>(library);
        } catch (CudaException e) {
            return unavailable(library, e);
        }
    }

    /** Returns the reason for a library that does not start. */
    public static <D> Opening<D> unavailable(CudaLibrary library, CudaException failure) {
        String variable = VisibleDevices.ofStart(failure.result(), System.getenv());
        Reason reason = failure.result() == CudaResult.NO_DEVICE && variable.isEmpty()
                ? Reason.DRIVER_NOT_LOADED
                : Reason.FAILED;
        return new Unavailable<>(
                reason,
                failure.result(),
                library.path() + ": " + failure.symbol().symbol() + " answered " + library.describe(failure.result())
                        + variable);
    }
}
