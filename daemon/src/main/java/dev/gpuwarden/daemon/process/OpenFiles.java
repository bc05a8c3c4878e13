package dev.gpuwarden.daemon.process;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The search for processes that hold a file open, by its device or its inode, which are the same on each mount. The driver's list of
 * processes has only those with a context, and a reset is refused for each open file. Reads the real /proc, so it finds processes of
 * this PID namespace alone, and those of other users only as root.
 */
public final class OpenFiles {

    private static final Path PROC = Path.of("/proc");

    /** The kind of a file in its mode, and a character device (stat(2)). */
    private static final int KIND = 0170000;

    private static final int CHARACTER_DEVICE = 0020000;

    private OpenFiles() {}

    /**
     * Returns the processes that hold one of the files open, without this one.
     *
     * @param files device files, such as /dev/nvidia0
     * @return absent if a file or /proc cannot be read
     */
    public static Reading<Set<Integer>> holders(Collection<Path> files) {
        return filesByHolder(files).map(byPid -> new TreeSet<>(byPid.keySet()));
    }

    /**
     * Returns those of the files that each process holds open, by PID, without this process.
     *
     * @return absent if a file or /proc cannot be read
     */
    public static Reading<Map<Integer, Set<Path>>> filesByHolder(Collection<Path> files) {
        Map<String, Path> wanted = new HashMap<>();
        for (Path file : files) {
            try {
                wanted.put(key(file), file);
            } catch (IOException e) {
                return Reading.absent(
                        Absence.NO_DATA,
                        0,
                        file + " cannot be read: " + e.getClass().getSimpleName());
            }
        }
        Map<Integer, Set<Path>> holders = new TreeMap<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[1-9]*")) {
            for (Path process : processes) {
                int pid = Integer.parseInt(process.getFileName().toString());
                if (pid == ProcessHandle.current().pid()) {
                    continue;
                }
                Set<String> open = openIn(process);
                open.retainAll(wanted.keySet());
                open.forEach(key ->
                        holders.computeIfAbsent(pid, any -> new TreeSet<>()).add(wanted.get(key)));
            }
        } catch (IOException | DirectoryIteratorException e) {
            return Reading.absent(Absence.NO_PERMISSION, 0, "the processes cannot be listed: " + e);
        }
        return Reading.of(holders);
    }

    /** Returns those of the files that this process holds open; without those that do not exist. */
    public static List<Path> ofThisProcess(Collection<Path> files) {
        Set<String> open = openIn(PROC.resolve("self"));
        return files.stream()
                .filter(file -> {
                    try {
                        return open.contains(key(file));
                    } catch (IOException e) {
                        return false;
                    }
                })
                .sorted()
                .toList();
    }

    /** Returns the keys of a process's open files; none if it has ended or is another user's. */
    private static Set<String> openIn(Path process) {
        Set<String> keys = new TreeSet<>();
        try (DirectoryStream<Path> open = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path descriptor : open) {
                try {
                    keys.add(key(descriptor));
                } catch (IOException e) {
                    // Closed since the listing, or a socket without a file.
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return keys;
        }
        return keys;
    }

    private static String key(Path file) throws IOException {
        Map<String, Object> status = Files.readAttributes(file, "unix:mode,dev,ino,rdev");
        boolean device = (Integer.parseInt(String.valueOf(status.get("mode"))) & KIND) == CHARACTER_DEVICE;
        return device ? "device " + status.get("rdev") : status.get("dev") + ":" + status.get("ino");
    }
}
