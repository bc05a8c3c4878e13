package dev.gpuwarden.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LoggingTest {

    @Test
    void whateverAMessageHoldsItIsOneLineAndReachesNoTerminal() {
        LogRecord record = new LogRecord(Level.WARNING, "fault: \u001b[31mred\nERROR forged\r\u202e{0}");
        record.setLoggerName("dev.gpuwarden.daemon.check.FaultTeller");
        assertThat(new Logging.OneLine().format(record))
                .isEqualTo("WARNING FaultTeller: fault: \\u001b[31mred ERROR forged \\u202e{0}\n");
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
            Logging.install(Level.OFF, out);
            Logging.install(Level.WARNING, out);
            Logger.getLogger("a.B").warning("said");
            assertThat(closed[0]).isFalse();
            assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("WARNING B: said\n");
        } finally {
            reset(own);
        }
    }

    /** As the tests' own file has it. */
    private static void reset(@Nullable String file) {
        try {
            LogManager.getLogManager().reset();
            if (file != null) {
                LogManager.getLogManager().readConfiguration();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
