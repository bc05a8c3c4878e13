package dev.gpuwarden.aggregator.controller;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A deduplicating work queue with one worker per name and exponential back-off, like client-go's. A name that is added while it is
 * reconciled is reconciled once more. The queue takes names between {@link #begin} and {@link #end}. Thread-safe.
 */
public final class WorkQueue implements LeaderListener, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(WorkQueue.class.getName());

    /** The pauses between retries, with jitter, since thousands of names can fail at the same moment. */
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(30), 0.5);

    private enum Stage {
        QUEUED,
        WORKING,
        /** Working, and added again. */
        AGAIN
    }

    private final String what;
    private final Consumer<WorkQueue> runs;
    private final ScheduledThreadPoolExecutor threads;
    private final Map<String, Stage> stages = new HashMap<>();
    private final Map<String, Integer> failures = new HashMap<>();
    private final Map<String, ScheduledFuture<?>> timers = new HashMap<>();
    private final Set<String> later = new HashSet<>();
    private final Set<Thread> working = new HashSet<>();
    private boolean open;
    private @Nullable Reconciler reconciler;

    /** @param what the kind of the names, for the log */
    public WorkQueue(String what, int workers) {
        this(what, workers, queue -> {});
    }

    /** @param runs receives this queue once it has its reconciler */
    WorkQueue(String what, int workers, Consumer<WorkQueue> runs) {
        this.what = what;
        this.runs = runs;
        this.threads =
                new ScheduledThreadPoolExecutor(workers, Threads.daemon("gpuwarden-queue-" + what.replace(' ', '-')));
        this.threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        this.threads.setRemoveOnCancelPolicy(true);
    }

    /** Gives the queue its reconciler, before {@link #begin}. A reconciler that adds names itself needs the queue first. */
    public WorkQueue run(Reconciler given) {
        reconciler = given;
        runs.accept(this);
        return this;
    }

    /** Adds a name. Does nothing while the queue is closed: the code that begins it adds all names. */
    public synchronized void add(String name) {
        if (!open) {
            return;
        }
        Stage stage = stages.get(name);
        if (stage == null) {
            stages.put(name, Stage.QUEUED);
            submit(() -> turn(name), Duration.ZERO);
        } else if (stage == Stage.WORKING) {
            stages.put(name, Stage.AGAIN);
        }
    }

    /**
     * Adds a name after a delay. The last delay of a name replaces the one before.
     *
     * @param delay zero or more
     */
    public synchronized void addAfter(String name, Duration delay) {
        if (!open) {
            return;
        }
        ScheduledFuture<?> before = timers.remove(name);
        if (before != null) {
            before.cancel(false);
        }
        try {
            timers.put(name, threads.schedule(() -> expired(name), delay.toMillis(), TimeUnit.MILLISECONDS));
        } catch (RejectedExecutionException e) {
            // The program stops; the next one begins with all names.
        }
    }

    private synchronized void expired(String name) {
        timers.remove(name);
        add(name);
    }

    @Override
    public synchronized void begin() {
        open = reconciler != null;
    }

    /** Removes all names that wait, and interrupts the workers. */
    @Override
    public synchronized void end() {
        open = false;
        working.forEach(Thread::interrupt);
        stages.values().removeIf(stage -> stage == Stage.QUEUED);
        timers.values().forEach(timer -> timer.cancel(false));
        timers.clear();
        later.clear();
        failures.clear();
    }

    private void turn(String name) {
        synchronized (this) {
            // The name was removed, or removed and added again, which has its own turn.
            if (!open || !stages.replace(name, Stage.QUEUED, Stage.WORKING)) {
                return;
            }
            working.add(Thread.currentThread());
        }
        boolean done = false;
        boolean retried = false;
        try {
            Objects.requireNonNull(reconciler).reconcile(name);
            done = true;
        } catch (ApiException e) {
            failed(name, String.valueOf(e.getMessage()), Duration.ofSeconds(e.retryAfterSeconds()));
            retried = true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, what + " " + name + ": this is a bug in gpuwarden", e);
            failed(name, e.toString(), Duration.ZERO);
            retried = true;
        }
        synchronized (this) {
            // An interrupt after this line would hit the next name of this thread.
            working.remove(Thread.currentThread());
            var unused = Thread.interrupted();
        }
        after(name, done, retried);
    }

    /**
     * Ends the work on a name. If it was interrupted and added again, it is reconciled once more; if it failed, it has its own
     * retry.
     */
    private synchronized void after(String name, boolean done, boolean retried) {
        Stage stage = stages.remove(name);
        if (done && failures.remove(name) != null) {
            LOG.log(Level.INFO, what + " " + name + ": succeeded after failures");
        }
        if (stage == Stage.AGAIN && !retried) {
            add(name);
        }
    }

    /** @param least the pause that the API server requests */
    private synchronized void failed(String name, String why, Duration least) {
        if (!open) {
            return;
        }
        int times = failures.merge(name, 1, Integer::sum);
        if (times == 1) {
            LOG.log(Level.WARNING, what + " " + name + ": failed, will be retried: " + why);
        }
        if (later.add(name)) {
            submit(() -> retry(name), RETRY.pause(times, least));
        }
    }

    private synchronized void retry(String name) {
        if (later.remove(name)) {
            add(name);
        }
    }

    private void submit(Runnable task, Duration pause) {
        try {
            var unused = threads.schedule(task, pause.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The program stops; the next one begins with all names.
        }
    }

    /** Returns the number of names that wait or are reconciled now. */
    public synchronized int size() {
        return stages.size();
    }

    /** Returns the number of names that failed and wait for their retry. */
    public synchronized int failing() {
        return failures.size();
    }

    @Override
    public void close() {
        end();
        threads.shutdownNow();
        try {
            var unused = threads.awaitTermination(2, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
