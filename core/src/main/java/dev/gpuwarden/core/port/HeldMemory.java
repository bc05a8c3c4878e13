package dev.gpuwarden.core.port;

import dev.gpuwarden.core.model.Reading;

/** Memory of one GPU that this process holds. It is free after {@link #close}, and when the process ends. Thread-safe. */
public interface HeldMemory extends AutoCloseable {

    /**
     * Takes more memory. Blocks in the driver, 30 s at most.
     *
     * @return all bytes that were requested and are held; absent with the driver's code, 2 on a full GPU, if no more was taken
     */
    Reading<Long> grow(long bytes);

    /** Gives the memory back, and the context with it. Blocks in the driver, 30 s at most. */
    @Override
    void close();
}
