package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.daemon.store.PreparedEvent.Fingerprint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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

    /** A request to store events together with the position of their source. */
    static class AppendRequest extends WriteRequest<List<Receipt>> {

        private final List<PreparedEvent> events;
        private final List<Fingerprint> merged = new ArrayList<>();
        private final List<EventChange> changes = new ArrayList<>();
        private Optional<Position> position;
        private List<Receipt> receipts = List.of();
        private boolean held;

        AppendRequest(List<PreparedEvent> events, Optional<Position> position) {
            this.events = new ArrayList<>(events);
            this.position = position;
        }

        @Override
        List<Receipt> write(Session session, Instant now) throws SQLException {
            changes.clear();
            List<Receipt> all = new ArrayList<>(events.size());
            for (PreparedEvent event : events) {
                Session.Filed filed = session.file(event, now);
                all.add(filed.receipt());
                filed.change().ifPresent(changes::add);
            }
            for (Fingerprint telling : merged) {
                session.remember(telling);
            }
            if (position.isPresent()) {
                session.position(position.get());
            }
            receipts = all;
            return all;
        }

        /** Counts the stored events. Events that were held before are counted already. */
        void count(StoreStats stats) {
            if (held) {
                return;
            }
            for (int i = 0; i < events.size(); i++) {
                stats.received(events.get(i), receipts.get(i));
            }
        }

        /** Answers the request with the receipts of events that are held in memory. The later write sends no second answer. */
        void held(List<PreparedEvent> all, List<Receipt> inMemory, StoreStats stats) {
            held = true;
            for (int i = 0; i < inMemory.size(); i++) {
                stats.received(all.get(i), inMemory.get(i));
            }
            complete(inMemory);
        }

        /** Returns the changes that listeners receive after the commit. */
        List<EventChange> changes() {
            return changes;
        }

        /** Returns the events that are not written yet. */
        List<PreparedEvent> events() {
            return events;
        }

        /** Returns the fingerprints of reports that were counted with one of these events while it was held. */
        List<Fingerprint> merged() {
            return merged;
        }

        Optional<Position> position() {
            return position;
        }

        void moveOn(Position further) {
            position = Optional.of(further);
        }

        long bytes() {
            return events.stream().mapToLong(PreparedEvent::bytes).sum();
        }

        /**
         * A request of the writer itself: raises faults from the history that found no room before. It has no sender, so
         * its events are not counted as received again.
         */
        static final class RaiseAgain extends AppendRequest {

            RaiseAgain() {
                super(List.of(), Optional.empty());
            }

            @Override
            List<Receipt> write(Session session, Instant now) throws SQLException {
                changes().clear();
                session.raiseAgain(now).forEach(filed -> filed.change().ifPresent(changes()::add));
                return List.of();
            }
        }
    }
}
