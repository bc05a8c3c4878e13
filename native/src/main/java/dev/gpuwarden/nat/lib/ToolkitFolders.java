package dev.gpuwarden.nat.lib;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Folders of libraries that do not come with the driver, and that the loader does not search: those of CUDA, and those of Python packages. */
public final class ToolkitFolders {

    /** Bound on the folders of Python packages. */
    private static final int MOST = 64;

    private static final List<String> CUDA = List.of(
            "usr/local/cuda/lib64",
            "usr/local/cuda/targets/x86_64-linux/lib",
            "usr/local/cuda/targets/sbsa-linux/lib",
            "usr/local/lib",
            "opt/nvidia/nccl/lib");

    /** Folders that have an environment of Python below. */
    private static final List<String> PREFIXES = List.of("VIRTUAL_ENV", "CONDA_PREFIX");

    private ToolkitFolders() {}

    /**
     * Returns folders in the order of the search. Those of CUDA are listed in any case, those of Python if they exist.
     *
     * @param sonames a folder of a Python package needs one of them
     * @param root {@code /}, or another root for tests
     */
    public static List<String> of(List<String> sonames, Map<String, String> environment, Path root) {
        List<String> folders = new ArrayList<>();
        CUDA.forEach(folder -> folders.add(root.resolve(folder).toString()));
        pythonFolders(environment, root)
                .flatMap(packages -> children(packages.resolve("nvidia"), "*"))
                .map(library -> library.resolve("lib"))
                .filter(library -> sonames.stream().anyMatch(name -> Files.exists(library.resolve(name))))
                .limit(MOST)
                .forEach(library -> folders.add(library.toString()));
        return folders;
    }

    private static Stream<Path> pythonFolders(Map<String, String> environment, Path root) {
        Stream<Path> given = Stream.of(
                        environment.getOrDefault("PYTHONPATH", "").split(":"))
                .filter(entry -> !entry.isEmpty())
                .map(Path::of);
        Stream<Path> prefixes = Stream.concat(
                PREFIXES.stream()
                        .flatMap(name -> Optional.ofNullable(environment.get(name)).stream())
                        .map(Path::of),
                Stream.of(root.resolve("usr/local"), root.resolve("usr"), root.resolve("opt/conda")));
        Stream<Path> packages = prefixes.flatMap(prefix -> children(prefix.resolve("lib"), "python3*"))
                .flatMap(python -> Stream.of(python.resolve("site-packages"), python.resolve("dist-packages")));
        return Stream.concat(given, packages);
    }

    /** Returns the children of a folder in the order of their names; none where it cannot be read. */
    private static Stream<Path> children(Path folder, String pattern) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, pattern)) {
            List<Path> children = new ArrayList<>();
            for (Path child : found) {
                children.add(child);
                if (children.size() == MOST) {
                    break;
                }
            }
            return children.stream().sorted();
        } catch (IOException | java.nio.file.DirectoryIteratorException | UncheckedIOException e) {
            return Stream.empty();
        }
    }
}
