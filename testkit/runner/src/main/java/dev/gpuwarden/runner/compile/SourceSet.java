package dev.gpuwarden.runner.compile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The sources that are compiled into one folder of classes: the program of a module, or its tests.
 *
 * @param name for output, for example `daemon tests`
 * @param sources the folder `src/main` or `src/test`
 * @param path what they are compiled against, the folder of classes left out
 */
record SourceSet(String name, Path sources, Path classes, List<Path> path) {

    /** Returns all files to compile. */
    List<Path> files() {
        return in(sources.resolve("java")).stream()
                .filter(file -> file.toString().endsWith(".java") && !file.endsWith("package-info.java"))
                .toList();
    }

    /** Returns new files, and files that were edited after their last compilation. */
    List<Path> edited() {
        return files().stream()
                .filter(file -> newer(file, classes.resolve(relative(file) + ".class")))
                .toList();
    }

    /** Returns classes whose source was deleted. The sources of generated ones are in Maven's folder. */
    List<Path> orphans() {
        Path generated = classes.resolveSibling("generated-sources");
        List<Path> folders = Stream.of(generated, classes.resolveSibling("generated-test-sources"))
                .flatMap(folder -> in(folder).stream())
                .toList();
        return in(classes).stream()
                .filter(file -> file.toString().endsWith(".class") && !file.endsWith("package-info.class"))
                .filter(file -> {
                    String source = classes.relativize(file).toString().replaceAll("(\\$.*)?\\.class$", "") + ".java";
                    return !Files.exists(sources.resolve("java").resolve(source))
                            && folders.stream().noneMatch(one -> one.endsWith(source));
                })
                .toList();
    }

    /** Copies edited resources; those that Maven filters stay unchanged. */
    void copyResources() throws IOException {
        Path from = sources.resolve("resources");
        for (Path file : in(from)) {
            Path to = classes.resolve(from.relativize(file).toString());
            if (newer(file, to) && !filtered(file)) {
                Files.createDirectories(to.getParent());
                Files.copy(file, to, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private static boolean filtered(Path file) throws IOException {
        return new String(Files.readAllBytes(file), java.nio.charset.StandardCharsets.ISO_8859_1)
                .contains("${project.");
    }

    /** Returns the path without its extension, for example `dev/gpuwarden/cli/Main`. */
    String relative(Path file) {
        String path = sources.resolve("java").relativize(file).toString();
        return path.substring(0, path.length() - ".java".length());
    }

    static boolean newer(Path file, Path than) {
        try {
            return !Files.exists(than)
                    || Files.getLastModifiedTime(file).compareTo(Files.getLastModifiedTime(than)) > 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Path> in(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
