package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.util.Threads;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** A bound on the time of a run, whatever hangs. A part that has not answered by then is UNKNOWN. */
final class CheckDeadline {

    static final Duration SHORTEST = Duration.ofSeconds(1);

    private static final CheckInfo SCAN = CheckInfo.of("scan", "NODE", "The scan of the node ends in time.");

    private static final Duration MOST_FOR_CHECKS = Duration.ofSeconds(3);

    private CheckDeadline() {}

    /** Returns the part of the whole time that is kept for checks after the wait for GPUs. */
    static Duration forChecks(Duration whole) {
        Duration half = whole.dividedBy(2);
        return half.compareTo(MOST_FOR_CHECKS) < 0 ? half : MOST_FOR_CHECKS;
    }

    /**
     * Runs checks on a thread of their own, and interrupts it at the end, which ends the scripts that it runs.
     *
     * @param whole deadline that the user set
     * @param left remaining time
     */
    static List<CheckResult> within(Duration whole, Duration left, Supplier<List<CheckResult>> checks) {
        FutureTask<List<CheckResult>> task = new FutureTask<>(checks::get);
        Thread thread = Threads.daemon("gpuwarden-look", task);
        Instant began = Instant.now();
        thread.start();
        try {
            return task.get(Math.max(left.toMillis(), 1), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            thread.interrupt();
            return List.of(CheckResult.of(
                    SCAN,
                    began,
                    left,
                    List.of(Finding.unknown(
                            "deadline",
                            Subject.NODE,
                            "the checks did not end within " + Durations.text(whole),
                            "give more time with --deadline; 'gpuwarden check NAME' runs one check"))));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        }
    }
}
