package dev.gpuwarden.aggregator.controller;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Work by name: never two threads at one name, never one name in the queue twice, and what came while it was worked on is worked
 * on once more. What fails is tried again, later each time. Thread-safe.
 */
public final class WorkQueue implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(WorkQueue.class.getName());

    /** With jitter, since thousands fail at the same moment. */
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(30), 0.5);

    /** Brings one thing to where it must be. Called by several threads, for different names. */
    public interface Work {
        void on(String name) throws ApiException, InterruptedException;
    }

    private enum Stage {
        QUEUED,
        WORKING,
        /** Working, and there is news. */
        AGAIN
    }

    private final String what;
    private final Work work;
    private final ScheduledThreadPoolExecutor threads;
    private final Map<String, Stage> stages = new HashMap<>();
    private final Map<String, Integer> failures = new HashMap<>();
    private final Set<String> later = new HashSet<>();
    private final Set<Thread> working = new HashSet<>();
    private boolean open;

    /** Begins closed. @param what is worked on, for the log */
    public WorkQueue(String what, int threads, Work work) {
        this.what = what;
        this.work = work;
        this.threads = new ScheduledThreadPoolExecutor(threads, Threads.daemon("gpuwarden-" + what.replace(' ', '-')));
        this.threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** Does nothing while it is closed: whoever opens it adds all there is. */
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

    /** Names are taken from now on. */
    public synchronized void open() {
        open = true;
    }

    /** No name is taken any more, those that wait are forgotten, and what is being worked on is interrupted. */
    public synchronized void stop() {
        open = false;
        working.forEach(Thread::interrupt);
        stages.values().removeIf(stage -> stage == Stage.QUEUED);
        later.clear();
        failures.clear();
    }

    private void turn(String name) {
        synchronized (this) {
            // Forgotten since, or forgotten and added again, which has a turn of its own.
            if (!open || !stages.replace(name, Stage.QUEUED, Stage.WORKING)) {
                return;
            }
            working.add(Thread.currentThread());
        }
        boolean done = false;
        boolean retried = false;
        try {
            work.on(name);
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
            // From here on an interrupt would be for what this thread does next.
            working.remove(Thread.currentThread());
            var unused = Thread.interrupted();
        }
        after(name, done, retried);
    }

    /** What was interrupted, and asked for again since, is worked on once more; what failed has a time of its own. */
    private synchronized void after(String name, boolean done, boolean retried) {
        Stage stage = stages.remove(name);
        if (done && failures.remove(name) != null) {
            LOG.log(Level.INFO, what + " " + name + ": done, after it had failed");
        }
        if (stage == Stage.AGAIN && !retried) {
            add(name);
        }
    }

    /** @param least what the API server wants to be left alone for */
    private synchronized void failed(String name, String why, Duration least) {
        if (!open) {
            return;
        }
        int times = failures.merge(name, 1, Integer::sum);
        if (times == 1) {
            LOG.log(Level.WARNING, what + " " + name + ": failed, is tried again: " + why);
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
            // The program stops; the next one begins with all there is.
        }
    }

    /** How many wait or are worked on. */
    public synchronized int size() {
        return stages.size();
    }

    /** How many wait because they failed. */
    public synchronized int failing() {
        return failures.size();
    }

    @Override
    public void close() {
        stop();
        threads.shutdownNow();
        try {
            var unused = threads.awaitTermination(2, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
