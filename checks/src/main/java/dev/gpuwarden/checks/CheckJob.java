package dev.gpuwarden.checks;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.RunningCheck;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.node.NodeSnapshot;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One check of the runner and its progress. Guarded by the runner's lock, except for {@link #run}, {@link #runningNow} and {@link #proven}. */
final class CheckJob {

    /**
     * A check with a longer deadline waits for something and runs on a thread of its own, because it would delay the
     * others.
     */
    private static final Duration QUICK = Duration.ofSeconds(1);

    private final HealthCheck check;
    private final CounterHistory counters = new CounterHistory();
    private final CheckInfo info;
    private final long deadlineNanos;
    private final boolean alone;

    private final long epoch;
    private long due;
    private boolean requested;
    private boolean running;
    private boolean hung;
    private long begun;
    private @Nullable CheckResult last;
    private long lastNumber;
    private volatile @Nullable CheckRun now;
    private volatile boolean failing;

    /**
     * A load on GPUs waits for its first point of the time grid, so that restarts of a daemon do not repeat it.
     *
     * @param now present time, in {@code System.nanoTime}
     * @param epoch start of the grid
     */
    CheckJob(CheckPlan.Planned planned, Duration deadline, long now, long epoch) {
        check = planned.check();
        info = planned.info();
        Duration own = check.deadline();
        deadlineNanos = (own.compareTo(deadline) > 0 ? own : deadline).toNanos();
        alone = own.compareTo(QUICK) > 0;
        this.epoch = epoch;
        due = now;
        if (loads()) {
            planAfter(now);
        }
    }

    CheckInfo info() {
        return info;
    }

    boolean alone() {
        return alone;
    }

    /** Returns whether it puts a load on GPUs, which take one measurement at a time. */
    boolean loads() {
        return check.load() != GpuLoad.NONE;
    }

    boolean running() {
        return running;
    }

    boolean hung() {
        return hung;
    }

    boolean requested() {
        return requested;
    }

    @Nullable CheckResult last() {
        return last;
    }

    /** Returns the number that the last result has among all results of the runner; 0 before the first. */
    long lastNumber() {
        return lastNumber;
    }

    long due() {
        return due;
    }

    void request() {
        requested = true;
    }

    /** Makes the check due at the next point of the time grid. */
    void planAfter(long now) {
        long every = info.every().toNanos();
        due = epoch + (Math.floorDiv(now - epoch, every) + 1) * every;
    }

    void dueAt(long nanos) {
        due = nanos;
    }

    /** Returns the time at which the current run exceeds its deadline. */
    long overdueAt() {
        return begun + deadlineNanos;
    }

    void begin(long now) {
        running = true;
        begun = now;
    }

    /** Records that the abandoned run returned, so that the check may run again. */
    void returned() {
        running = false;
        hung = false;
    }

    void abandon() {
        hung = true;
    }

    void complete(CheckResult result, long number) {
        last = result;
        lastNumber = number;
        requested = false;
    }

    Duration takenUntil(long now) {
        return Duration.ofNanos(now - begun);
    }

    /** Returns the present run, also one that hangs; empty while it waits for its turn. For any thread. */
    Optional<RunningCheck> runningNow() {
        return Optional.ofNullable(now).map(CheckRun::now);
    }

    /** Returns what the present run has proven so far. */
    List<Finding> proven() {
        CheckRun run = now;
        return run == null ? List.of() : run.proven();
    }

    CheckResult run(NodeSnapshot node, CheckEnvironment environment) {
        CheckRun run = new CheckRun(info, environment.clock().instant());
        now = run;
        CheckResult result = CheckExecution.run(run, node, check, environment, counters, !failing);
        now = null;
        failing = result.findings().stream().anyMatch(f -> f.code().equals("check-failed"));
        return result;
    }
}
