package dev.gpuwarden.daemon.vram.limits;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The folders of processes' control groups (cgroup v2), as this program sees them. Reads files; thread-safe. */
final class CgroupFolders {

    /** Lines of a file of the kernel that are read at most; a process of cgroup v1 and v2 has about 14. */
    private static final int MOST_LINES = 4096;

    private final Path procfs;
    private final Optional<String> mounted;

    /** @param procfs the node's /proc; where this program itself finds cgroup v2 is in its own */
    CgroupFolders(Path procfs) {
        this(procfs, Path.of("/proc/self/mountinfo"));
    }

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
        try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            String line = lines.readLine();
            for (int i = 0; line != null && i < MOST_LINES; i++) {
                if (wanted.test(line)) {
                    return Reading.of(line);
                }
                line = lines.readLine();
            }
            return Reading.absent(Absence.NO_DATA, 0, file + " names no group of cgroup v2");
        } catch (IOException e) {
            return Reading.absent(Absence.NO_DATA, 0, file + ": " + e.getMessage());
        }
    }
}
