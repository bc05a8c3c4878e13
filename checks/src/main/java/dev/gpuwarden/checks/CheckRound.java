package dev.gpuwarden.checks;

import dev.gpuwarden.core.node.NodeSnapshot;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks that run one after the other, on one thread unless one of them hangs. Guarded by the runner's lock, except for
 * {@link #run}.
 */
final class CheckRound implements Runnable {

    private final CheckRunner runner;
    private final Deque<CheckJob> left;
    private final NodeSnapshot node;
    private final CheckEnvironment environment;
    private @Nullable CheckJob current;
    private @Nullable Thread thread;
    private boolean abandoned;

    CheckRound(CheckRunner runner, List<CheckJob> jobs, NodeSnapshot node, CheckEnvironment environment) {
        this.runner = runner;
        this.left = new ArrayDeque<>(jobs);
        this.node = node;
        this.environment = environment;
    }

    @Override
    public void run() {
        CheckJob job = runner.next(this, null, null);
        while (job != null) {
            job = runner.next(this, job, job.run(node, environment));
        }
    }

    NodeSnapshot node() {
        return node;
    }

    @Nullable CheckJob current() {
        return current;
    }

    /** Returns the next check for the calling thread; null at the end. */
    @Nullable CheckJob advance(boolean stopped) {
        thread = Thread.currentThread();
        current = stopped || abandoned ? null : left.poll();
        return current;
    }

    /** Leaves the thread to its check, and returns the checks that are left. */
    List<CheckJob> abandon() {
        abandoned = true;
        if (thread != null) {
            // Ends a wait for a process or a lock. A call that hangs in the kernel stays.
            thread.interrupt();
        }
        List<CheckJob> rest = List.copyOf(left);
        left.clear();
        return rest;
    }
}
