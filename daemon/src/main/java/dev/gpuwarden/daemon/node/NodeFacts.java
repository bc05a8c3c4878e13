package dev.gpuwarden.daemon.node;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Properties of the node that are visible to this program. */
public final class NodeFacts {

    /** The inode of the first PID namespace (linux/proc_ns.h, PROC_PID_INIT_INO). */
    private static final String INIT_PID_NAMESPACE = "pid:[4026531836]";

    private final NodePaths paths;

    public NodeFacts(NodePaths paths) {
        this.paths = paths;
    }

    /** Returns "host", or "private" if processes of other containers are invisible. */
    public Reading<String> pidNamespace() {
        Path link = paths.procfs().resolve("self/ns/pid");
        try {
            boolean host = Files.readSymbolicLink(link).toString().equals(INIT_PID_NAMESPACE);
            return Reading.of(host ? "host" : "private");
        } catch (IOException | UnsupportedOperationException e) {
            return absent(link, e);
        }
    }

    /** Returns "v2", "v1", or "v1 and v2" if both are mounted. */
    public Reading<String> cgroupVersion() {
        Path root = paths.sysfs().resolve("fs/cgroup");
        if (Files.exists(root.resolve("cgroup.controllers"))) {
            return Reading.of("v2");
        }
        if (Files.exists(root.resolve("unified/cgroup.controllers"))) {
            return Reading.of("v1 and v2");
        }
        if (Files.isDirectory(root.resolve("memory")) || Files.isDirectory(root.resolve("systemd"))) {
            return Reading.of("v1");
        }
        return Reading.absent(Absence.NO_DATA, 0, root + " is no cgroup file system");
    }

    /** Returns whether a folder can be listed, or the cause why not. */
    public static Reading<Boolean> readable(Path folder) {
        try (var entries = Files.newDirectoryStream(folder)) {
            return Reading.of(entries.iterator().hasNext() || Files.isDirectory(folder));
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            return absent(folder, e);
        }
    }

    private static <T> Reading<T> absent(Path path, Exception e) {
        if (e instanceof NoSuchFileException) {
            return Reading.absent(Absence.NO_DATA, 0, path + " does not exist");
        }
        if (e instanceof AccessDeniedException) {
            return Reading.absent(Absence.NO_PERMISSION, 0, path.toString());
        }
        return Reading.absent(Absence.FAILED, 0, e.toString());
    }
}
