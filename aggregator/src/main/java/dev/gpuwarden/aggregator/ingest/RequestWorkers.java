package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.core.limit.OpenRequests;
import dev.gpuwarden.core.util.Threads;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Requests of nodes of one kind, which need the API server. Few run at a time, in threads of their own. They are bounded for each
 * node and for all. Each request gets one answer. Thread-safe.
 *
 * @param <Q> a request
 */
public abstract class RequestWorkers<Q> implements AutoCloseable {

    private static final int THREADS = 2;

    private final long patienceNanos;
    private final LongSupplier nanoTime;
    private final OpenRequests open;
    private final ThreadPoolExecutor threads;

    /**
     * The limit that a request exceeds: the open requests of a node, the rate of requests, the requests of all nodes that wait, or
     * the time after which the node expects no answer and may have decided again.
     */
    protected enum Limit {
        OPEN,
        RATE,
        WAITING,
        AGE
    }

    /**
     * @param name name of the threads
     * @param waiting requests of all nodes that wait for a thread
     * @param most open requests of a node
     * @param patience time for which a node waits for the answer
     */
    protected RequestWorkers(String name, int waiting, int most, Duration patience, LongSupplier nanoTime) {
        this.patienceNanos = patience.toNanos();
        this.nanoTime = nanoTime;
        this.open = new OpenRequests(most);
        this.threads = Threads.pool(THREADS, new ArrayBlockingQueue<>(waiting), Threads.daemon(name));
    }

    /** Counts a request of a node. Returns false if requests come too often. Does not block. */
    protected abstract boolean permits(String node);

    /** Returns the answer to a request. Blocks. */
    protected abstract Acknowledgement answer(String node, Q request) throws ApiException, InterruptedException;

    /** Returns the answer to a request beyond a limit. Nothing was done for it. Does not block. */
    protected abstract Acknowledgement refused(Q request, Limit limit);

    /** Returns the answer to a request that failed: an {@link ApiException}, an interrupt or a defect. */
    protected abstract Acknowledgement failed(String node, Q request, Exception cause);

    /**
     * Accepts a request. Does not block.
     *
     * @param node the node that the stream has proven
     * @param answer called once, from any thread
     */
    public final void asked(String node, Q request, Consumer<Acknowledgement> answer) {
        if (!open.begin(node)) {
            answer.accept(refused(request, Limit.OPEN));
            return;
        }
        if (!permits(node)) {
            open.end(node);
            answer.accept(refused(request, Limit.RATE));
            return;
        }
        long since = nanoTime.getAsLong();
        try {
            threads.execute(() -> answer.accept(work(node, request, since)));
        } catch (RejectedExecutionException e) {
            open.end(node);
            answer.accept(refused(request, Limit.WAITING));
        }
    }

    private Acknowledgement work(String node, Q request, long since) {
        try {
            return nanoTime.getAsLong() - since < patienceNanos ? answer(node, request) : refused(request, Limit.AGE);
        } catch (ApiException | RuntimeException e) {
            return failed(node, request, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failed(node, request, e);
        } finally {
            open.end(node);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
