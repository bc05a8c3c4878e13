package dev.gpuwarden.daemon.sink;

import dev.gpuwarden.core.event.StoredEvent;
import java.io.IOException;
import java.util.List;

/** A receiver of events: a file, an HTTP server. Used by one thread. */
public interface Sink extends AutoCloseable {

    /** Returns its name in the store, in metrics and in the log. Acknowledgements are stored under this name. */
    String name();

    /**
     * Sends events, oldest first, and returns after the other side has stored them. Blocks; must end when
     * interrupted.
     *
     * @throws RefusedException if the other side will never take these events, so that a retry is useless
     * @throws IOException if a retry may succeed
     */
    void send(List<StoredEvent> events) throws IOException, InterruptedException;

    @Override
    default void close() {}

    /** The other side refuses the events themselves. */
    final class RefusedException extends IOException {
        private static final long serialVersionUID = 1L;

        public RefusedException(String message) {
            super(message);
        }
    }
}
