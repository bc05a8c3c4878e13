package dev.gpuwarden.checks.child;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * All processes that a run started. Each process inherits a variable that no other run has. setsid(2) leaves process
 * groups and sessions, and a second fork loses the parent; the variable is lost only by clearing the environment.
 */
final class OrphanProcesses {

    /** The name of the variable in the environment of each program. */
    static final String VARIABLE = "GPUWARDEN_RUN";

    private static final Path PROC = Path.of("/proc");

    /** The part of an environment that is read: our variable comes first, unless a program puts more before it. */
    private static final int MOST_BYTES = 128 * 1024;

    /** The bound on rounds. A process that forks during the search is found in the next round. */
    private static final int MOST_ROUNDS = 20;

    /** Position in /proc/PID/stat behind the name: the third field is the first there, the start the 22nd. */
    private static final int START = 22 - 3;

    private final String mark = UUID.randomUUID().toString();

    String mark() {
        return mark;
    }

    /** Returns the start of a process in ticks since boot; empty if it is gone. */
    static OptionalLong started(long process) {
        try {
            String stat = Files.readString(PROC.resolve(process + "/stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return OptionalLong.of(Long.parseLong(fields[START]));
        } catch (IOException | IndexOutOfBoundsException | NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    /**
     * @param since start of the run, from {@link #started}; older processes are not read, since reading the environment
     *     of one that hangs in a driver may hang too
     */
    void kill(long since) {
        for (int round = 0; round < MOST_ROUNDS && killed(since); round++) {
            Thread.onSpinWait();
        }
    }

    private boolean killed(long since) {
        boolean found = false;
        for (long process : processes()) {
            OptionalLong started = started(process);
            if (started.isPresent() && started.getAsLong() >= since && marked(process)) {
                found |= ProcessHandle.of(process)
                        .map(ProcessHandle::destroyForcibly)
                        .orElse(false);
            }
        }
        return found;
    }

    private static List<Long> processes() {
        List<Long> all = new ArrayList<>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(PROC, "[1-9]*")) {
            folders.forEach(
                    folder -> all.add(Long.parseLong(folder.getFileName().toString())));
        } catch (IOException | DirectoryIteratorException | NumberFormatException e) {
            return all;
        }
        return all;
    }

    /** Returns whether the process has the variable. A zombie, whose parent has not noticed its end, has no environment. */
    private boolean marked(long process) {
        try (InputStream in = Files.newInputStream(PROC.resolve(process + "/environ"))) {
            String environment = new String(in.readNBytes(MOST_BYTES), StandardCharsets.ISO_8859_1);
            return ("\0" + environment).contains("\0" + VARIABLE + "=" + mark);
        } catch (IOException e) {
            return false;
        }
    }
}
