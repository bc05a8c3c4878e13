package dev.gpuwarden.cli;

import java.io.PrintWriter;

/**
 * One line on standard error that says what takes so long, and is gone when it is done. Writes nothing where standard error
 * is no terminal.
 */
public final class Progress implements AutoCloseable {

    private static final String ERASE_LINE = "\r\u001b[K";

    private final PrintWriter err;
    private final boolean shown;

    private Progress(PrintWriter err, boolean shown) {
        this.err = err;
        this.shown = shown;
    }

    /** Progress on the writer of a command line's errors. */
    public static Progress on(PrintWriter err) {
        return new Progress(err, ConsoleWriter.terminal(err));
    }

    static Progress always(PrintWriter err) {
        return new Progress(err, true);
    }

    /** Replaces what the line says. */
    public void say(String what) {
        if (shown) {
            err.print(ERASE_LINE + Table.escape(what));
            err.flush();
        }
    }

    /** Takes the line away; write output only after that. */
    @Override
    public void close() {
        if (shown) {
            err.print(ERASE_LINE);
            err.flush();
        }
    }
}
