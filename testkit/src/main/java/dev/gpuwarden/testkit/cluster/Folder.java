package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.Unchecked;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;

/** Private folders of clusters. */
final class Folder {

    private Folder() {}

    /**
     * Creates the folder if necessary, and makes it private.
     *
     * @throws UserError when it contains anything
     */
    static void claim(Path folder) {
        Unchecked.run(() -> {
            Files.createDirectories(folder);
            try (Stream<Path> content = Files.list(folder)) {
                if (content.findAny().isPresent()) {
                    throw new UserError(folder
                            + ": expected an empty folder, since it is deleted at the end; there are files in it");
                }
            }
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        });
    }

    /**
     * Returns the processes whose working directory is in the folder and whose command line names it: all of a cluster, but not a
     * user's shell. Those inside a node are left out: they end with the process that created its namespaces.
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
}
