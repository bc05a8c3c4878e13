package dev.gpuwarden.daemon.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** A request to the writer, which runs in one transaction together with others. */
abstract class WriteRequest<T> {

    /** The work of a request. */
    interface Work<T> {
        T write(Session session, Instant now) throws SQLException;
    }

    private final CompletableFuture<T> answer = new CompletableFuture<>();
    private @Nullable T result;

    /** Returns a request that fails if the disk takes no writes. */
    static <T> WriteRequest<T> of(Work<T> work) {
        return orElse(null, work);
    }

    /** Returns a request that is answered with {@code otherwise} if the disk takes no writes; null lets it fail. */
    static <T> WriteRequest<T> orElse(@Nullable T otherwise, Work<T> work) {
        return new WriteRequest<>() {
            @Override
            T write(Session session, Instant now) throws SQLException {
                return work.write(session, now);
            }

            @Override
            void unwritten(String cause) {
                if (otherwise == null) {
                    super.unwritten(cause);
                } else {
                    complete(otherwise);
                }
            }
        };
    }

    /** Runs in the open transaction. Runs again after a transaction that failed. */
    abstract T write(Session session, Instant now) throws SQLException;

    final void run(Session session, Instant now) throws SQLException {
        result = write(session, now);
    }

    /** Answers the caller after the commit. */
    final void committed() {
        if (result != null) {
            answer.complete(result);
        }
    }

    /** Answers the caller if the disk takes no writes. Subclasses may answer without an error. */
    void unwritten(String cause) {
        fail(new UncheckedIOException(new IOException(cause)));
    }

    final boolean isDone() {
        return answer.isDone();
    }

    final void complete(T value) {
        answer.complete(value);
    }

    final void fail(RuntimeException cause) {
        answer.completeExceptionally(cause);
    }

    /** Blocks until the request is answered. Interruption does not end the wait, since the outcome must be known. */
    final T await() {
        try {
            return answer.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        }
    }
}
