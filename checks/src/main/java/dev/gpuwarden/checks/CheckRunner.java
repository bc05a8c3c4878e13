package dev.gpuwarden.checks;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckRegistry;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.check.RunningCheck;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.core.util.LoopThread;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler that runs checks when they are due or requested. One thread plans. Checks that are due together run one
 * after the other on a thread that lives for that round. If one of them hangs, its thread is abandoned and the rest
 * goes on with another thread. A check with a long deadline has a round of its own. A check that hangs holds one thread
 * until it returns, and does not run again before.
 */
public final class CheckRunner implements CheckRegistry, AutoCloseable {

    private static final System.Logger LOG = CheckLog.LOG;

    /** The first round waits this long for the first readings. */
    private static final long FIRST_READINGS_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final Duration LONGEST_CLOSE = Duration.ofMillis(500);

    private final CheckPlan plan;
    private final List<CheckJob> jobs = new ArrayList<>();
    private final CheckEnvironment environment;
    private final Consumer<List<CheckResult>> consumer;
    private final LoopThread planner = new LoopThread("gpuwarden-checks", Threads.SMALL_STACK_BYTES, this::plan);
    private final long began = System.nanoTime();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition completed = lock.newCondition();
    private final List<CheckRound> rounds = new ArrayList<>();
    private final List<CheckResult> fresh = new ArrayList<>();
    private long resultCount;
    private boolean settled;
    private boolean stopped;
    private volatile Runnable onResults = () -> {};
    private volatile Supplier<List<Damping>> damping = List::of;

    /** @param consumer receives all results once and in order, on the planning thread */
    public CheckRunner(
            CheckPlan plan, CheckEnvironment environment, Consumer<List<CheckResult>> consumer, TimeGrid grid) {
        this.plan = plan;
        this.environment = environment;
        this.consumer = consumer;
        plan.planned()
                .forEach(planned -> jobs.add(new CheckJob(planned, plan.deadline(), began, grid.epochNanos(planned))));
    }

    /** Runs each of these checks once. Blocks until they end or exceed their deadlines. */
    public static List<CheckResult> once(CheckPlan plan, CheckEnvironment environment, RunListener listener) {
        try (CheckRunner runner = new CheckRunner(plan, environment, results -> {}, TimeGrid.from(0))) {
            // Request the run before anything is due; otherwise some checks would run twice.
            RequestedRun run = runner.request(List.of());
            runner.start();
            return run.await(listener);
        }
    }

    /** Starts the planning thread. Does not block. */
    public void start() {
        planner.start();
    }

    /** Sets a listener that runs on the planning thread after the consumer of each batch of results. It must not block. */
    public void onResults(Runnable listener) {
        onResults = listener;
    }

    /** Makes quick checks due now, for example after a change of a GPU's state. */
    public void runSoon() {
        locked(() -> {
            long now = System.nanoTime();
            jobs.stream().filter(job -> !job.alone()).forEach(job -> job.dueAt(now));
        });
        planner.wake();
    }

    /** Returns the checks that this runner runs by itself. */
    public CheckPlan planned() {
        return plan;
    }

    @Override
    public List<CheckInfo> checks() {
        return jobs.stream().map(CheckJob::info).toList();
    }

    @Override
    public List<CheckResult> results() {
        List<CheckResult> results = new ArrayList<>();
        locked(() -> jobs.stream().map(CheckJob::last).filter(Objects::nonNull).forEach(results::add));
        return results;
    }

    @Override
    public List<Damping> damping() {
        return damping.get();
    }

    /** Sets the source of the damped findings. */
    public void dampingFrom(Supplier<List<Damping>> source) {
        damping = source;
    }

    @Override
    public List<RunningCheck> running() {
        return jobs.stream().flatMap(job -> job.runningNow().stream()).toList();
    }

    @Override
    public List<CheckResult> run(List<String> ids, RunListener listener) {
        return request(ids).await(listener);
    }

    private RequestedRun request(List<String> ids) {
        List<CheckJob> wanted =
                ids.isEmpty() ? jobs : ids.stream().distinct().map(this::job).toList();
        lock.lock();
        try {
            planner.wake();
            return new RequestedRun(lock, completed, () -> stopped, wanted, resultCount);
        } finally {
            lock.unlock();
        }
    }

    private CheckJob job(String id) {
        return jobs.stream()
                .filter(job -> job.info().id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown check '" + id + "'"));
    }

    private long plan() {
        long wait;
        List<CheckResult> results;
        lock.lock();
        try {
            if (stopped) {
                return LoopThread.ENDED;
            }
            wait = turn(System.nanoTime());
            results = List.copyOf(fresh);
            fresh.clear();
        } finally {
            lock.unlock();
        }
        publish(results);
        return results.isEmpty() ? wait : 0;
    }

    private void publish(List<CheckResult> results) {
        if (!results.isEmpty()) {
            try {
                consumer.accept(results);
                onResults.run();
                environment.boot().keep();
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "results of checks could not be published", e);
            }
        }
    }

    /** Abandons runs that hang and starts checks that are due. Returns the nanoseconds until the next turn. */
    private long turn(long now) {
        List.copyOf(rounds).forEach(round -> abandonHung(round, now));
        startDue(now);
        long next = now + TimeUnit.HOURS.toNanos(1);
        for (CheckJob job : jobs) {
            if (!job.running()) {
                // The end of the check for which this one waits wakes the planner.
                next = waits(job) ? next : earlier(next, settled ? job.due() : now + POLL_NANOS);
            } else if (!job.hung()) {
                next = earlier(next, job.overdueAt());
            }
        }
        return next - now;
    }

    /** Returns whether another check measures GPUs now, so that this one must wait. */
    private boolean waits(CheckJob job) {
        return !job.running() && job.loads() && jobs.stream().anyMatch(other -> other.running() && other.loads());
    }

    private static long earlier(long a, long b) {
        return a - b < 0 ? a : b;
    }

    private void startDue(long now) {
        List<CheckJob> due = new ArrayList<>();
        for (CheckJob job : jobs) {
            if (now - job.due() < 0 && !job.requested()) {
                continue;
            }
            if (job.hung()) {
                completeHung(job, now);
                job.planAfter(now);
            } else if (!job.running() && !waits(job)) {
                due.add(job);
            }
        }
        if (due.isEmpty()) {
            return;
        }
        NodeSnapshot node = environment.nodes().get();
        settled = settled || settled(node) || now - began >= FIRST_READINGS_NANOS;
        if (!settled) {
            due.removeIf(job -> !job.requested());
        }
        start(due.stream().filter(job -> !job.alone() && !job.loads()).toList(), node, now);
        due.stream().filter(job -> job.alone() && !job.loads()).forEach(job -> start(List.of(job), node, now));
        start(due.stream().filter(CheckJob::loads).toList(), node, now);
    }

    private void start(List<CheckJob> due, NodeSnapshot node, long now) {
        if (!due.isEmpty()) {
            CheckRound round = new CheckRound(this, due, node, environment);
            rounds.add(round);
            due.forEach(job -> {
                job.planAfter(now);
                job.begin(now);
            });
            Threads.daemon("gpuwarden-check-round", Threads.SMALL_STACK_BYTES, round)
                    .start();
        }
    }

    /** Returns whether the driver and all GPUs were read once. Before that, every check would be UNKNOWN. */
    private static boolean settled(NodeSnapshot node) {
        return !(node.driver() instanceof DriverState.Opening)
                && node.gpus().stream().noneMatch(gpu -> gpu.state() == GpuState.STARTING);
    }

    /** Returns the check of this round to run next, after the one that is done; null at the end. */
    @Nullable CheckJob next(CheckRound round, @Nullable CheckJob done, @Nullable CheckResult result) {
        lock.lock();
        try {
            if (done != null) {
                boolean late = done.hung();
                done.returned();
                if (!late && result != null) {
                    complete(done, result);
                }
            }
            CheckJob job = round.advance(stopped);
            if (job != null) {
                job.begin(System.nanoTime());
            } else if (rounds.remove(round)) {
                planner.wake();
            }
            return job;
        } finally {
            lock.unlock();
        }
    }

    private void complete(CheckJob job, CheckResult result) {
        job.complete(result, ++resultCount);
        fresh.add(result);
        completed.signalAll();
    }

    private void abandonHung(CheckRound round, long now) {
        CheckJob job = round.current();
        if (job != null && now - job.overdueAt() >= 0) {
            job.abandon();
            rounds.remove(round);
            completeHung(job, now);
            start(round.abandon(), round.node(), now);
        }
    }

    private void completeHung(CheckJob job, long now) {
        complete(
                job, CheckExecution.hung(job.info(), environment.clock().instant(), job.takenUntil(now), job.proven()));
    }

    private void locked(Runnable body) {
        lock.lock();
        try {
            body.run();
        } finally {
            lock.unlock();
        }
    }

    /** Stops planning within half a second. The thread of a check that hangs is left behind. */
    @Override
    public void close() {
        locked(() -> {
            stopped = true;
            completed.signalAll();
        });
        planner.close(LONGEST_CLOSE);
    }
}
