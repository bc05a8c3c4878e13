package dev.gpuwarden.nat.nccl;

import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveOpening;
import dev.gpuwarden.core.port.CollectiveOpening.Opened;
import dev.gpuwarden.core.port.CollectiveOptions;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.DriverOpening.Reason;
import dev.gpuwarden.core.port.DriverOpening.Unavailable;
import dev.gpuwarden.nat.cuda.CudaException;
import dev.gpuwarden.nat.cuda.CudaLibrary;
import dev.gpuwarden.nat.cuda.CudaStart;
import dev.gpuwarden.nat.cuda.CudaStart.Started;
import dev.gpuwarden.nat.lib.LibrarySearch;
import dev.gpuwarden.nat.lib.LibrarySearch.Found;
import dev.gpuwarden.nat.lib.ToolkitFolders;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A factory of collective drivers on libnccl.so.2 and libcuda.so.1. */
public final class NcclProvider implements CollectiveProvider {

    /** The first version whose configuration can be passed by the size and version that {@link NcclConfig} has. */
    static final int OLDEST = 21800;

    private final Map<String, String> environment;
    private final Path root;

    public NcclProvider() {
        this(System.getenv(), Path.of("/"));
    }

    NcclProvider(Map<String, String> environment, Path root) {
        this.environment = environment;
        this.root = root;
    }

    @Override
    public CollectiveOpening open(CollectiveOptions options) {
        Started cuda = CudaStart.start(options.driver());
        List<String> folders = ToolkitFolders.of(List.of(LibrarySearch.NCCL), environment, root);
        Found nccl = LibrarySearch.search(List.of(LibrarySearch.NCCL), options.libraryPaths(), folders);
        if (nccl instanceof Found.Missing missing) {
            return missing.why();
        }
        if (cuda instanceof Started.Missing missing) {
            return missing.why();
        }
        NcclLibrary library = new NcclLibrary(((Found.Library) nccl).library());
        return opened(library, ((Started.Ready) cuda).library());
    }

    private static CollectiveOpening opened(NcclLibrary library, CudaLibrary cuda) {
        List<String> missing = library.missing();
        if (!missing.isEmpty()) {
            return new Unavailable(
                    Reason.LIBRARY_UNUSABLE,
                    0,
                    library.path() + " is no usable NCCL: it lacks " + String.join(", ", missing));
        }
        try {
            int version = library.version();
            return version < OLDEST
                    ? new Unavailable(
                            Reason.LIBRARY_UNUSABLE,
                            0,
                            library.path() + " has version " + version + ", and 2.18 (" + OLDEST + ") is required")
                    : new Opened(NcclDriver.of(library, version, cuda));
        } catch (CollectiveException e) {
            return new Unavailable(Reason.FAILED, e.code(), library.path() + ": " + e.getMessage());
        } catch (CudaException e) {
            return CudaStart.unavailable(cuda, e);
        }
    }
}
