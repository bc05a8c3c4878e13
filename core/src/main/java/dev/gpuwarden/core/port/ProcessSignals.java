package dev.gpuwarden.core.port;

import dev.gpuwarden.core.model.Reading;
import java.util.Optional;

/** A sender of signals to processes of this node, found by {@link java.util.ServiceLoader}. */
public interface ProcessSignals {

    /**
     * Returns a handle of the process with this number: signals reach this process, and never a later one with the same
     * number. Absent where there is no such process, or it cannot be held.
     */
    Reading<Target> hold(int pid);

    /** A handle of a process. */
    interface Target extends AutoCloseable {

        /**
         * Sends a signal.
         *
         * @return the reason why it was not sent; empty where it was
         */
        Optional<String> send(int signal);

        @Override
        void close();
    }
}
