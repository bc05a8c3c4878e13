package dev.gpuwarden.cli.run;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import java.util.logging.ErrorManager;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** The backend of {@link System.Logger}: standard error, one record a line. */
public final class Logging {

    /**
     * The logger of all gpuwarden classes; debug messages of libraries stay off. This field keeps the logger alive,
     * since the JDK holds loggers by weak references.
     */
    private static final Logger OURS = Logger.getLogger("dev.gpuwarden");

    private static volatile UnaryOperator<String> words = UnaryOperator.identity();

    private Logging() {}

    /**
     * Logs this level and worse without a time, for commands that end soon. It does nothing where
     * `java.util.logging.config.file` is set.
     */
    public static void install(Level level) {
        install(level, LogFormat.PLAIN);
    }

    static void install(Level level, LogFormat format) {
        if (System.getProperty("java.util.logging.config.file") == null) {
            install(level, format, new FileOutputStream(FileDescriptor.err));
        }
    }

    static void install(Level level, LogFormat format, OutputStream out) {
        LogManager.getLogManager().reset();
        words = UnaryOperator.identity();
        Logger.getLogger("").setLevel(level.intValue() < Level.INFO.intValue() ? Level.INFO : level);
        Logger.getLogger("").addHandler(new Lines(out, format));
        OURS.setLevel(level);
    }

    /**
     * Rewrites each message before it is written, to add the names that users recognise. It applies until the next installation.
     *
     * @param rewrite called on the thread that logs, without a lock; must not block for long
     */
    public static void rewrite(UnaryOperator<String> rewrite) {
        words = rewrite;
    }

    private static final class Lines extends Handler {
        private final OutputStream out;
        private final LogFormat format;

        Lines(OutputStream out, LogFormat format) {
            this.out = out;
            this.format = format;
        }

        @Override
        public void publish(LogRecord record) {
            if (!isLoggable(record)) {
                return;
            }
            byte[] line = format.line(record, words).getBytes(StandardCharsets.UTF_8);
            synchronized (out) {
                try {
                    out.write(line);
                    out.flush();
                } catch (IOException e) {
                    reportError("standard error cannot be written", e, ErrorManager.WRITE_FAILURE);
                }
            }
        }

        @Override
        public void flush() {
            // Each line is flushed.
        }

        /** Flushes only: other parts of the process use standard error too. */
        @Override
        public void close() {
            flush();
        }
    }
}
