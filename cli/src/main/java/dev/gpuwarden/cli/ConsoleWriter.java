package dev.gpuwarden.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Standard output or standard error, always in UTF-8: under systemd and in containers no locale is set, and Java would
 * write question marks. It reports whether it writes to a terminal; any other {@link PrintWriter} is a test or a file.
 */
public final class ConsoleWriter extends PrintWriter {

    private final boolean terminal;
    private final boolean colour;

    private ConsoleWriter(FileDescriptor descriptor, int number) {
        super(new OutputStreamWriter(new FileOutputStream(descriptor), StandardCharsets.UTF_8), false);
        terminal = isTerminal(number);
        String none = System.getenv("NO_COLOR");
        colour = terminal && (none == null || none.isEmpty()) && !"dumb".equals(System.getenv("TERM"));
    }

    static ConsoleWriter out() {
        return new ConsoleWriter(FileDescriptor.out, 1);
    }

    static ConsoleWriter err() {
        return new ConsoleWriter(FileDescriptor.err, 2);
    }

    /** Returns whether the writer ends on a terminal. */
    public static boolean terminal(PrintWriter writer) {
        return writer instanceof ConsoleWriter console && console.terminal;
    }

    /** Returns whether to write colours: the writer ends on a terminal, and NO_COLOR is not set. */
    public static boolean colour(PrintWriter writer) {
        return writer instanceof ConsoleWriter console && console.colour;
    }

    /**
     * Returns whether the descriptor is a terminal. System.console() also depends on standard input, and its meaning
     * changed in JDK 22.
     */
    private static boolean isTerminal(int descriptor) {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor))
                    .toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }
}
