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
 * @param name for people, as in `daemon tests`
 * @param sources the folder `src/main` or `src/test`
 * @param path what they are compiled against, the folder of classes left out
 */
record Part(String name, Path sources, Path classes, List<Path> path) {

    /** All files to compile. */
    List<Path> files() {
        return in(sources.resolve("java")).stream()
                .filter(file -> file.toString().endsWith(".java") && !file.endsWith("package-info.java"))
                .toList();
    }

    /** Files that were edited since their classes were made, and new ones. */
    List<Path> edited() {
        return files().stream()
                .filter(file -> newer(file, classes.resolve(relative(file) + ".class")))
                .toList();
    }

    /** Classes whose source is gone. Generated ones have theirs elsewhere, where Maven put it. */
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

    /** Copies resources that were edited; those that Maven fills in stay as Maven made them. */
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

    /** Without its ending, as in `dev/gpuwarden/cli/Main`. */
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
