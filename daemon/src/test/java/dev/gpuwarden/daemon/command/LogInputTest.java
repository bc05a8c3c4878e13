package dev.gpuwarden.daemon.command;

import static dev.gpuwarden.daemon.command.XidDecodeFormsTest.XID;
import static dev.gpuwarden.daemon.command.XidDecodeFormsTest.decode;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Character sets and compressed files: each log is text for the decoder, or the command fails with the reason. */
class LogInputTest {

    @TempDir
    Path folder;

    @Test
    void textInUtf16IsRead() {
        for (String mark : new String[] {"\ufeff", ""}) {
            String text = mark + "Jun  2 09:41:12 n kernel: " + XID + "\r\n\ud83d\udc1f\r\n".repeat(40_000) + XID;
            Program little = decode(text.getBytes(StandardCharsets.UTF_16LE), "-o", "json");
            assertThat(little.exitCode()).as(little.err()).isZero();
            assertThat(little.out().lines()).hasSize(2);
            Program big = decode(text.getBytes(StandardCharsets.UTF_16BE), "-o", "json");
            assertThat(big.out()).isEqualTo(little.out());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-32LE", "UTF-32BE"})
    void textInUtf32IsRead(String charset) {
        assertThat(decode(("\ufeff" + XID + "\n").getBytes(Charset.forName(charset)), "-o", "json")
                        .out())
                .contains("\"code\":\"48\"");
    }

    private static byte[] gzip(byte[] bytes, int times) throws IOException {
        byte[] packed = bytes;
        for (int i = 0; i < times; i++) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
                gzip.write(packed);
            }
            packed = out.toByteArray();
        }
        return packed;
    }

    @Test
    void logThatWasCompressedAgainIsRead() throws IOException {
        byte[] log = (XID + "\n").getBytes(StandardCharsets.UTF_8);
        assertThat(decode(gzip(log, 4), "-o", "json").out()).contains("\"code\":\"48\"");
        assertThat(decode(gzip(log, 5), "-o", "json").exitCode()).isEqualTo(1);
        byte[] zstd = {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd, 4};
        assertThat(decode(gzip(zstd, 1)).exitCode()).isEqualTo(1);
    }

    /** Program | first bytes in hexadecimal. */
    @ParameterizedTest
    @CsvSource({
        "zstd -dc, 28b52ffd04",
        "xz -dc, fd377a585a00",
        "bzip2 -dc, 425a683931415926",
        "lz4 -dc, 04224d18",
        "gzip -dc, 1f9d90",
        "unzip -p, 504b0304",
        "journalctl -o json --file, 4c504b5348485248"
    })
    void otherCompressedLogsAreNamed(String program, String hex) throws IOException {
        Path log = Files.write(folder.resolve("z.log"), java.util.HexFormat.of().parseHex(hex));
        Program refused = Program.run("xid", "decode", log.toString());
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.out()).isEmpty();
        assertThat(refused.err()).contains("first: " + program + " " + log + " | gpuwarden xid decode -");
    }

    @Test
    void bzip2sLettersMayBeginALog() {
        assertThat(decode(("BZh: a text\n" + XID).getBytes(StandardCharsets.UTF_8))
                        .exitCode())
                .isZero();
    }
}
