package dev.gpuwarden.checks.node;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Properties of the node that are visible to this program. */
public record NodeFacts(NodePaths paths) {

    /** The inode of the first PID namespace (linux/proc_ns.h, PROC_PID_INIT_INO). */
    private static final String INIT_PID_NAMESPACE = "pid:[4026531836]";

    /** The part of /proc/cpuinfo that is read: more than the first processor. */
    private static final int CPU_BYTES = 8192;

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

    /** Reads the id of the boot; else its time; "unknown", which never changes, where the node has neither. */
    public static String bootId(Path procfs) {
        try {
            String id = Files.readString(procfs.resolve("sys/kernel/random/boot_id"))
                    .trim();
            if (id.matches("[0-9a-fA-F-]{8,64}")) {
                return id;
            }
        } catch (IOException e) {
            // The time of the boot is read below.
        }
        try (var lines = Files.lines(procfs.resolve("stat"))) {
            return field(lines, "btime ").map(time -> "btime-" + time).orElse("unknown");
        } catch (IOException | UncheckedIOException e) {
            return "unknown";
        }
    }

    /** Returns the first processor's model name; empty if /proc/cpuinfo has none, as on most ARM machines. */
    public static String cpuModel(NodePaths paths) {
        try (InputStream in = Files.newInputStream(paths.procfs().resolve("cpuinfo"))) {
            String start = new String(in.readNBytes(CPU_BYTES), StandardCharsets.UTF_8);
            return field(start.lines(), "model name")
                    .map(rest -> rest.substring(rest.indexOf(':') + 1).strip())
                    .orElse("");
        } catch (IOException e) {
            return "";
        }
    }

    private static Optional<String> field(Stream<String> lines, String name) {
        return lines.filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).trim())
                .findFirst();
    }

    /** Returns whether this program runs in a container, by the marks that Kubernetes, Docker and Podman leave in it. */
    public static boolean inContainer() {
        return System.getenv("KUBERNETES_SERVICE_HOST") != null
                || Files.exists(Path.of("/.dockerenv"))
                || Files.exists(Path.of("/run/.containerenv"));
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
