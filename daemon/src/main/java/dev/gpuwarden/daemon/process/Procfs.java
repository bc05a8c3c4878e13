package dev.gpuwarden.daemon.process;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** The node's /proc, read in bounded pieces. Paths are made of numbers and of names from this file, never of what was read. */
final class Procfs {

    private static final int STAT_BYTES = 4096;
    private static final int COMM_BYTES = 256;
    private static final int CGROUP_BYTES = 64 * 1024;
    /** Inode of the PID namespace that the kernel starts with (include/linux/proc_ns.h, PROC_PID_INIT_INO). */
    private static final String INIT_PID_NAMESPACE = "pid:[4026531836]";
    /** Clock ticks as /proc counts them: USER_HZ, 100 on every architecture that NVIDIA's driver runs on. */
    private static final double TICKS_PER_SECOND = 100;

    private static final Pattern PID = Pattern.compile("[1-9][0-9]{0,8}");

    private final Path root;

    Procfs(Path root) {
        this.root = root;
    }

    /** Start of a process in ticks since boot: with the pid, what tells a process from a later one of the same number. */
    Reading<Long> startTicks(int pid) {
        Reading<String> stat = read(Path.of(Integer.toString(pid), "stat"), STAT_BYTES);
        return stat instanceof Reading.Present<String> text ? startTicks(text.value()) : stat.map(t -> 0L);
    }

    /** @param stat a line of which the second field is a name in parentheses that may hold anything, parentheses too */
    static Reading<Long> startTicks(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ");
        try {
            return Reading.of(Long.parseLong(fields[19])); // proc(5): starttime is field 22, the third is fields[0]
        } catch (ArrayIndexOutOfBoundsException | NumberFormatException e) {
            return Reading.absent(Absence.IMPLAUSIBLE, 0, "/proc/PID/stat");
        }
    }

    /** The parent's number; 0 where it is outside of what can be seen. */
    Reading<Integer> parent(int pid) {
        Reading<String> stat = read(Path.of(Integer.toString(pid), "stat"), STAT_BYTES);
        return stat instanceof Reading.Present<String> text ? parent(text.value()) : stat.map(t -> 0);
    }

    private static Reading<Integer> parent(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ");
        try {
            return Reading.of(Integer.parseInt(fields[1])); // proc(5): ppid is field 4, the third is fields[0]
        } catch (ArrayIndexOutOfBoundsException | NumberFormatException e) {
            return Reading.absent(Absence.IMPLAUSIBLE, 0, "/proc/PID/stat");
        }
    }

    /** All processes that can be seen. */
    Reading<List<Integer>> pids() {
        List<Integer> pids = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
            for (Path entry : entries) {
                String name = entry.getFileName().toString();
                if (PID.matcher(name).matches()) {
                    pids.add(Integer.parseInt(name));
                }
            }
            return Reading.of(pids);
        } catch (AccessDeniedException e) {
            return Reading.absent(Absence.NO_PERMISSION, 0, root.toString());
        } catch (IOException | DirectoryIteratorException e) {
            return Reading.absent(Absence.FAILED, 0, root + ": " + e);
        }
    }

    Reading<String> command(int pid) {
        return read(Path.of(Integer.toString(pid), "comm"), COMM_BYTES)
                .map(text -> text.endsWith("\n") ? text.substring(0, text.length() - 1) : text);
    }

    Reading<String> cgroup(int pid) {
        return read(Path.of(Integer.toString(pid), "cgroup"), CGROUP_BYTES);
    }

    /** Seconds since boot. */
    Reading<Double> uptimeSeconds() {
        Reading<String> text = read(Path.of("uptime"), COMM_BYTES);
        try {
            return text.map(t -> Double.parseDouble(t.substring(0, t.indexOf(' '))));
        } catch (NumberFormatException | StringIndexOutOfBoundsException e) {
            return Reading.absent(Absence.IMPLAUSIBLE, 0, "/proc/uptime");
        }
    }

    static double seconds(long ticks) {
        return ticks / TICKS_PER_SECOND;
    }

    /** Whether this program sees another PID namespace than the node's: then a number may mean another process. */
    boolean inPrivatePidNamespace() {
        try {
            return !Files.readSymbolicLink(root.resolve("self/ns/pid"))
                    .toString()
                    .equals(INIT_PID_NAMESPACE);
        } catch (IOException e) {
            return false; // no such link in a tree that stands in for /proc; the kernel's own always has it
        }
    }

    /** Whether other users' processes are hidden (mount option hidepid=2): then even the first process is not there. */
    boolean hidesProcesses() {
        return Files.exists(root.resolve("self")) && !Files.exists(root.resolve("1"));
    }

    private Reading<String> read(Path file, int maxBytes) {
        try (InputStream in = Files.newInputStream(root.resolve(file))) {
            return Reading.of(new String(in.readNBytes(maxBytes), StandardCharsets.UTF_8));
        } catch (NoSuchFileException e) {
            return Reading.absent(Absence.NO_DATA, 0, "no such process");
        } catch (AccessDeniedException e) {
            return Reading.absent(Absence.NO_PERMISSION, 0, "/proc");
        } catch (IOException e) {
            // A process that ends while it is read answers ESRCH, which Java knows by its text only.
            return Reading.absent(Absence.NO_DATA, 0, "no such process");
        }
    }
}
