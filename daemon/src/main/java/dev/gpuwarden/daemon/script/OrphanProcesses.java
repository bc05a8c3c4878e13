package dev.gpuwarden.daemon.script;

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
 * What a run has started, wherever it went: each process inherits a variable that no other run has. Process groups and sessions are
 * left with setsid(2), parents are lost with a second fork; a variable is lost only by clearing the environment.
 */
final class OrphanProcesses {

    /** In the environment of each program that is run. */
    static final String VARIABLE = "GPUWARDEN_RUN";

    private static final Path PROC = Path.of("/proc");

    /** As much of an environment as is looked at: ours comes first, unless a program puts more before it. */
    private static final int MOST_BYTES = 128 * 1024;

    /** What forks while it is looked for is found the next time. */
    private static final int MOST_ROUNDS = 20;

    /** In /proc/PID/stat behind the name: the third field is the first there, the start the 22nd. */
    private static final int START = 22 - 3;

    private final String mark = UUID.randomUUID().toString();

    String mark() {
        return mark;
    }

    /** When a process was started, in ticks since the boot; empty where it is gone. */
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
     * Kills what is left.
     *
     * @param since when the run was started, as {@link #started} has it: older processes are not looked at, since reading the
     *     environment of one that hangs in a driver may hang too
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

    /** Of a process that has ended, and only its parent has not noticed, the environment is empty. */
    private boolean marked(long process) {
        try (InputStream in = Files.newInputStream(PROC.resolve(process + "/environ"))) {
            String environment = new String(in.readNBytes(MOST_BYTES), StandardCharsets.ISO_8859_1);
            return ("\0" + environment).contains("\0" + VARIABLE + "=" + mark);
        } catch (IOException e) {
            return false;
        }
    }
}
