package dev.gpuwarden.daemon.script;

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
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * One run of a user's program: in a process group of its own, nice, without input, with limited time and output. When
 * it ends or is cut off, everything that it started ends with it.
 *
 * @param out the program's output, with bad UTF-8 replaced
 */
record ChildRun(End end, String out, String err) {

    /** The outcome of a run. */
    sealed interface End {
        /** @param code exit code; 128 plus the signal's number if a signal ended it */
        record Exited(int code) implements End {}

        /** @param why text that continues "it …" */
        record CutOff(String why) implements End {}

        record NotStarted(String why) implements End {}
    }

    /** The bound on both outputs together. */
    static final int MOST_OUTPUT = 64 * 1024;

    /**
     * A shell script that runs the program, ends what the program left behind, marks the end on the error output, and
     * waits until the watcher has closed the pipes. When a child exits, Java reads its pipes to their end, in memory
     * and without a bound, whatever process still writes to them. So the child must not exit while the pipes are open.
     */
    private static final String WRAPPER = """
            trap 'kill -9 -$p $p 2>/dev/null; exit 137' TERM
            setsid nice -n 10 "$@" </dev/null &
            p=$!
            wait $p
            s=$?
            kill -9 -$p 2>/dev/null
            printf '\\0' >&2
            read x
            exit $s
            """;

    private static final long SHORTEST_PAUSE_MILLIS = 2;
    private static final long LONGEST_PAUSE_MILLIS = 64;
    private static final long ENDING_SECONDS = 2;
    private static final int KILLED = 137;

    /**
     * Runs a program in this thread.
     *
     * @param environment the whole environment, except the mark of the run
     * @throws InterruptedException if this thread is interrupted; the program is ended then
     */
    static ChildRun of(List<String> command, Path folder, Map<String, String> environment, Duration timeout)
            throws InterruptedException {
        List<String> wrapped = new ArrayList<>(List.of("/bin/sh", "-c", WRAPPER, "gpuwarden-check"));
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
            return of(process, timeout);
        } finally {
            started.ifPresent(leftovers::kill);
        }
    }

    private static ChildRun of(Process process, Duration timeout) throws InterruptedException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        End end;
        try {
            end = watch(process, out, err, timeout);
        } catch (IOException e) {
            end = new End.CutOff("its output could not be read: " + e.getMessage());
        } catch (InterruptedException e) {
            letGo(process, LONGEST_PAUSE_MILLIS);
            throw e;
        }
        boolean byItself = letGo(process, end instanceof End.Exited ? ENDING_SECONDS * 1000 : LONGEST_PAUSE_MILLIS);
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
                return new End.CutOff("did not end within " + Durations.text(timeout));
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
    private static boolean letGo(Process process, long patienceMillis) throws InterruptedException {
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
        if (!ended && !process.waitFor(ENDING_SECONDS, TimeUnit.SECONDS)) {
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
}
