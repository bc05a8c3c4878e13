package dev.gpuwarden.aggregator.part;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.part.AuditLog.AuditTarget;
import dev.gpuwarden.cli.UserError;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditLogTest {

    /** A file on a disk that is always full, which Linux has for tests. */
    private static final Path FULL = Path.of("/dev/full");

    @TempDir
    Path folder;

    private static byte[] record(int number) {
        return ("record " + number + "\n").getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void failedWriteToStandardOutputIsAnError() throws IOException {
        try (OutputStream full = new FileOutputStream(FULL.toFile())) {
            assertThatThrownBy(() -> AuditTarget.of(full).write(record(1))).isInstanceOf(IOException.class);
        }
    }

    @Test
    void fileThatCannotBeOpenedIsAUserError() {
        assertThatThrownBy(() -> AuditLog.open(folder)).isInstanceOf(UserError.class);
    }

    @Test
    void aRecordAfterACutOneOnStandardOutputBeginsALine() throws IOException {
        ByteArrayOutputStream taken = new ByteArrayOutputStream();
        AuditTarget output = AuditTarget.of(new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                if (taken.size() == 3) {
                    taken.write('!');
                    throw new IOException("full");
                }
                taken.write(one);
            }
        });
        assertThatThrownBy(() -> output.write(record(1))).isInstanceOf(IOException.class);
        output.write(record(2));
        output.write(record(3));
        assertThat(taken).hasToString("rec!\nrecord 2\nrecord 3\n");
    }
}
