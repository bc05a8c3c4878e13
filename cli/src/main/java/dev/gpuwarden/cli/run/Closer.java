package dev.gpuwarden.cli.run;

import java.util.ArrayDeque;
import java.util.Deque;

/** What a program is made of: closed in the reverse of the order in which it was opened. */
public final class Closer implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Closer.class.getName());

    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    /** Notes what is open, and hands it back. */
    public <T extends AutoCloseable> T add(T part) {
        open.push(part);
        return part;
    }

    /** Closes all of them, even if some fail. */
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
