package dev.gpuwarden.nat.lib;

import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import dev.gpuwarden.nat.lib.SharedLibrary.Loading;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The search for a library of the driver, or of CUDA, by its SONAME. The name without suffix is a development link and no evidence of a driver. */
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

    private static final String LOADERS = "the loader's search path";

    private LibrarySearch() {}

    /**
     * Searches for a library, and loads it. Without one that loads, the detail has the places that were searched, or the loader's errors.
     *
     * @param soname its name for the loader
     * @param first files or folders that are searched before the loader's own search
     */
    public static Opening<SharedLibrary> search(String soname, List<String> first) {
        return search(List.of(soname), first, List.of());
    }

    /**
     * Searches for a library with several SONAMEs, by place first: the first place that has one of them counts.
     *
     * @param sonames in the order of preference
     * @param last folders that are searched after all others
     */
    public static Opening<SharedLibrary> search(List<String> sonames, List<String> first, List<String> last) {
        try {
            return tried(sonames, first, last);
        } catch (LinkageError e) {
            return missing(Reason.FAILED, "JNA's own library does not load: " + e.getMessage());
        }
    }

    private static Opening<SharedLibrary> tried(List<String> sonames, List<String> first, List<String> last) {
        List<String> unusable = new ArrayList<>();
        List<String> looked = new ArrayList<>();
        for (String candidate : candidates(sonames, first, last)) {
            boolean path = candidate.indexOf('/') >= 0;
            if (path && !Files.exists(Path.of(candidate))) {
                looked.add(candidate);
                continue;
            }
            Loading loading = load(candidate, path);
            if (loading instanceof Loading.Loaded loaded) {
                return new Opened<>(loaded.library());
            }
            String why = ((Loading.Refused) loading).why();
            // The loader names the file that it took; where it found none, it repeats the bare name.
            boolean nothingThere = !path && why.startsWith(candidate);
            if (!nothingThere) {
                unusable.add(why);
            } else if (!looked.contains(LOADERS)) {
                looked.add(LOADERS);
            }
        }
        return unusable.isEmpty()
                ? missing(
                        Reason.LIBRARY_MISSING,
                        "no " + String.join(" or ", sonames) + " in " + String.join(", ", looked))
                : missing(Reason.LIBRARY_UNUSABLE, String.join("; ", unusable));
    }

    private static Opening<SharedLibrary> missing(Reason reason, String detail) {
        return new Unavailable<>(reason, 0, detail);
    }

    private static Loading load(String candidate, boolean path) {
        Optional<String> refusal = path ? LibraryFile.refusal(Path.of(candidate)) : Optional.empty();
        return refusal.isPresent() ? new Loading.Refused(refusal.get()) : SharedLibrary.load(candidate);
    }

    private static List<String> candidates(List<String> sonames, List<String> first, List<String> last) {
        List<String> candidates = new ArrayList<>();
        for (String given : first) {
            Path path = Path.of(given).toAbsolutePath();
            if (Files.isDirectory(path)) {
                sonames.forEach(soname -> candidates.add(path.resolve(soname).toString()));
            } else {
                candidates.add(path.toString());
            }
        }
        candidates.addAll(sonames);
        Stream.concat(FOLDERS.stream(), last.stream())
                .forEach(folder -> sonames.forEach(soname -> candidates.add(folder + "/" + soname)));
        return candidates;
    }
}
