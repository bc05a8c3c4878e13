package dev.gpuwarden.aggregator.app;

import java.io.IOException;
import java.io.OutputStream;

/** Where audit records go. Used by one thread at a time. */
interface AuditTarget extends AutoCloseable {

    /**
     * Blocks until the record is where it is to be kept.
     *
     * @param record a whole line with its end
     * @throws IOException when it is not there; the next one begins a line all the same
     */
    void write(byte[] record) throws IOException;

    @Override
    void close() throws IOException;

    /** The stream of another owner, which is not closed. It must report what it cannot write, as no {@code PrintStream} does. */
    static AuditTarget of(OutputStream stream) {
        return new AuditTarget() {
            @Override
            public void write(byte[] record) throws IOException {
                stream.write(record);
                stream.flush();
            }

            @Override
            public void close() {}
        };
    }
}
