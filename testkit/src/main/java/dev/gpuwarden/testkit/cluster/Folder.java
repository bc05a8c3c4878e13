package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.stream.Stream;

/** Folders that are a cluster's own. */
final class Folder {

    private Folder() {}

    /**
     * Makes it where it is not there, and private.
     *
     * @throws UserError when there is anything in it
     */
    static void claim(Path folder) {
        try {
            Files.createDirectories(folder);
            try (Stream<Path> content = Files.list(folder)) {
                if (content.findAny().isPresent()) {
                    throw new UserError(folder
                            + ": expected an empty folder, since it is deleted at the end; there are files in it");
                }
            }
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The processes that work below it and were told of it, so not a user's shell that is there: all of a cluster are such, but
     * for those inside a node, which end with the one that made its namespaces.
     */
    static Stream<ProcessHandle> workers(Path folder) {
        return ProcessHandle.allProcesses()
                .filter(process -> process.pid() != ProcessHandle.current().pid())
                .filter(process -> worksBelow(Path.of("/proc", Long.toString(process.pid())), folder));
    }

    private static boolean worksBelow(Path process, Path folder) {
        try {
            return Files.readSymbolicLink(process.resolve("cwd")).startsWith(folder)
                    && new String(Files.readAllBytes(process.resolve("cmdline")), StandardCharsets.UTF_8)
                            .contains(folder.toString());
        } catch (IOException hasEnded) {
            return false;
        }
    }

    /** With all it holds. Nothing there is fine. */
    static void delete(Path folder) {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
