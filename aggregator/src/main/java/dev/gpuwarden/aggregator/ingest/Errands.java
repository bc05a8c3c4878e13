package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** What is done about questions to nodes, apart from the threads that learn of them. Thread-safe. */
final class Errands implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Errands.class.getName());

    private static final int THREADS = 2;
    private static final Backoff RETRY = Backoff.exact(Duration.ofMillis(500), Duration.ofSeconds(16));
    /** A minute in all; whoever waits has asked anew by then, or goes on without. */
    private static final int MOST_TRIES = 8;

    private final IngestMetrics tally;
    private final ScheduledThreadPoolExecutor threads;

    Errands(IngestMetrics tally) {
        this.tally = tally;
        this.threads = new ScheduledThreadPoolExecutor(THREADS, Threads.daemon("gpuwarden-questions"));
        threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** A write of an answer: whether it is kept, or nobody wants it any more. */
    interface Write {
        boolean kept() throws ApiException, InterruptedException;
    }

    /** Never waits. */
    void soon(Runnable task) {
        later(task, 0);
    }

    /**
     * Writes until it is kept, for about a minute. Never waits.
     *
     * @param what for the log
     */
    void write(String what, Write write) {
        later(() -> write(what, write, 1), 0);
    }

    private void write(String what, Write write, int tries) {
        try {
            if (!write.kept()) {
                tally.looked("late");
            }
        } catch (ApiException e) {
            if (tries < MOST_TRIES) {
                later(() -> write(what, write, tries + 1), RETRY.pause(tries).toMillis());
            } else {
                tally.looked("unwritten");
                LOG.log(Level.WARNING, what + " cannot be written: " + e.getMessage());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void later(Runnable task, long delayMillis) {
        try {
            var unused = threads.schedule(task, delayMillis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The program stops; who asked asks again, or another replica does.
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
