package dev.gpuwarden.cli.run;

import java.util.ArrayDeque;
import java.util.Deque;

/** The open parts of a program, closed in the reverse of the order in which they were opened. */
public final class Closer implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Closer.class.getName());

    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    /** Registers an open part and returns it. */
    public <T extends AutoCloseable> T add(T part) {
        open.push(part);
        return part;
    }

    /** Closes all parts, even if some fail. */
    @Override
    public void close() {
        while (!open.isEmpty()) {
            AutoCloseable part = open.pop();
            try {
                part.close();
            } catch (Exception e) {
                LOG.log(System.Logger.Level.ERROR, part.getClass().getSimpleName() + " did not close", e);
            }
        }
    }
}
