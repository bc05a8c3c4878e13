package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.JsonReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * A flight recording as stored: gpuwarden.recording/v1, see docs/reference/recording-json.md. Keys of a newer daemon are kept; a
 * value of an unexpected type counts as missing.
 */
record EventsRecording(Map<String, @Nullable Object> tree) {

    /** The bound on an unpacked recording; sixteen GPUs at ten samples a second need about a tenth of it. */
    private static final int MOST_BYTES = 32 << 20;

    private static final JsonReader READER =
            JsonReader.ofDepth(16).withExactNumbers().withNulls();

    /** One GPU's values by the names of their readings; null where there was no sample or no value. */
    record Lane(String gpu, Map<String, List<@Nullable Object>> series) {}

    record Line(String time, String text) {}

    record Process(String pid, String name, String owner, Object usedBytes) {}

    /** @throws IOException if it is not a recording */
    static EventsRecording read(byte[] gzip) throws IOException {
        byte[] json;
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(gzip))) {
            json = in.readNBytes(MOST_BYTES + 1);
        }
        if (json.length > MOST_BYTES) {
            throw new IOException("more than " + MOST_BYTES + " bytes");
        }
        return new EventsRecording(READER.readObject(json));
    }

    private static Map<String, @Nullable Object> texted(Map<?, ?> map) {
        Map<String, @Nullable Object> texted = new LinkedHashMap<>();
        map.forEach((key, value) -> texted.put(String.valueOf(key), value));
        return texted;
    }

    boolean complete() {
        return Boolean.TRUE.equals(tree.get("complete"));
    }

    /** Returns the seconds from the event, for each column. */
    List<Double> times() {
        return list(tree.get("times")).stream()
                .map(time -> time instanceof Number number ? number.doubleValue() : Double.NaN)
                .toList();
    }

    /** Returns the GPUs that the event is about. */
    List<Lane> concerned() {
        List<Lane> lanes = new ArrayList<>();
        for (Map<String, @Nullable Object> gpu : maps("gpus")) {
            if (Boolean.TRUE.equals(gpu.get("concerned")) && gpu.get("series") instanceof Map<?, ?> series) {
                Map<String, List<@Nullable Object>> rows = new LinkedHashMap<>();
                series.forEach((name, row) -> rows.put(String.valueOf(name), list(row)));
                lanes.add(new Lane("GPU " + gpu.get("index"), rows));
            }
        }
        return lanes;
    }

    List<Line> kernel() {
        return maps("kernel").stream()
                .map(line -> new Line(String.valueOf(line.get("time")), String.valueOf(line.get("text"))))
                .toList();
    }

    List<Process> processes() {
        return maps("processes").stream()
                .map(process -> new Process(
                        String.valueOf(process.get("pid")),
                        process.get("name") instanceof String name ? name : "?",
                        String.valueOf(process.get("owner")),
                        process.get("usedBytes") instanceof Number bytes ? bytes : "?"))
                .toList();
    }

    private List<Map<String, @Nullable Object>> maps(String key) {
        List<Map<String, @Nullable Object>> maps = new ArrayList<>();
        for (Object item : list(tree.get(key))) {
            if (item instanceof Map<?, ?> map) {
                maps.add(texted(map));
            }
        }
        return maps;
    }

    private static List<@Nullable Object> list(@Nullable Object value) {
        return value instanceof List<?> list ? new ArrayList<>(list) : List.of();
    }
}
