package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.daemon.Golden;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventsRecordingTest {

    private static final String RECORDING = """
            {"schema": "gpuwarden.recording/v1", "complete": false, "fromTheFuture": {"a": [1]},
             "times": [-10.0, -2.0, 0.0, 2.0], "gpus": [
              {"index": 3, "concerned": true, "series": {
                "temperature_celsius": [70, 81, null, 83.123456], "power_usage_watts": [null, null, null, null]}},
              {"index": 4, "concerned": false, "series": {"temperature_celsius": [1, 2, 3, 4]}}],
             "kernel": [{"time": "2026-11-21T12:00:00Z", "writer": "kernel", "text": "NVRM: Xid \\u001b[2J"}],
             "processes": [{"pid": 12, "name": "python", "owner": "ml/train-0", "usedBytes": 1073741824},
                           {"pid": 13, "name": {"absent": "failed"}, "owner": "?", "usedBytes": {"absent": "failed"}}]}
            """;

    private static byte[] gzip(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }

    @Test
    void textShowsTheConcernedGpuProcessesAndLog() throws IOException {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        EventsRecording.read(gzip(RECORDING)).print(ZoneId.of("UTC"), out);
        out.flush();
        Golden.check("events/recording.txt", text.toString());
    }

    @Test
    void jsonKeepsUnknownKeys() throws IOException {
        assertThat(EventsRecording.read(gzip(RECORDING)).tree()).containsKeys("fromTheFuture", "gpus", "kernel");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "3", "{\"a\":", "{\"a\" 1}", "{} x {"})
    void brokenRecordingIsRefused(String text) throws IOException {
        byte[] gzip = gzip(text);
        assertThatThrownBy(() -> EventsRecording.read(gzip)).isInstanceOf(IOException.class);
    }

    @Test
    void recordingWithoutFieldsIsEmpty() throws IOException {
        assertThat(EventsRecording.read(gzip("{}")).concerned()).isEmpty();
    }

    @Test
    void oversizedRecordingIsRefused() throws IOException {
        byte[] bomb = gzip("{\"a\":\"" + " ".repeat(40 << 20));
        assertThatThrownBy(() -> EventsRecording.read(bomb)).hasMessageContaining("more than");
        byte[] deep = gzip("[".repeat(100_000));
        assertThatThrownBy(() -> EventsRecording.read(deep)).isInstanceOf(IOException.class);
    }

    @Test
    void columnShowsTheNearestValueOnItsSideOfTheEvent() {
        List<Double> times = List.of(-3.0, -2.0, -1.0, 0.0, 1.0);
        List<@Nullable Object> row = Arrays.asList(1, 2, null, null, 5);
        assertThat(EventsRecording.near(times, row, -1)).contains(2);
        assertThat(EventsRecording.near(times, row, 0)).contains(5);
        assertThat(EventsRecording.near(times, row, -60)).isEmpty();
        assertThat(EventsRecording.near(times, List.of(), 0)).isEmpty();
        assertThat(EventsRecording.near(List.of(), row, 0)).isEmpty();
    }
}
