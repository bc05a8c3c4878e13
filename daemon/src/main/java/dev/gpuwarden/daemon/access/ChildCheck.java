package dev.gpuwarden.daemon.access;

import dev.gpuwarden.cli.run.SameProgram;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.script.ChildRun;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * A run of one check by a child process of the same program, on some GPUs. When memory runs out, the kernel ends the child
 * before the daemon.
 *
 * @param settings options of the daemon that the child gets too
 */
public record ChildCheck(List<String> settings) {

    private static final long POLL_MILLIS = 100;

    /** The exit codes of a shell for a program that SIGILL, SIGABRT, SIGBUS, SIGFPE or SIGSEGV ended. */
    private static final List<Integer> CRASHES = List.of(132, 134, 135, 136, 139);

    private static final String SACRIFICE = "echo 1000 >/proc/self/oom_score_adj; exec \"$@\"";

    /**
     * Runs the check, and ends the child with all of its processes at the deadline or when stopped. Blocks.
     *
     * @return the findings of all GPUs of the node; absent with the cause, and with the exit code of a crash
     */
    Reading<List<Finding>> run(String check, List<String> gpuUuids, Duration deadline, BooleanSupplier stopped)
            throws InterruptedException {
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", SACRIFICE, "gpuwarden-check"));
        command.addAll(SameProgram.command());
        command.addAll(List.of("check", check, "--local", "--output=json"));
        command.addAll(settings);
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.put("CUDA_VISIBLE_DEVICES", String.join(",", gpuUuids));
        // A crash of Java writes its report into the working folder.
        Path folder = Path.of(System.getProperty("java.io.tmpdir"));
        FutureTask<ChildRun> task = new FutureTask<>(() -> ChildRun.of(command, folder, environment, deadline));
        Thread thread = Threads.daemon("gpuwarden-child", Threads.SMALL_STACK_BYTES, task);
        thread.start();
        try {
            while (true) {
                try {
                    return result(check, task.get(POLL_MILLIS, TimeUnit.MILLISECONDS));
                } catch (TimeoutException e) {
                    if (stopped.getAsBoolean() && !task.isDone()) {
                        return Reading.absent(Absence.NO_DATA, 0, "the child was stopped");
                    }
                }
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("running a child", e.getCause());
        } finally {
            // Ends a child that still runs, and its processes.
            thread.interrupt();
            Threads.join(thread, TimeUnit.SECONDS.toMillis(1));
        }
    }

    private static Reading<List<Finding>> result(String check, ChildRun run) {
        if (run.end() instanceof ChildRun.End.Exited exited) {
            if (CRASHES.contains(exited.code())) {
                return Reading.absent(Absence.FAILED, exited.code(), "the child crashed");
            }
            try {
                return Reading.of(FindingReader.findings(check, run.out()));
            } catch (IOException e) {
                return Reading.absent(
                        Absence.FAILED, 0, "the child ended with code " + exited.code() + " without a result: " + e);
            }
        }
        String why = run.end() instanceof ChildRun.End.CutOff cut
                ? "it " + cut.why()
                : run.end() instanceof ChildRun.End.NotStarted not ? not.why() : "";
        return Reading.absent(Absence.FAILED, 0, "the child gave no result: " + why);
    }
}
