package dev.gpuwarden.checks.process;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.CgroupPath;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** The node's /proc, read in bounded pieces. Paths consist of numbers and of names from this file, never of data read. */
record Procfs(Path root) {

    private static final int STAT_BYTES = 4096;
    private static final int COMM_BYTES = 256;
    private static final int CGROUP_BYTES = 64 * 1024;
    /** Inode of the PID namespace that the kernel starts with (include/linux/proc_ns.h, PROC_PID_INIT_INO). */
    private static final String INIT_PID_NAMESPACE = "pid:[4026531836]";
    /** Clock ticks in /proc: USER_HZ, 100 on every architecture that NVIDIA's driver supports. */
    private static final double TICKS_PER_SECOND = 100;

    private static final String NAMESPACES = "NSpid:";
    private static final Path OWN = Path.of("/proc/self");
    private static final Pattern PID = Pattern.compile("[1-9][0-9]{0,8}");

    /** Returns the start in ticks since boot, which distinguishes the process from a later one with the same PID. */
    Reading<Long> startTicks(int pid) {
        return field(pid, 22); // proc(5): starttime
    }

    /** Returns the parent's PID; 0 if the parent is invisible from here. */
    Reading<Integer> parent(int pid) {
        return field(pid, 4).map(Long::intValue); // proc(5): ppid
    }

    /** Returns the number of PID namespaces that a process has a number in, counted from this /proc's on. */
    Reading<Integer> namespaces(int pid) {
        Reading<String> status = read(Path.of(Integer.toString(pid), "status"), STAT_BYTES);
        if (!(status instanceof Reading.Present<String> text)) {
            return status.map(t -> 0);
        }
        return text.value()
                .lines()
                .filter(line -> line.startsWith(NAMESPACES)) // proc(5): NSpid, since Linux 4.1
                .map(line ->
                        Reading.of(line.substring(NAMESPACES.length()).trim().split("\\s+").length))
                .findFirst()
                .orElse(Reading.absent(Absence.NOT_SUPPORTED, 0, "/proc/PID/status has no NSpid"));
    }

    private Reading<Long> field(int pid, int field) {
        Reading<String> stat = read(Path.of(Integer.toString(pid), "stat"), STAT_BYTES);
        return stat instanceof Reading.Present<String> text ? field(text.value(), field) : stat.map(t -> 0L);
    }

    /**
     * @param stat a line whose second field is a name in parentheses that may contain anything, also parentheses
     * @param field the number of the field in proc(5), from 3 on
     */
    static Reading<Long> field(String stat, int field) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ");
        try {
            return Reading.of(Long.parseLong(fields[field - 3]));
        } catch (ArrayIndexOutOfBoundsException | NumberFormatException e) {
            return Reading.absent(Absence.IMPLAUSIBLE, 0, "/proc/PID/stat");
        }
    }

    /** Returns whether this process exists and has not ended; a process that ended and waits for its parent has. */
    boolean runs(int pid, long startTicks) {
        Reading<String> stat = read(Path.of(Integer.toString(pid), "stat"), STAT_BYTES);
        return stat instanceof Reading.Present<String> text
                && field(text.value(), 22).equals(Reading.of(startTicks))
                && !text.value()
                        .substring(text.value().lastIndexOf(')') + 1)
                        .trim()
                        .matches("(?s)[ZX].*");
    }

    /** Returns all visible processes. */
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

    /** Returns where the cgroups of the node begin, by this program's own. A substitute for /proc has none. */
    CgroupPath.NodeRoot nodeRoot() {
        return read(Path.of("self", "cgroup"), CGROUP_BYTES)
                .asOptional()
                .map(CgroupPath.NodeRoot::of)
                .orElse(CgroupPath.NodeRoot.NONE);
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

    /** Returns whether this program is in another PID namespace than the node's; then a PID may mean another process. */
    boolean inPrivatePidNamespace() {
        try {
            return !namespace(root.resolve("self")).equals(INIT_PID_NAMESPACE);
        } catch (IOException e) {
            // A substitute for /proc has no such link; the kernel's own always has it.
            return differsFromFirstProcess();
        }
    }

    /** A substitute has the namespace of its processes at its first one, if it has that. */
    private boolean differsFromFirstProcess() {
        try {
            return !namespace(root.resolve("1")).equals(namespace(OWN));
        } catch (IOException e) {
            return false;
        }
    }

    private static String namespace(Path process) throws IOException {
        return Files.readSymbolicLink(process.resolve("ns/pid")).toString();
    }

    /** Returns whether other users' processes are hidden (mount option hidepid=2); then even the first process is invisible. */
    boolean hidesProcesses() {
        return Files.exists(root.resolve("self")) && !Files.exists(root.resolve("1"));
    }

    private Reading<String> read(Path file, int maxBytes) {
        try (InputStream in = Files.newInputStream(root.resolve(file))) {
            return Reading.of(new String(in.readNBytes(maxBytes), StandardCharsets.UTF_8));
        } catch (AccessDeniedException e) {
            return Reading.absent(Absence.NO_PERMISSION, 0, "/proc");
        } catch (IOException e) {
            // There is no such file, or ESRCH for a process that ends while it is read: Java passes on its text only.
            return Reading.absent(Absence.NO_DATA, 0, "no such process");
        }
    }
}
