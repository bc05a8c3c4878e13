package dev.gpuwarden.cli.run;

import dev.gpuwarden.cli.Table;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;

/** Where {@link System.Logger} goes: standard error, a line each, without a time, which journald and kubelet add. */
public final class Logging {

    private Logging() {}

    /** Shows this level and worse. An own `java.util.logging.config.file` is left alone. */
    public static void install(Level level) {
        if (System.getProperty("java.util.logging.config.file") != null) {
            return;
        }
        install(level, new FileOutputStream(FileDescriptor.err));
    }

    static void install(Level level, OutputStream out) {
        LogManager.getLogManager().reset();
        Logger root = Logger.getLogger("");
        root.setLevel(level);
        root.addHandler(new Lines(out, level));
    }

    private static final class Lines extends StreamHandler {
        Lines(OutputStream out, Level level) {
            super(out, new OneLine());
            setLevel(level);
        }

        /** Installing again must not close standard error, which is not ours. */
        @Override
        public synchronized void close() {
            flush();
        }

        @Override
        public synchronized void publish(LogRecord record) {
            super.publish(record);
            flush();
        }
    }

    /** `LEVEL what: message`; a stack trace follows in lines of its own, since it is wanted whole. */
    static final class OneLine extends Formatter {
        @Override
        public String format(LogRecord record) {
            String logger = String.valueOf(record.getLoggerName());
            String text = record.getLevel().getName() + " " + logger.substring(logger.lastIndexOf('.') + 1) + ": "
                    + Table.escape(formatMessage(record).replaceAll("\\R", " ")) + "\n";
            Throwable thrown = record.getThrown();
            if (thrown == null) {
                return text;
            }
            if (logger.startsWith("io.grpc.")) {
                // What a client sent: any number of them can come, and the trace is gRPC's own.
                return text.stripTrailing() + ": " + Table.escape(thrown.toString()) + "\n";
            }
            StringWriter trace = new StringWriter();
            thrown.printStackTrace(new PrintWriter(trace));
            return text + trace;
        }
    }
}
