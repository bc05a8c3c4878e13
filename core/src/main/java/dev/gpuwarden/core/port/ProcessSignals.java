package dev.gpuwarden.core.port;

import dev.gpuwarden.core.model.Reading;
import java.util.Optional;

/** Sends signals to processes of this node; found by {@link java.util.ServiceLoader}. */
public interface ProcessSignals {

    /**
     * Holds the process that has this number now: what is sent reaches it, and never a later one of the same number. Absent where
     * there is none, or it cannot be held.
     */
    Reading<Target> hold(int pid);

    /** A process that is held. */
    interface Target extends AutoCloseable {

        /** Why the signal was not sent; empty if it was. */
        Optional<String> send(int signal);

        @Override
        void close();
    }
}
