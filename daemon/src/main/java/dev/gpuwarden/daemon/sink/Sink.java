package dev.gpuwarden.daemon.sink;

import dev.gpuwarden.core.event.StoredEvent;
import java.io.IOException;
import java.util.List;

/** One that takes events: a file, an HTTP server. Used by one thread. */
public interface Sink extends AutoCloseable {

    /** Its name in the store, in metrics and in the log; what it has acknowledged is remembered under it. */
    String name();

    /**
     * Hands events over, oldest first, and returns when the other side has them for good. Blocks; must end when interrupted.
     *
     * @throws RefusedException where the other side will never take these, so that trying again is in vain
     * @throws IOException where trying again may help
     */
    void send(List<StoredEvent> events) throws IOException, InterruptedException;

    @Override
    default void close() {}

    /** The events themselves are what the other side does not want. */
    final class RefusedException extends IOException {
        private static final long serialVersionUID = 1L;

        public RefusedException(String message) {
            super(message);
        }
    }
}
