package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.nat.lib.LibrarySearch;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.lib.SharedLibrary;
import dev.gpuwarden.nat.lib.ToolkitFolders;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The search for cuBLAS, which does not come with the driver. It is loaded when it is first needed. Thread-safe. */
final class Cublas {

    /** Major versions with the same interface; each needs a driver of its version of CUDA. */
    private static final int OLDEST = 11;

    private static final int NEWEST = 13;

    private static final String REMEDY =
            "install libcublas of NVIDIA's packages, run 'pip install nvidia-cublas-cu12', or name"
                    + " the file by --cublas.library-path; until then DGEMM is gpuwarden's own kernel";

    private final CudaLibrary cuda;
    private final List<String> paths;
    private @Nullable CublasLibrary found;

    Cublas(CudaLibrary cuda, List<String> paths) {
        this.cuda = cuda;
        this.paths = paths;
    }

    /** Returns the library, or what was searched and the remedy. */
    synchronized Reading<CublasLibrary> library() {
        if (found != null) {
            return Reading.of(found);
        }
        List<String> sonames = sonames();
        Reading<CublasLibrary> library = LibrarySearch.search(
                        sonames, paths, ToolkitFolders.of(sonames, System.getenv(), Path.of("/")))
                .then(Cublas::usable)
                .reading();
        if (library instanceof Reading.Absent<CublasLibrary> none) {
            return Reading.absent(none.cause(), none.code(), none.detail() + ": " + REMEDY);
        }
        found = library.asOptional().orElseThrow();
        return library;
    }

    private static Opening<CublasLibrary> usable(SharedLibrary file) {
        CublasLibrary library = new CublasLibrary(file);
        return library.ifComplete("cuBLAS", () -> new Opened<>(library));
    }

    /** Returns names from the driver's version downwards. */
    private List<String> sonames() {
        try (NativeMemory out = NativeMemory.allocate(8)) {
            boolean known = cuda.call(CudaSymbol.DRIVER_VERSION, out.address()) == CudaResult.SUCCESS;
            int newest = known ? Math.min(NEWEST, Math.max(OLDEST, out.buffer().getInt(0) / 1000)) : NEWEST;
            return IntStream.rangeClosed(OLDEST, newest)
                    .map(version -> newest + OLDEST - version)
                    .mapToObj(version -> "libcublas.so." + version)
                    .toList();
        }
    }
}
