package dev.gpuwarden.daemon.script;

import dev.gpuwarden.cli.Durations;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * One run of a user's program: in a process group of its own, nice, without input, with limited time and output. When
 * it ends or is cut off, everything that it started ends with it.
 *
 * @param out the program's output, with bad UTF-8 replaced
 */
public record ChildRun(End end, String out, String err) {

    /** The outcome of a run. */
    public sealed interface End {
        /** @param code exit code; 128 plus the signal's number if a signal ended it */
        record Exited(int code) implements End {}

        /** @param why text that continues "it …" */
        record CutOff(String why) implements End {}

        record NotStarted(String why) implements End {}
    }

    /**
     * The way in which a run is cut off.
     *
     * @param grace time from SIGTERM until the program is killed; zero to kill it without SIGTERM
     * @param withParent true if the end of this process cuts the run off too
     */
    public record Stop(Duration grace, boolean withParent) {

        /** For programs of users: killed, so that their number and time stay bounded. */
        public static final Stop KILL = new Stop(Duration.ZERO, false);

        /** For programs that change the node: this process may be killed, and no change may go on without it. */
        public static Stop withParent(Duration grace) {
            return new Stop(grace, true);
        }

        private String word() {
            return withParent ? Long.toString(grace.toSeconds()) : "";
        }
    }

    /** The bound on both outputs together. */
    static final int MOST_OUTPUT = 64 * 1024;

    /**
     * A shell script that runs the program, ends what the program left behind, marks the end on the error output, and
     * waits until the watcher has closed the pipes. When a child exits, Java reads its pipes to their end, in memory
     * and without a bound, whatever process still writes to them. So the child must not exit while the pipes are open.
     * Its first argument is the grace in seconds; empty for a run that the end of this process does not cut off. The end
     * closes its input, which a second shell reads.
     */
    private static final String WRAPPER = """
            grace=$1
            shift
            end() {
                trap '' TERM
                [ "$p" ] || exit 137
                if [ "${grace:-0}" != 0 ]; then
                    kill -TERM $p 2>/dev/null
                    setsid sh -c "sleep $grace; kill -9 -$p $p" </dev/null >/dev/null 2>&1 &
                    timer=$!
                    wait $p
                    kill -9 -$timer 2>/dev/null
                fi
                kill -9 -$p $p 2>/dev/null
                exit 137
            }
            trap end TERM
            renice -n 10 -p $$ >/dev/null 2>&1
            if [ "$grace" ]; then
                exec 3<&0
                { read x <&3; kill -TERM $$; } </dev/null >/dev/null 2>&1 &
                watch=$!
                setsid "$@" </dev/null 3<&- &
            else
                setsid "$@" </dev/null &
            fi
            p=$!
            wait $p
            s=$?
            [ "$grace" ] && kill -9 $watch
            kill -9 -$p 2>/dev/null
            printf '\\0' >&2
            read x
            exit $s
            """;

    private static final long SHORTEST_PAUSE_MILLIS = 2;
    private static final long LONGEST_PAUSE_MILLIS = 64;
    private static final long ENDING_SECONDS = 2;
    private static final int KILLED = 137;

    /** Begins the text of a run that was cut off because it took too long. */
    public static final String LATE = "did not end within ";

    /** Programs of the wrapper. */
    private static final List<String> WRAPPED_BY = List.of("/bin/sh", "setsid", "renice", "sleep");

    /** Runs a program in this thread, and kills it at its end. */
    public static ChildRun of(List<String> command, Path folder, Map<String, String> environment, Duration timeout)
            throws InterruptedException {
        return of(command, folder, environment, timeout, Stop.KILL);
    }

    /**
     * Runs a program in this thread. One that another user can change is not started.
     *
     * @param environment the whole environment, except the mark of the run
     * @throws InterruptedException if this thread is interrupted; the program is ended then
     */
    public static ChildRun of(
            List<String> command, Path folder, Map<String, String> environment, Duration timeout, Stop stop)
            throws InterruptedException {
        Optional<String> refused = FileTrust.problem(command, WRAPPED_BY, folder, environment);
        if (refused.isPresent()) {
            return new ChildRun(new End.NotStarted(refused.get()), "", "");
        }
        List<String> wrapped = new ArrayList<>(List.of("/bin/sh", "-c", WRAPPER, "gpuwarden-check", stop.word()));
        wrapped.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(wrapped).directory(folder.toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        OrphanProcesses leftovers = new OrphanProcesses();
        builder.environment().put(OrphanProcesses.VARIABLE, leftovers.mark());
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            return new ChildRun(new End.NotStarted(String.valueOf(e.getMessage())), "", "");
        }
        OptionalLong started = OrphanProcesses.started(process.pid());
        try {
            return of(process, timeout, stop.grace());
        } finally {
            started.ifPresent(leftovers::kill);
        }
    }

    private static ChildRun of(Process process, Duration timeout, Duration grace) throws InterruptedException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        End end;
        try {
            end = watch(process, out, err, timeout);
        } catch (IOException e) {
            end = new End.CutOff("its output could not be read: " + e.getMessage());
        } catch (InterruptedException e) {
            letGo(process, LONGEST_PAUSE_MILLIS, grace);
            throw e;
        }
        boolean byItself =
                letGo(process, end instanceof End.Exited ? ENDING_SECONDS * 1000 : LONGEST_PAUSE_MILLIS, grace);
        return new ChildRun(
                end instanceof End.Exited ? exited(process, byItself) : end,
                out.toString(StandardCharsets.UTF_8),
                err.toString(StandardCharsets.UTF_8).replace("\0", ""));
    }

    private static End watch(Process process, ByteArrayOutputStream out, ByteArrayOutputStream err, Duration timeout)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        long pause = SHORTEST_PAUSE_MILLIS;
        while (true) {
            boolean late = System.nanoTime() - deadline >= 0;
            boolean gone = !process.isAlive();
            int room = MOST_OUTPUT + 1 - out.size() - err.size();
            room -= take(process.getInputStream(), out, room);
            take(process.getErrorStream(), err, room);
            if (out.size() + err.size() > MOST_OUTPUT) {
                return new End.CutOff("wrote more than " + MOST_OUTPUT / 1024 + " KiB");
            }
            if (gone || endsWithMark(err)) {
                return new End.Exited(0);
            }
            if (late) {
                return new End.CutOff(LATE + Durations.text(timeout));
            }
            process.waitFor(pause, TimeUnit.MILLISECONDS);
            pause = Math.min(pause * 2, LONGEST_PAUSE_MILLIS);
        }
    }

    /** Takes the available bytes without waiting for more. */
    private static int take(InputStream from, ByteArrayOutputStream to, int most) throws IOException {
        int taken = 0;
        for (int there = from.available(); there > 0 && taken < most; there = from.available()) {
            byte[] bytes = from.readNBytes(Math.min(there, most - taken));
            to.writeBytes(bytes);
            taken += bytes.length;
        }
        return taken;
    }

    private static boolean endsWithMark(ByteArrayOutputStream err) {
        byte[] bytes = err.toByteArray();
        return bytes.length > 0 && bytes[bytes.length - 1] == 0;
    }

    /**
     * Closes the pipes, first those that the wrapper writes to. Then the wrapper ends, or is ended with all that it
     * watches.
     *
     * @param patienceMillis wait for a wrapper that has written its mark; on a busy node it can wait long for a
     *     processor
     * @return whether it ended by itself
     */
    private static boolean letGo(Process process, long patienceMillis, Duration grace) throws InterruptedException {
        boolean ended = false;
        try {
            close(process.getInputStream());
            close(process.getErrorStream());
            close(process.getOutputStream());
            ended = process.waitFor(patienceMillis, TimeUnit.MILLISECONDS);
        } finally {
            if (!ended) {
                process.destroy();
            }
        }
        if (!ended && !process.waitFor(ENDING_SECONDS + grace.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        return ended;
    }

    private static void close(Closeable stream) {
        try {
            stream.close();
        } catch (IOException e) {
            // The other end is gone, which is the purpose of closing.
        }
    }

    private static End exited(Process process, boolean byItself) {
        if (!byItself) {
            // The wrapper still waits for the program: the mark was not the wrapper's.
            return new End.CutOff("wrote binary data to its error output");
        }
        return process.exitValue() == KILLED
                ? new End.CutOff("was killed, for example by the kernel for lack of memory")
                : new End.Exited(process.exitValue());
    }

    /**
     * All processes that a run started. Each process inherits a variable that no other run has. setsid(2) leaves process
     * groups and sessions, and a second fork loses the parent; the variable is lost only by clearing the environment.
     */
    static final class OrphanProcesses {

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
}
