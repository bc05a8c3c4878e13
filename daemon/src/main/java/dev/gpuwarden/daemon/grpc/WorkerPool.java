package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.core.util.Threads;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.lang.System.Logger.Level;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** A small pool of threads for answers that may wait for a disk, with a short queue. The threads end when they are idle. */
final class WorkerPool implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(WorkerPool.class.getName());
    private static final AtomicBoolean FAILURE_LOGGED = new AtomicBoolean();

    private final ThreadPoolExecutor threads;
    private final CallStats stats;

    WorkerPool(String name, int threadCount, int queue, CallStats stats) {
        this.stats = stats;
        threads =
                Threads.pool(threadCount, new ArrayBlockingQueue<>(queue), Threads.numbered("gpuwarden-grpc-" + name));
    }

    /** Sends the supplier's value from the calling thread. The supplier must not block. */
    static <T> void answer(StreamObserver<T> client, Supplier<T> answer) {
        T message;
        try {
            message = answer.get();
        } catch (RuntimeException e) {
            client.onError(status(e).asRuntimeException());
            return;
        }
        client.onNext(message);
        client.onCompleted();
    }

    /** Sends the supplier's value from a thread of the pool. */
    <T> void answerLater(StreamObserver<T> client, Supplier<T> answer) {
        runLater(client, () -> answer(client, answer));
    }

    /** Runs a task for a client on a thread of the pool, unless the client has cancelled by then. */
    <T> void runLater(StreamObserver<T> client, Runnable task) {
        try {
            threads.execute(() -> {
                if (!((ServerCallStreamObserver<T>) client).isCancelled()) {
                    task.run();
                }
            });
        } catch (RejectedExecutionException e) {
            stats.refused(CallStats.Refusal.QUEUE);
            client.onError(Status.RESOURCE_EXHAUSTED
                    .withDescription("the daemon has too much to do; try again")
                    .asRuntimeException());
        }
    }

    /** Returns the status that a client receives for a failure, without internal details. */
    static Status status(RuntimeException e) {
        if (e instanceof StatusRuntimeException known) {
            return known.getStatus();
        }
        if (FAILURE_LOGGED.compareAndSet(false, true)) {
            LOG.log(Level.ERROR, "a call failed; further cases are not logged", e);
        }
        return Status.INTERNAL.withDescription("internal error; see the daemon's log");
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
