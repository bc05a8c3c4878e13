package dev.gpuwarden.daemon.vram.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TraceTest {

    private static final String HEADER =
            "{\"schema\":\"gpuwarden.vram-trace/v1\",\"node\":\"n\",\"at\":\"2026-01-31T12:00:00Z\",\"atNanos\":1000}\n";

    @TempDir
    Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("trace"), text);
    }

    private static List<GpuObservation> read(Path file) {
        List<GpuObservation> all = new ArrayList<>();
        try (Trace.Reader reader = new Trace.Reader(file)) {
            for (Optional<GpuObservation> seen = reader.next(); seen.isPresent(); seen = reader.next()) {
                all.add(seen.get());
            }
        }
        return all;
    }

    @Test
    void observationsAreReadAsTheyWereWritten() throws IOException {
        RandomNode node = new RandomNode(5);
        List<GpuObservation> written = new ArrayList<>();
        Path file = folder.resolve("trace");
        Trace.Header header = new Trace.Header("node", Instant.parse("2026-01-31T12:00:00Z"), -5_000_000_000L);
        try (OutputStream out = Files.newOutputStream(file)) {
            Trace.Writer writer = new Trace.Writer(out, header);
            for (int i = 0; i < 500; i++) {
                written.add(node.next());
                writer.write(written.get(i));
            }
        }
        assertThat(read(file)).isEqualTo(written);
        try (Trace.Reader reader = new Trace.Reader(file)) {
            assertThat(reader.header()).isEqualTo(header);
            assertThat(reader.header().time(-3_000_000_000L)).isEqualTo("2026-01-31T12:00:02Z");
        }
    }

    @Test
    void tenantsAreWrittenWhenTheyWereListed() throws IOException {
        String memory = "\"memory\":{\"absent\":\"gpu_lost\"}";
        Path file = file(HEADER
                + "{\"gpu\":\"g\",\"atNanos\":1,\"sequence\":1," + memory + ",\"tenantsAtNanos\":1,\"tenants\":[]}\n"
                + "{\"gpu\":\"g\",\"atNanos\":2,\"sequence\":2," + memory + ",\"tenantsAtNanos\":1}\n"
                + "{\"gpu\":\"h\",\"atNanos\":2,\"sequence\":2," + memory + ",\"tenantsAtNanos\":1}\n");
        assertThat(read(file))
                .extracting(seen -> seen.tenants().asOptional().map(List::size))
                .containsExactly(Optional.of(0), Optional.of(0), Optional.empty());
    }

    @Test
    void aLastLineThatWasCutOffIsLeftOut() throws IOException {
        assertThat(read(file(HEADER + "{\"gpu\":\"g\",\"atN"))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"gpu\":\"g\"}| :2: atNanos: expected a whole number, seen nothing",
                "{\"gpu\":7}| :2: gpu: expected a text",
                "{\"gpu\":\"g\",\"gpu\":\"h\"}| :2: Duplicate field",
                "[]| :2: expected a JSON object",
                "nonsense| :2: Unrecognized token",
                "{\"a\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}| :2: Document nesting depth",
            })
    void anErrorNamesFileAndLine(String line, String message) throws IOException {
        Path file = file(HEADER + line + "\n");
        assertThatThrownBy(() -> read(file)).isInstanceOf(UserError.class).hasMessageStartingWith(file + message);
    }

    @Test
    void aFileThatIsNoTraceIsRefused() throws IOException {
        assertThatThrownBy(() -> read(file("")))
                .isInstanceOf(UserError.class)
                .hasMessageEndingWith("expected a trace, seen nothing");
        assertThatThrownBy(() -> read(file(HEADER.replace("/v1", "/v9"))))
                .isInstanceOf(UserError.class)
                .hasMessageEndingWith(":1: schema: expected gpuwarden.vram-trace/v1, seen gpuwarden.vram-trace/v9");
        assertThatThrownBy(() -> read(folder)).isInstanceOf(UserError.class).hasMessageEndingWith("seen a folder");
        assertThatThrownBy(() -> read(folder.resolve("none")))
                .isInstanceOf(UserError.class)
                .hasMessageEndingWith("none: no such file");
    }

    @Test
    void aLineIsBounded() throws IOException {
        Path file = folder.resolve("trace");
        try (OutputStream out = Files.newOutputStream(file)) {
            byte[] blanks = " ".repeat(1 << 20).getBytes(StandardCharsets.UTF_8);
            for (int i = 0; i < 5; i++) {
                out.write(blanks);
            }
        }
        assertThatThrownBy(() -> read(file))
                .isInstanceOf(UserError.class)
                .hasMessageContaining(":1: expected lines of at most");
    }

    @Test
    void theNumberOfGpusIsBounded() throws IOException {
        StringBuilder lines = new StringBuilder(HEADER);
        for (int i = 0; i < 65; i++) {
            lines.append("{\"gpu\":\"")
                    .append(i)
                    .append("\",\"atNanos\":1,\"sequence\":1,\"memory\":{\"absent\":\"off\"},\"tenantsAtNanos\":1}\n");
        }
        Path file = file(lines.toString());
        assertThatThrownBy(() -> read(file)).hasMessageContaining(":66: gpu: expected at most 64 GPUs, seen 65");
    }
}
