package dev.gpuwarden.checks.child;

import dev.gpuwarden.cli.Durations;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

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

    /** The bound on both outputs together of a program of a user. */
    static final int MOST_OUTPUT = 64 * 1024;

    /**
     * The causes that cut a run off before its timeout, and the way. The end of this process is one for each run: no program goes on
     * without the daemon that bounds it.
     *
     * @param grace time from SIGTERM until the program is killed; zero to kill it without SIGTERM
     * @param mostOutput bytes of both outputs together
     * @param requested asked several times a second by the thread of the run: true cuts it off
     */
    public record Stop(Duration grace, int mostOutput, BooleanSupplier requested) {

        /** For programs that leave nothing to undo. */
        public static final Stop KILL = after(Duration.ZERO);

        /** For programs that change the node, and undo a part of it at the end. */
        public static Stop after(Duration grace) {
            return new Stop(grace, MOST_OUTPUT, () -> false);
        }

        /** Returns the same for an answer of this size, and for a run that others may end. */
        public Stop with(int outputBytes, BooleanSupplier question) {
            return new Stop(grace, outputBytes, question);
        }
    }

    /**
     * A shell script that runs the program, ends what the program left behind, marks the end on the error output, and
     * waits until the watcher has closed the pipes. When a child exits, Java reads its pipes to their end, in memory
     * and without a bound, whatever process still writes to them. So the child must not exit while the pipes are open.
     * Its first argument is the grace in seconds. Its input has an empty line when the pipes are closed. The end of this process closes the
     * input before that, which a second shell reads. It must be gone before the mark, or it could take that line.
     */
    private static final String WRAPPER = """
            grace=$1
            shift
            end() {
                trap '' TERM
                [ "$p" ] || exit 137
                if [ "$grace" != 0 ]; then
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
            exec 3<&0
            { while read x <&3; do :; done; kill -TERM $$; } </dev/null >/dev/null 2>&1 &
            watch=$!
            setsid "$@" </dev/null 3<&- &
            p=$!
            wait $p
            s=$?
            kill -9 $watch
            wait $watch 2>/dev/null
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
        List<String> wrapped = new ArrayList<>(List.of(
                "/bin/sh",
                "-c",
                WRAPPER,
                "gpuwarden-check",
                Long.toString(stop.grace().toSeconds())));
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
            return of(process, timeout, stop);
        } finally {
            started.ifPresent(leftovers::kill);
        }
    }

    private static ChildRun of(Process process, Duration timeout, Stop stop) throws InterruptedException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        End end;
        try {
            end = watch(process, out, err, timeout, stop);
        } catch (IOException e) {
            end = new End.CutOff("its output could not be read: " + e.getMessage());
        } catch (InterruptedException e) {
            letGo(process, stop.grace());
            throw e;
        }
        boolean byItself = end instanceof End.Exited
                ? endsByItself(process) || letGo(process, stop.grace())
                : letGo(process, stop.grace());
        return new ChildRun(
                end instanceof End.Exited ? exited(process, byItself) : end,
                out.toString(StandardCharsets.UTF_8),
                err.toString(StandardCharsets.UTF_8).replace("\0", ""));
    }

    private static End watch(
            Process process, ByteArrayOutputStream out, ByteArrayOutputStream err, Duration timeout, Stop stop)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        long pause = SHORTEST_PAUSE_MILLIS;
        while (true) {
            boolean late = System.nanoTime() - deadline >= 0;
            boolean gone = !process.isAlive();
            int room = stop.mostOutput() + 1 - out.size() - err.size();
            room -= take(process.getInputStream(), out, room);
            take(process.getErrorStream(), err, room);
            if (out.size() + err.size() > stop.mostOutput()) {
                return new End.CutOff("wrote more than " + stop.mostOutput() / 1024 + " KiB");
            }
            if (gone || endsWithMark(err)) {
                return new End.Exited(0);
            }
            if (late) {
                return new End.CutOff(LATE + Durations.text(timeout));
            }
            if (stop.requested().getAsBoolean()) {
                return new End.CutOff("was stopped");
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
     * Closes the pipes that the wrapper writes to, and lets it end if it has written its mark. A wrapper that still watches its program does
     * not end by that. On a busy node it can wait long for a processor.
     */
    private static boolean endsByItself(Process process) throws InterruptedException {
        close(process.getInputStream());
        close(process.getErrorStream());
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (IOException e) {
            // It has ended already.
        }
        return process.waitFor(ENDING_SECONDS, TimeUnit.SECONDS);
    }

    /** Closes the pipes and ends the wrapper with all that it watches. Returns false. */
    private static boolean letGo(Process process, Duration grace) throws InterruptedException {
        close(process.getInputStream());
        close(process.getErrorStream());
        close(process.getOutputStream());
        process.destroy();
        if (!process.waitFor(ENDING_SECONDS + grace.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        return false;
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
}
