package dev.gpuwarden.daemon.store;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The requests that wait for the writer's thread, in the order in which they came. Thread-safe. */
final class RequestQueue {

    private static final System.Logger LOG = System.getLogger(RequestQueue.class.getName());

    /** Requests that share one transaction. */
    static final int LARGEST_BATCH = 256;

    private final LinkedBlockingQueue<WriteRequest<?>> requests = new LinkedBlockingQueue<>();
    private volatile boolean ending;
    private volatile boolean closed;
    private volatile @Nullable Thread writer;

    /** Adds a request and blocks until it is answered. */
    <T> T submit(WriteRequest<T> request) {
        if (Thread.currentThread() == writer) {
            throw new IllegalStateException("a listener must not wait for the event store: it is on its thread");
        }
        add(request);
        return request.await();
    }

    /** Adds a request and does not wait for its answer. After {@link #close} the request fails. */
    void add(WriteRequest<?> request) {
        if (!closed) {
            requests.add(request);
        }
        if (closed && (requests.remove(request) || !request.isDone())) {
            request.fail(new IllegalStateException("the event store is closed"));
        }
    }

    /** Ends the writer's thread after the requests that wait now. */
    void end() {
        ending = true;
        requests.add(WriteRequest.of((session, now) -> true));
    }

    boolean isEnding() {
        return ending;
    }

    int size() {
        return requests.size();
    }

    // ---- for the writer's thread ----

    /** Makes the calling thread the one that must not wait for an answer. */
    void own() {
        writer = Thread.currentThread();
    }

    /** Returns false after {@link #end}, once no request waits. */
    boolean hasMore() {
        return !ending || !requests.isEmpty();
    }

    /**
     * Moves the next requests into the batch, at most {@link #LARGEST_BATCH}.
     *
     * @param nanos the longest wait for the first of them; 0 or less does not wait
     */
    void take(List<WriteRequest<?>> batch, long nanos) {
        try {
            WriteRequest<?> first = requests.poll(nanos, TimeUnit.NANOSECONDS);
            if (first != null) {
                batch.add(first);
                requests.drainTo(batch, LARGEST_BATCH - 1);
            }
        } catch (InterruptedException e) {
            // Acknowledged events must be written: this thread ends only after end().
            LOG.log(Level.DEBUG, "the event store's writer was interrupted and continues", e);
        }
    }

    /** Fails the requests of the batch and those that still wait. */
    void close(List<WriteRequest<?>> batch) {
        closed = true;
        requests.drainTo(batch);
        batch.forEach(request -> request.fail(new IllegalStateException("the event store is closed")));
    }
}
