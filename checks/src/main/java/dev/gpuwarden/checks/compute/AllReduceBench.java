package dev.gpuwarden.checks.compute;

import dev.gpuwarden.checks.compute.AllReduceRank.Result;
import dev.gpuwarden.core.compute.AllReduceRate;
import dev.gpuwarden.core.compute.AllReduceSums;
import dev.gpuwarden.core.compute.AllReduceWork;
import dev.gpuwarden.core.port.AbortSignal;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveDriver.Gpu;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveException.Kind;
import dev.gpuwarden.core.util.Threads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * All-reduces between GPUs of this node, one thread for each. A run ends by its deadline: a call that does not return then is
 * left behind with its thread, and its GPU takes no part in another run until it returns. Thread-safe.
 */
public final class AllReduceBench {

    /** Time for ranks to notice the abort. */
    private static final Duration GRACE = Duration.ofMillis(500);

    /** The time between two questions whether the work must stop. */
    private static final Duration BETWEEN_QUESTIONS = Duration.ofMillis(50);

    /** A lost connection is noticed before the failure that caused it, by so much at most on a busy host. */
    private static final Duration CAUSE = Duration.ofSeconds(2);

    /** NCCL starts its work in the calling thread, and the program's own threads have stacks for Java. */
    private static final long STACK_BYTES = 8L << 20;

    /** Calls that have not returned, by the GPU's UUID. */
    private final Map<String, Thread> leftBehind = new ConcurrentHashMap<>();

    /** The end of a run. */
    public sealed interface Outcome {
        /**
         * Rates and sums.
         *
         * @param rates out of place, from the smallest size to the largest that was measured; never empty
         * @param inPlace of the largest size, in place
         * @param sums comparisons by the GPU's place in the run
         */
        record Measured(List<AllReduceRate> rates, AllReduceRate inPlace, List<AllReduceSums> sums) implements Outcome {
            public AllReduceRate last() {
                return rates.get(rates.size() - 1);
            }
        }

        /**
         * No rates.
         *
         * @param causes failures by the GPU's place in the run. Consequences of another GPU's failure are not among them. If
         *     all waited or lost their connections, none is the cause, and all have the failure.
         */
        record Failed(Map<Integer, CollectiveException> causes) implements Outcome {}
    }

    /**
     * Measures all-reduces between at least two GPUs, and blocks until the deadline of the work and a second at most.
     *
     * @param stopped asked several times a second: true ends the work, and the outcome is a failure
     * @param soFar receives the comparisons of all GPUs several times a second and at the end, also of a run that fails; on this thread
     */
    public Outcome run(
            CollectiveDriver driver,
            List<Gpu> gpus,
            AllReduceWork work,
            BooleanSupplier stopped,
            Consumer<List<AllReduceSums>> soFar) {
        Map<Integer, CollectiveException> busy = stillRunning(gpus);
        return busy.isEmpty() ? new Run(driver, gpus, work, soFar).outcome(stopped) : new Outcome.Failed(busy);
    }

    /** Returns whether no call on this GPU is left behind in NCCL or in the driver. */
    public boolean isIdle(String gpuUuid) {
        Thread thread = leftBehind.get(gpuUuid);
        return thread == null || !thread.isAlive();
    }

    private Map<Integer, CollectiveException> stillRunning(List<Gpu> gpus) {
        Map<Integer, CollectiveException> busy = new TreeMap<>();
        for (int i = 0; i < gpus.size(); i++) {
            if (!isIdle(gpus.get(i).uuid())) {
                busy.put(i, hangs("an earlier call has not returned yet"));
            }
        }
        return busy;
    }

    private static CollectiveException hangs(String message) {
        return new CollectiveException(Kind.TIMEOUT, 0, message);
    }

    private final class Run {
        private final CollectiveDriver driver;
        private final List<Gpu> gpus;
        private final AllReduceWork work;
        private final Gathering gathering;
        private final CountDownLatch ended;
        private final Consumer<List<AllReduceSums>> soFar;
        private final List<AllReduceRank> ranks = new ArrayList<>();
        private final AbortSignal abort = new AbortSignal();
        /** Guarded by this, as the next ones. */
        private final Map<Integer, CollectiveException> failures = new LinkedHashMap<>();

        private final Map<Integer, CollectiveException> hanging = new TreeMap<>();

        private final Map<Integer, Result> results = new TreeMap<>();
        private boolean over;

        Run(CollectiveDriver driver, List<Gpu> gpus, AllReduceWork work, Consumer<List<AllReduceSums>> soFar) {
            this.soFar = soFar;
            this.driver = driver;
            this.gpus = gpus;
            this.work = work;
            gathering = new Gathering(gpus.size());
            ended = new CountDownLatch(gpus.size());
        }

        Outcome outcome(BooleanSupplier stopped) {
            byte[] id;
            try {
                id = driver.newUniqueId();
            } catch (CollectiveException e) {
                return new Outcome.Failed(Map.of(0, e));
            }
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < gpus.size(); i++) {
                int rank = i;
                AllReduceRank one =
                        new AllReduceRank(gpus.get(i).ordinal(), i, gpus.size(), id, work, gathering, abort);
                ranks.add(one);
                threads.add(Threads.daemon("gpuwarden-nccl-" + i, STACK_BYTES, () -> run(one, rank)));
            }
            threads.forEach(Thread::start);
            if (!allEnded(work.deadline(), stopped)) {
                stop();
                if (!allEnded(GRACE)) {
                    left(threads);
                }
            }
            reportSums();
            return result();
        }

        private void reportSums() {
            soFar.accept(ranks.stream().map(AllReduceRank::sums).toList());
        }

        private boolean allEnded(Duration within, BooleanSupplier stopped) {
            long end = System.nanoTime() + within.toNanos();
            while (!stopped.getAsBoolean() && System.nanoTime() < end) {
                if (allEnded(BETWEEN_QUESTIONS)) {
                    return true;
                }
                reportSums();
            }
            return false;
        }

        private boolean allEnded(Duration within) {
            try {
                return ended.await(within.toNanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }

        private void run(AllReduceRank rank, int place) {
            try {
                Result measured = rank.run(driver);
                synchronized (this) {
                    results.put(place, measured);
                }
            } catch (CollectiveException e) {
                failed(place, e);
            } catch (Gathering.Ended e) {
                stop();
            } finally {
                ended.countDown();
            }
        }

        private void failed(int place, CollectiveException why) {
            synchronized (this) {
                if (!over) {
                    failures.put(place, why);
                }
            }
            if (FailureCauses.isRemote(why)) {
                awaitCause();
            }
            stop();
        }

        /** Waits until the rank that has failed by itself has ended the run. */
        private void awaitCause() {
            long end = System.nanoTime() + CAUSE.toNanos();
            while (!abort.isRequested()
                    && System.nanoTime() < end
                    && !Thread.currentThread().isInterrupted()) {
                LockSupport.parkNanos(BETWEEN_QUESTIONS.toNanos());
            }
        }

        private void stop() {
            abort.request();
            gathering.end();
        }

        private void left(List<Thread> threads) {
            for (int i = 0; i < threads.size(); i++) {
                if (threads.get(i).isAlive()) {
                    leftBehind.put(gpus.get(i).uuid(), threads.get(i));
                    synchronized (this) {
                        hanging.put(i, hangs("a call of NCCL or of the driver does not return"));
                    }
                }
            }
        }

        private synchronized Outcome result() {
            over = true;
            if (!hanging.isEmpty()) {
                return new Outcome.Failed(hanging);
            }
            if (!failures.isEmpty() || results.size() < gpus.size()) {
                return new Outcome.Failed(FailureCauses.of(failures, gpus.size()));
            }
            List<Result> all = List.copyOf(results.values());
            return new Outcome.Measured(
                    all.get(0).rates(),
                    all.get(0).inPlace(),
                    all.stream().map(Result::sums).toList());
        }
    }
}
