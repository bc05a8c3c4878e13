package dev.gpuwarden.checks.process;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The search for processes that hold a file open, by its device or its inode, which are the same on each mount. The driver's list of
 * processes has only those with a context, and a reset is refused for each open file. Reads the real /proc, so it finds processes of
 * this PID namespace alone.
 */
public final class OpenFiles {

    private static final Path PROC = Path.of("/proc");

    /** The kind of a file in its mode, and a character device (stat(2)). */
    private static final int KIND = 0170000;

    private static final int CHARACTER_DEVICE = 0020000;

    /** NV_MAJOR_DEVICE_NUMBER and the first minor number that is no GPU's (nv-linux.h of the open kernel modules). */
    private static final int NVIDIA_MAJOR = 195;

    private static final int FIRST_OTHER_MINOR = 254;

    private static final int INIT = 1;

    private OpenFiles() {}

    /**
     * The result of a search.
     *
     * @param byPid the files that each process holds open, without this process
     * @param gpus processes that hold a device of a GPU open by another name than those searched for
     * @param unread the first process whose files cannot be listed, with the cause; empty if all were
     */
    public record Search(Map<Integer, Set<Path>> byPid, Set<Integer> gpus, Optional<String> unread) {}

    /**
     * Returns those of the files that each process holds open, by PID, without this process. A process whose files cannot be listed,
     * as another user's, is left out.
     *
     * @return absent if a file or /proc cannot be read
     */
    public static Reading<Map<Integer, Set<Path>>> filesByHolder(Collection<Path> files) {
        return search(files).map(Search::byPid);
    }

    /** @return absent if a file or /proc cannot be read */
    public static Reading<Search> search(Collection<Path> files) {
        Map<String, Path> wanted = new HashMap<>();
        for (Path file : files) {
            try {
                wanted.put(key(file).text(), file);
            } catch (IOException e) {
                return Reading.absent(Absence.NO_DATA, 0, file + " cannot be read: " + FileErrors.why(e));
            }
        }
        Map<Integer, Set<Path>> holders = new TreeMap<>();
        Set<Integer> gpus = new TreeSet<>();
        Optional<String> unread = Optional.empty();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[1-9]*")) {
            for (Path process : processes) {
                int pid = Integer.parseInt(process.getFileName().toString());
                if (pid == ProcessHandle.current().pid()) {
                    continue;
                }
                Set<Key> open = new HashSet<>();
                Optional<String> failure = readOpen(process, open);
                // The first process is the node's init, which uses no GPU. Some machines show its files to no other.
                if (pid != INIT) {
                    unread = unread.or(() -> failure.map(why -> "process " + pid + " (" + why + ")"));
                }
                for (Key key : open) {
                    Path file = wanted.get(key.text());
                    if (file != null) {
                        holders.computeIfAbsent(pid, any -> new TreeSet<>()).add(file);
                    } else if (isGpu(key.device())) {
                        gpus.add(pid);
                    }
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return Reading.absent(Absence.NO_PERMISSION, 0, "the processes cannot be listed: " + e);
        }
        return Reading.of(new Search(holders, gpus, unread));
    }

    /** Returns true for the device number of a GPU, whatever the name of its file: containers have their own. */
    static boolean isGpu(long device) {
        // makedev(3): twelve bits of the major number, and the minor number around them.
        long major = device >>> 8 & 0xfff;
        long minor = device & 0xff | device >>> 12 & 0xfff00;
        return major == NVIDIA_MAJOR && minor < FIRST_OTHER_MINOR;
    }

    /** Returns those of the files that this process holds open; without those that do not exist. */
    public static List<Path> ofThisProcess(Collection<Path> files) {
        Set<Key> open = new HashSet<>();
        var unused = readOpen(PROC.resolve("self"), open);
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

    /** Adds the open files of a process. Returns why some are missing; empty if all were read, or the process has ended. */
    private static Optional<String> readOpen(Path process, Set<Key> keys) {
        try (DirectoryStream<Path> open = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path descriptor : open) {
                try {
                    keys.add(key(descriptor));
                } catch (NoSuchFileException e) {
                    // Closed since the listing.
                } catch (IOException e) {
                    if (Files.exists(descriptor, LinkOption.NOFOLLOW_LINKS)) {
                        return Optional.of(FileErrors.why(e));
                    }
                }
            }
            return Optional.empty();
        } catch (IOException e) {
            return unread(process, e);
        } catch (DirectoryIteratorException e) {
            return unread(process, Objects.requireNonNull(e.getCause()));
        }
    }

    /** A process that has ended holds nothing, also while its parent has not noticed. */
    private static Optional<String> unread(Path process, IOException why) {
        try {
            String stat = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
            String state = stat.substring(stat.lastIndexOf(')') + 1).strip();
            return state.startsWith("Z") || state.startsWith("X") ? Optional.empty() : Optional.of(FileErrors.why(why));
        } catch (IOException e) {
            return Files.exists(process) ? Optional.of(FileErrors.why(why)) : Optional.empty();
        }
    }

    /**
     * The identity of a file.
     *
     * @param device number of a character device; 0 for other files
     */
    private record Key(String text, long device) {}

    private static Key key(Path file) throws IOException {
        Map<String, Object> status = Files.readAttributes(file, "unix:mode,dev,ino,rdev");
        boolean device = (Integer.parseInt(String.valueOf(status.get("mode"))) & KIND) == CHARACTER_DEVICE;
        return device
                ? new Key("device " + status.get("rdev"), Long.parseLong(String.valueOf(status.get("rdev"))))
                : new Key(status.get("dev") + ":" + status.get("ino"), 0);
    }
}
