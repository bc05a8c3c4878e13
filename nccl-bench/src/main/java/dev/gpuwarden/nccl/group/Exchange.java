package dev.gpuwarden.nccl.group;

import java.io.IOException;
import java.util.List;

/** A connection of all processes of a run. One thread at a time calls it. */
public interface Exchange extends AutoCloseable {

    /** Bound on what one process contributes, in bytes. */
    int MOST_BYTES = 1 << 20;

    /**
     * Gives this process's contribution to all, and waits for those of all others.
     *
     * @return contributions in the order of processes
     * @throws IOException where another process has left, or does not answer in time
     */
    List<byte[]> gather(byte[] mine) throws IOException;

    /** Closes the connection without a message: the next exchange of the others fails. */
    @Override
    void close();

    /** Returns the connection of a process that is alone. */
    static Exchange alone() {
        return new Exchange() {
            @Override
            public List<byte[]> gather(byte[] mine) {
                return List.of(mine);
            }

            @Override
            public void close() {}
        };
    }
}
