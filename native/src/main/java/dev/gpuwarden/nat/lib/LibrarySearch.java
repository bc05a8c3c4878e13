package dev.gpuwarden.nat.lib;

import dev.gpuwarden.core.port.DriverOpening.Reason;
import dev.gpuwarden.core.port.DriverOpening.Unavailable;
import dev.gpuwarden.nat.lib.SharedLibrary.Loading;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The search for a library of the driver by its SONAME. The name without suffix is a development link and no evidence of a driver. */
public final class LibrarySearch {

    public static final String NVML = "libnvidia-ml.so.1";
    public static final String CUDA = "libcuda.so.1";
    public static final String NCCL = "libnccl.so.2";

    /** Folders of drivers, container toolkits, GKE and the GPU operator that the loader's own search may miss. */
    private static final List<String> FOLDERS = List.of(
            "/usr/lib/x86_64-linux-gnu",
            "/usr/lib/aarch64-linux-gnu",
            "/usr/lib64",
            "/usr/lib64/nvidia",
            "/usr/lib",
            "/usr/lib/nvidia",
            "/usr/local/nvidia/lib64",
            "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
            "/run/nvidia/driver/usr/lib/aarch64-linux-gnu",
            "/run/nvidia/driver/usr/lib64",
            "/usr/lib/wsl/lib");

    private LibrarySearch() {}

    public sealed interface Found {
        record Library(SharedLibrary library) implements Found {}

        /** No library that loads, with the places that were searched or the loader's errors. */
        record Missing(Unavailable why) implements Found {}
    }

    /**
     * Searches for a library.
     *
     * @param soname its name for the loader
     * @param first files or folders that are searched before the loader's own search
     */
    public static Found search(String soname, List<String> first) {
        return search(soname, first, List.of());
    }

    /** @param last folders that are searched after all others */
    public static Found search(String soname, List<String> first, List<String> last) {
        try {
            return tried(soname, first, last);
        } catch (LinkageError e) {
            return missing(Reason.FAILED, "JNA's own library does not load: " + e.getMessage());
        }
    }

    private static Found tried(String soname, List<String> first, List<String> last) {
        List<String> unusable = new ArrayList<>();
        List<String> looked = new ArrayList<>();
        for (String candidate : candidates(soname, first, last)) {
            boolean path = candidate.indexOf('/') >= 0;
            if (path && !Files.exists(Path.of(candidate))) {
                looked.add(candidate);
                continue;
            }
            Loading loading = SharedLibrary.load(candidate);
            if (loading instanceof Loading.Loaded loaded) {
                return new Found.Library(loaded.library());
            }
            String why = ((Loading.Refused) loading).why();
            // The loader names the file that it took; where it found none, it repeats the bare name.
            boolean nothingThere = !path && why.startsWith(soname);
            (nothingThere ? looked : unusable).add(nothingThere ? "the loader's search path" : why);
        }
        return unusable.isEmpty()
                ? missing(Reason.LIBRARY_MISSING, "no " + soname + " in " + String.join(", ", looked))
                : missing(Reason.LIBRARY_UNUSABLE, String.join("; ", unusable));
    }

    private static Found missing(Reason reason, String detail) {
        return new Found.Missing(new Unavailable(reason, 0, detail));
    }

    private static List<String> candidates(String soname, List<String> first, List<String> last) {
        List<String> candidates = new ArrayList<>();
        for (String given : first) {
            Path path = Path.of(given).toAbsolutePath();
            candidates.add((Files.isDirectory(path) ? path.resolve(soname) : path).toString());
        }
        candidates.add(soname);
        Stream.concat(FOLDERS.stream(), last.stream()).forEach(folder -> candidates.add(folder + "/" + soname));
        return candidates;
    }
}
