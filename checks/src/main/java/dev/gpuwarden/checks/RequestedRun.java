package dev.gpuwarden.checks;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.RunListener;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;

/** A wait for requested checks. One thread uses it. It holds the runner's lock while it compares, never while it reports. */
final class RequestedRun {

    private static final long TURN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Lock lock;
    private final Condition completed;
    private final BooleanSupplier stopped;
    private final List<CheckJob> wanted;
    private final Set<CheckJob> left;
    private final long before;

    /**
     * Requests the checks. The caller holds the lock.
     *
     * @param completed signalled after each result and at the stop of the runner
     * @param stopped read with the lock held
     * @param before number of the last result before this request
     */
    RequestedRun(Lock lock, Condition completed, BooleanSupplier stopped, List<CheckJob> wanted, long before) {
        this.lock = lock;
        this.completed = completed;
        this.stopped = stopped;
        this.wanted = wanted;
        this.left = new LinkedHashSet<>(wanted);
        this.before = before;
        wanted.forEach(CheckJob::request);
    }

    /** Blocks until all checks have ended, the runner stops, or the listener is gone. Returns the results in the order of the request. */
    List<CheckResult> await(RunListener listener) {
        Map<String, CheckResult> results = new HashMap<>();
        long turn = System.nanoTime() + TURN_NANOS;
        try {
            boolean more = true;
            while (more) {
                List<CheckResult> ended = new ArrayList<>();
                more = next(turn, ended);
                ended.forEach(result -> {
                    results.put(result.check().id(), result);
                    listener.ended(result);
                });
                if (more && turn - System.nanoTime() <= 0) {
                    turn = System.nanoTime() + TURN_NANOS;
                    listener.running(left.stream()
                            .flatMap(job -> job.runningNow().stream())
                            .toList());
                    more = !listener.gone();
                }
            }
            return wanted.stream()
                    .flatMap(job -> Optional.ofNullable(results.get(job.info().id())).stream())
                    .toList();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for checks", e);
        }
    }

    /** Adds results that came, in their order; waits for one until the end of the turn. Returns whether more will come. */
    private boolean next(long turn, List<CheckResult> ended) throws InterruptedException {
        lock.lock();
        try {
            while (true) {
                List<CheckJob> fresh = left.stream()
                        .filter(job -> job.lastNumber() > before)
                        .sorted(Comparator.comparingLong(CheckJob::lastNumber))
                        .toList();
                fresh.forEach(job -> {
                    ended.add(Objects.requireNonNull(job.last()));
                    left.remove(job);
                });
                long wait = turn - System.nanoTime();
                if (left.isEmpty() || stopped.getAsBoolean()) {
                    return false;
                }
                if (!fresh.isEmpty() || wait <= 0) {
                    return true;
                }
                completed.awaitNanos(wait);
            }
        } finally {
            lock.unlock();
        }
    }
}
