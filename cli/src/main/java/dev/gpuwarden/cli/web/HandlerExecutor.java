package dev.gpuwarden.cli.web;

import dev.gpuwarden.cli.web.HttpHandler.Limits;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** A handler with threads of its own, so that a busy or hanging handler does not delay others. Idle threads end. */
final class HandlerExecutor implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(HandlerExecutor.class.getName());
    private static final ThreadFactory THREADS = Threads.numbered("gpuwarden-http");

    private final HttpHandler handler;
    private final Limits limits;
    private final ThreadPoolExecutor threads;
    private final AtomicBoolean failureLogged = new AtomicBoolean();
    private long arrivingBytes;

    HandlerExecutor(HttpHandler handler) {
        this.handler = handler;
        limits = handler.limits();
        threads = new ThreadPoolExecutor(
                limits.threads(),
                limits.threads(),
                10,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(limits.queue()),
                THREADS);
        threads.allowCoreThreadTimeOut(true);
    }

    boolean has(String path) {
        return handler.has(path);
    }

    Limits limits() {
        return limits;
    }

    /**
     * Takes memory for a part of a body that is arriving. On the event loop's thread.
     *
     * @return false where the bodies that are arriving leave no room
     */
    boolean take(int bytes) {
        boolean fits = bytes <= limits.arrivingBytes() - arrivingBytes;
        if (fits) {
            arrivingBytes += bytes;
        }
        return fits;
    }

    void give(int bytes) {
        arrivingBytes -= bytes;
    }

    /**
     * Queues a task.
     *
     * @return false where the queue is full
     */
    boolean execute(Runnable task) {
        try {
            threads.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /** Returns the handler's answer, or a 5xx for its failure. Called on a thread of this executor. */
    HttpAnswer answer(Request request) {
        try {
            return handler.answer(request);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return HttpAnswer.text(503, "the program is shutting down\n");
        } catch (RuntimeException e) {
            failed(e);
            return HttpAnswer.text(500, "internal server error; see the log\n");
        }
    }

    void failed(RuntimeException e) {
        if (failureLogged.compareAndSet(false, true)) {
            LOG.log(Level.ERROR, "a request failed; further cases are not logged", e);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
