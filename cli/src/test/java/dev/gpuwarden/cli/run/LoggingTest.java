package dev.gpuwarden.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LoggingTest {

    private static LogRecord record(Level level, String logger, String message) {
        LogRecord record = new LogRecord(level, message);
        record.setLoggerName(logger);
        record.setInstant(Instant.parse("2026-11-22T20:45:53Z"));
        return record;
    }

    private static final LogRecord HOSTILE =
            record(Level.WARNING, "dev.gpuwarden.check.CheckRunner", "fault: \u001b[31mred\nERROR forged\r\u202e{0}");

    private static String line(LogFormat format, LogRecord record) {
        return format.line(record, UnaryOperator.identity());
    }

    @Test
    void anyMessageIsOneEscapedLine() {
        String text = "check: fault: \\u001b[31mred ERROR forged \\u202e{0}\n";
        assertThat(line(LogFormat.PLAIN, HOSTILE)).isEqualTo("WARNING " + text);
        assertThat(line(LogFormat.TEXT, HOSTILE)).isEqualTo("2026-11-22T20:45:53.000Z WARNING " + text);
        assertThat(line(LogFormat.JOURNALD, HOSTILE)).isEqualTo("<4>" + text);
        assertThat(line(LogFormat.JSON, HOSTILE))
                .isEqualTo("{\"time\":\"2026-11-22T20:45:53.000Z\",\"level\":\"WARNING\",\"part\":\"check\","
                        + "\"message\":\"fault: \\u001B[31mred ERROR forged \\u202E{0}\"}\n");
    }

    /** The journal takes a line without a priority for information. */
    @Test
    void eachLineOfATraceHasItsPriority() {
        LogRecord record = record(Level.SEVERE, "dev.gpuwarden.daemon.store.StoreWriter", "the event store failed");
        record.setThrown(new IllegalStateException("why"));
        assertThat(line(LogFormat.JOURNALD, record).lines())
                .hasSizeGreaterThan(2)
                .allMatch(l -> l.startsWith("<3>"));
        assertThat(line(LogFormat.JSON, record).lines()).hasSize(1);
        assertThat(line(LogFormat.TEXT, record)).contains("ERROR store: the event store failed\njava.lang.Ill");
    }

    @Test
    void aLibraryHasItsOwnName() {
        assertThat(line(LogFormat.PLAIN, record(Level.FINE, "io.fabric8.kubernetes.client.Watch", "x")))
                .isEqualTo("DEBUG fabric8: x\n");
        assertThat(line(LogFormat.PLAIN, record(Level.INFO, "", "x"))).isEqualTo("INFO : x\n");
    }

    @Test
    void formatFollowsStandardError() {
        LogOptions options = new LogOptions();
        assertThat(options.format(true)).isEqualTo(LogFormat.JOURNALD);
        assertThat(options.format(false)).isEqualTo(LogFormat.TEXT);
    }

    @Test
    void installingAgainLeavesTheStreamOpen() {
        String own = System.getProperty("java.util.logging.config.file");
        boolean[] closed = {false};
        ByteArrayOutputStream out = new ByteArrayOutputStream() {
            @Override
            public void close() {
                closed[0] = true;
            }
        };
        try {
            Logging.install(Level.OFF, LogFormat.PLAIN, out);
            Logging.install(Level.WARNING, LogFormat.PLAIN, out);
            Logger.getLogger("dev.gpuwarden.a.B").warning("said of 1");
            Logger.getLogger("dev.gpuwarden.a.B").info("not said");
            Logging.rewrite(text -> text.replace("1", "GPU 1"));
            Logger.getLogger("dev.gpuwarden.a.B").warning("said of 1");
            assertThat(closed[0]).isFalse();
            assertThat(out.toString(StandardCharsets.UTF_8))
                    .isEqualTo("WARNING a: said of 1\nWARNING a: said of GPU 1\n");
        } finally {
            reset(own);
        }
    }

    @Test
    void debugLevelAppliesToGpuwardenOnly() {
        String own = System.getProperty("java.util.logging.config.file");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            Logging.install(Level.FINE, LogFormat.PLAIN, out);
            Logger.getLogger("io.netty.channel.A").fine("theirs");
            Logger.getLogger("dev.gpuwarden.a.B").fine("ours");
            assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("DEBUG a: ours\n");
        } finally {
            reset(own);
        }
    }

    /** The value in the tests' own file. */
    private static void reset(@Nullable String file) {
        try {
            LogManager.getLogManager().reset();
            Logger.getLogger("dev.gpuwarden").setLevel(null);
            if (file != null) {
                LogManager.getLogManager().readConfiguration();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
