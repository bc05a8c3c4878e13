package dev.gpuwarden.daemon.vram.limits;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** The folders of processes' control groups (cgroup v2), as this program sees them. Reads files; thread-safe. */
final class CgroupFolders {

    /** Bytes of a file of the kernel that are read at most: 4096 lines of mounts, of about 250 bytes. */
    private static final int MOST_BYTES = 1 << 20;

    private final Path procfs;
    private final Optional<String> mounted;

    /**
     * @param procfs the node's /proc
     * @param mounts the mounts of this program, in which it finds cgroup v2 itself
     */
    CgroupFolders(Path procfs, Path mounts) {
        this.procfs = procfs;
        // proc(5): the fifth field is the mount point; the type follows a lone dash.
        this.mounted =
                line(mounts, text -> text.contains(" - cgroup2 ")).asOptional().map(text -> text.split(" ")[4]);
    }

    /** Returns the full path of the folder; absent for the root group, which holds unrelated processes. */
    Reading<String> of(int pid) {
        if (mounted.isEmpty()) {
            return Reading.absent(Absence.NOT_SUPPORTED, 0, "cgroup v2 is not mounted here");
        }
        Reading<String> line = line(procfs.resolve(pid + "/cgroup"), text -> text.startsWith("0::/"));
        if (line instanceof Reading.Absent<String>) {
            return line;
        }
        String path = line.asOptional().orElseThrow().substring("0::".length());
        if (path.equals("/")) {
            return Reading.absent(Absence.NO_DATA, 0, "it is in the root group");
        }
        if (path.startsWith("/..") || path.endsWith(" (deleted)")) {
            return Reading.absent(Absence.NO_DATA, 0, "its group " + path + " is not visible from here");
        }
        return Reading.of(mounted.get() + path);
    }

    private interface Wanted {
        boolean test(String line);
    }

    private static Reading<String> line(Path file, Wanted wanted) {
        try (InputStream in = Files.newInputStream(file)) {
            // A group's name may contain any other line separator, and its rest would look like a line.
            String text = new String(in.readNBytes(MOST_BYTES), StandardCharsets.ISO_8859_1);
            return Stream.of(text.split("\n"))
                    .filter(wanted::test)
                    .findFirst()
                    .map(Reading::of)
                    .orElseGet(() -> Reading.absent(Absence.NO_DATA, 0, file + " names no group of cgroup v2"));
        } catch (IOException e) {
            return Reading.absent(Absence.NO_DATA, 0, file + ": " + e.getMessage());
        }
    }
}
