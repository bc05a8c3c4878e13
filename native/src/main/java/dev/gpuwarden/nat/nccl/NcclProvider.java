package dev.gpuwarden.nat.nccl;

import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveOptions;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import dev.gpuwarden.nat.cuda.CudaException;
import dev.gpuwarden.nat.cuda.CudaLibrary;
import dev.gpuwarden.nat.cuda.CudaStart;
import dev.gpuwarden.nat.lib.LibrarySearch;
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
    public Opening<CollectiveDriver> open(CollectiveOptions options) {
        Opening<CudaLibrary> cuda = CudaStart.start(options.driver());
        List<String> folders = ToolkitFolders.of(List.of(LibrarySearch.NCCL), environment, root);
        return LibrarySearch.search(List.of(LibrarySearch.NCCL), options.libraryPaths(), folders)
                .then(file -> cuda.then(driver -> {
                    NcclLibrary nccl = new NcclLibrary(file);
                    return nccl.ifComplete("NCCL", () -> opened(nccl, driver));
                }));
    }

    private static Opening<CollectiveDriver> opened(NcclLibrary library, CudaLibrary cuda) {
        try {
            int version = library.version();
            return version < OLDEST
                    ? new Unavailable<>(
                            Reason.LIBRARY_UNUSABLE,
                            0,
                            library.path() + " has version " + version + ", and 2.18 (" + OLDEST + ") is required")
                    : new Opened<>(NcclDriver.of(library, version, cuda));
        } catch (CollectiveException e) {
            return new Unavailable<>(Reason.FAILED, e.code(), library.path() + ": " + e.getMessage());
        } catch (CudaException e) {
            return CudaStart.unavailable(cuda, e);
        }
    }
}
