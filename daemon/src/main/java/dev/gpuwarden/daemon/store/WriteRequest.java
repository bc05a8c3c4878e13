package dev.gpuwarden.daemon.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Something that the writer does for a caller, together with what others want, in one transaction. */
abstract class WriteRequest<T> {

    private final CompletableFuture<T> answer = new CompletableFuture<>();
    private @Nullable T result;

    /** Does it, in the transaction under way. May be called again, after the transaction failed. */
    abstract T write(Session session, Instant now) throws SQLException;

    final void run(Session session, Instant now) throws SQLException {
        result = write(session, now);
    }

    /** It is committed: the caller may go on. */
    final void committed() {
        if (result != null) {
            answer.complete(result);
        }
    }

    /** It cannot be written now: the caller is told, unless it can do without. */
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

    /** Waits until it is committed, interrupted or not: whether it is cannot be left open. */
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
