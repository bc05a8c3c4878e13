package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.ingest.NodeSession.Draft;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.NoSuchNode;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.Superseded;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.util.Threads;
import io.grpc.Status;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A writer of the nodes' reports to the cluster. Each node has one write at a time, which contains all reports since the last
 * one. Writes are not more frequent than the {@link WritePace} allows, and urgent news waits less than other news. A failed write is repeated as long as its state is the
 * newest.
 */
final class NodeHealthWriter implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(NodeHealthWriter.class.getName());

    /** Each waits for one answer; 8 at 5 ms are 1,600 writes a second. */
    private static final int THREADS = 8;

    private final NodeHealthClient healths;
    private final IngestMetrics metrics;
    private final Consumer<NodeSession> settled;
    private final long eachNanos;
    private final long restNanos;
    private final Backoff backoff;
    private final ScheduledThreadPoolExecutor threads;
    private final Map<NodeSession, Integer> failing = new ConcurrentHashMap<>();

    /** @param settled called after each write of a record */
    NodeHealthWriter(NodeHealthClient healths, IngestMetrics metrics, WritePace pace, Consumer<NodeSession> settled) {
        this.healths = healths;
        this.metrics = metrics;
        this.settled = settled;
        this.eachNanos = pace.each().toNanos();
        this.restNanos = pace.calm().minus(pace.each()).toNanos();
        // With jitter, since thousands of nodes fail at the same moment.
        this.backoff = new Backoff(pace.firstRetry(), pace.lastRetry(), 0.5);
        this.threads = new ScheduledThreadPoolExecutor(THREADS, Threads.daemon("gpuwarden-node-health"));
        threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** Schedules a write for a node that has a report and no write in progress. Does not block. */
    void write(NodeSession record) {
        later(() -> turn(record), 0);
    }

    /** Calls `settled` in a thread of this writer. */
    void settle(NodeSession record) {
        later(() -> settled.accept(record), 0);
    }

    private void later(Runnable task, long delayNanos) {
        try {
            var unused = threads.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            // The program stops. Nothing of this was acknowledged, so the node reports it again.
        }
    }

    private void turn(NodeSession record) {
        Draft draft = record.begin();
        long began = System.nanoTime();
        try {
            StoredHealth held = healths.write(draft.state(), draft.held());
            metrics.written.add(System.nanoTime() - draft.sinceNanos());
            if (failing.remove(record) != null) {
                LOG.log(Level.INFO, "NodeHealth " + record.node() + " is up to date again");
            }
            record.kept(draft, held).ifPresent(kept -> kept.stream().acknowledge(kept));
            later(() -> rest(record), Math.max(0, began + eachNanos - System.nanoTime()));
            return;
        } catch (NoSuchNode e) {
            over(record, "no_node", Status.PERMISSION_DENIED.withDescription(e.getMessage()));
        } catch (Superseded e) {
            // A node that exists under another UID must report all again, and soon.
            Status status = e.isOtherNode() ? Status.UNAVAILABLE : Status.ABORTED;
            over(record, "superseded", status.withDescription(e.getMessage()));
        } catch (ApiException | RuntimeException e) {
            later(() -> after(record), failed(record, draft, e));
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        after(record);
    }

    private void rest(NodeSession record) {
        if (record.rest()) {
            turn(record);
        } else {
            later(() -> rested(record), restNanos);
        }
    }

    private void rested(NodeSession record) {
        switch (record.rested()) {
            case NEWS -> turn(record);
            case NOTHING -> settled.accept(record);
            // Its own write ends in a rest as well.
            case BEFORE -> {}
        }
    }

    /** This state must not be written any more. */
    private void over(NodeSession record, String why, Status end) {
        metrics.failures.add(why);
        record.forget();
        record.stream().ifPresent(stream -> stream.end(end));
    }

    private void after(NodeSession record) {
        if (record.end()) {
            turn(record);
        } else {
            failing.remove(record);
            settled.accept(record);
        }
    }

    private long failed(NodeSession record, Draft draft, Exception cause) {
        record.notKept(draft);
        metrics.failures.add(cause instanceof ApiException answered ? answered.kind() : "bug");
        int times = failing.merge(record, 1, Integer::sum);
        if (times == 1) {
            LOG.log(
                    Level.WARNING,
                    "NodeHealth " + record.node() + " is not up to date; the next try follows: "
                            + (cause instanceof ApiException ? cause.getMessage() : cause.toString()));
        }
        long asked = cause instanceof ApiException answered ? answered.retryAfterSeconds() : 0;
        return backoff.pause(times, Duration.ofSeconds(asked)).toNanos();
    }

    /** Returns the number of nodes whose newest state the cluster does not have. */
    int failing() {
        return failing.size();
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }

    /**
     * The pace of writes to the API server.
     *
     * @param each least time from the begin of one write of a node to the begin of the next
     * @param calm the same without urgent news: a fault that is fatal or over, all faults of a node, or many events
     * @param firstRetry pause after a first failure; it doubles after each further one
     * @param lastRetry longest pause
     */
    record WritePace(Duration each, Duration calm, Duration firstRetry, Duration lastRetry) {

        /** A node that flaps costs the API server four writes a second at most, and one with other news one write. */
        static final WritePace DEFAULT = new WritePace(
                Duration.ofMillis(250), Duration.ofSeconds(1), Duration.ofMillis(500), Duration.ofSeconds(30));
    }
}
