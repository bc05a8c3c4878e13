package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compressed logs that were cut, as a copy on a full disk is. */
class XidDecodeBrokenLogTest {

    private static final String XID = "NVRM: Xid (PCI:0000:3b:00): 48, pid=1, name=a, text\n";

    @TempDir
    Path folder;

    private Program decode(byte[] log, String format) throws IOException {
        Path file = Files.write(folder.resolve("log.gz"), log);
        return Program.run("xid", "decode", "-o", format, file.toString());
    }

    private static byte[] packed(byte[] log) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(log);
        }
        return packed.toByteArray();
    }

    /** A log that was rotated and compressed again has two layers. */
    @ParameterizedTest
    @CsvSource({"table, 1", "table, 2", "json, 1", "yaml, 1"})
    void theLinesBeforeTheBreakAreExplained(String format, int layers) throws IOException {
        Random random = new Random(layers);
        StringBuilder text = new StringBuilder(XID);
        for (int i = 0; i < 2_000; i++) {
            text.append(random.nextLong()).append('\n');
        }
        byte[] log = text.toString().getBytes(StandardCharsets.UTF_8);
        for (int layer = 0; layer < layers; layer++) {
            log = packed(log);
        }
        Program cut = decode(Arrays.copyOf(log, log.length / 2), format);
        assertThat(cut.exitCode()).isEqualTo(1);
        assertThat(cut.out()).contains("0000:3b:00");
        assertThat(cut.err()).contains("log.gz: ").contains("end of ZLIB input stream");
    }

    /** The number of an Xid may be cut, as 145 to 14. */
    @Test
    void theLineOfTheBreakIsNotExplained() throws IOException {
        byte[] log = packed((XID + XID.strip()).getBytes(StandardCharsets.UTF_8));
        Program cut = decode(Arrays.copyOf(log, log.length - 8), "json");
        assertThat(cut.exitCode()).isEqualTo(1);
        assertThat(cut.out().lines()).hasSize(1);
    }

    @Test
    void aLogWithoutALineBeforeTheBreakHasTheErrorAlone() throws IOException {
        byte[] log = packed(XID.getBytes(StandardCharsets.UTF_8));
        Program cut = decode(Arrays.copyOf(log, 12), "table");
        assertThat(cut.exitCode()).isEqualTo(1);
        assertThat(cut.out()).isEmpty();
        assertThat(cut.err().lines()).hasSize(1);
    }
}
