package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ConsoleWriter;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.core.util.Text;
import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The present state of a long run on standard error: one line that is rewritten on a terminal, a line every few seconds
 * elsewhere. Thread-safe.
 */
final class ProgressLine {

    private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** A longer line would wrap, and could not be rewritten. */
    private static final int COLUMNS = 79;

    private final PrintWriter err;
    private final boolean terminal;
    private final LongSupplier nanos;
    private long next;
    private int shown;

    ProgressLine(PrintWriter err) {
        this(err, ConsoleWriter.terminal(err), System::nanoTime);
    }

    ProgressLine(PrintWriter err, boolean terminal, LongSupplier nanos) {
        this.err = err;
        this.terminal = terminal;
        this.nanos = nanos;
        this.next = nanos.getAsLong() + FIRST_NANOS;
    }

    /** Does work that reports its progress, and then removes the line. */
    <T> T during(Function<Consumer<String>, T> work) {
        try {
            return work.apply(this::show);
        } finally {
            clear();
        }
    }

    private synchronized void show(String text) {
        String line = "gpuwarden: " + Table.escape(text);
        long now = nanos.getAsLong();
        if (terminal) {
            String cut = Text.truncate(line, COLUMNS);
            err.print("\r" + cut + " ".repeat(Math.max(0, shown - cut.length())));
            shown = cut.length();
        } else if (now - next >= 0) {
            err.println(line);
            next = now + EVERY_NANOS;
        }
        err.flush();
    }

    /** Removes the line from a terminal, before other text. */
    synchronized void clear() {
        if (shown > 0) {
            err.print("\r" + " ".repeat(shown) + "\r");
            err.flush();
            shown = 0;
        }
    }
}
