package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.Unchecked;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.stream.Stream;

/** Reads and writes small files and folders, with unchecked errors. */
public final class Tree {

    private Tree() {}

    static void write(Path file, String text) {
        Unchecked.run(() -> {
            try {
                Files.writeString(file, text);
            } catch (NoSuchFileException noFolder) {
                // Rare: a check before would cost a third of the time to create a node.
                Files.createDirectories(file.getParent());
                Files.writeString(file, text);
            }
        });
    }

    /** Writes as {@link #write} does; readers see the old text or the new one. */
    static void replace(Path file, String text) {
        // Several threads and programs may replace a file of one node.
        String own = ".next-" + ProcessHandle.current().pid() + "-"
                + Thread.currentThread().getId();
        Path next = file.resolveSibling(file.getFileName() + own);
        write(next, text);
        Unchecked.run(() -> Files.move(next, file, StandardCopyOption.ATOMIC_MOVE));
    }

    static void folder(Path folder) {
        Unchecked.run(() -> Files.createDirectories(folder));
    }

    static void link(Path link, Path target) {
        Unchecked.run(() -> {
            Files.createDirectories(link.getParent());
            Files.deleteIfExists(link);
            Files.createSymbolicLink(link, target);
        });
    }

    /** Creates another name of an existing file. */
    static void name(Path name, Path file) {
        Unchecked.run(() -> {
            Files.deleteIfExists(name);
            Files.createLink(name, file);
        });
    }

    static void move(Path from, Path to) {
        Unchecked.run(() -> Files.move(from, to));
    }

    static String read(Path file) {
        return Unchecked.get(() -> Files.readString(file));
    }

    /** Returns the entries in order of their names. */
    static List<Path> children(Path folder) {
        try (Stream<Path> children = Files.list(folder)) {
            return children.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Deletes a folder with its content; deletes links without following them. Does nothing where there is no folder. */
    public static void delete(Path folder) {
        try {
            Files.walkFileTree(folder, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                    if (e instanceof NoSuchFileException) {
                        return FileVisitResult.CONTINUE;
                    }
                    throw e;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path dir, @org.jspecify.annotations.Nullable IOException e)
                        throws IOException {
                    if (e != null) {
                        throw e;
                    }
                    Files.deleteIfExists(dir);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
