package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.testkit.Unchecked;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Reads resources, and replaces the names in their texts. */
public final class Rows {

    private Rows() {}

    static String text(String file) {
        return Unchecked.get(() -> {
            try (InputStream in = Rows.class.getResourceAsStream("/dev/gpuwarden/testkit/" + file)) {
                return new String(Objects.requireNonNull(in, file).readAllBytes(), StandardCharsets.UTF_8);
            }
        });
    }

    /** Returns the cells of each row of a TSV file; lines that begin with # are comments. */
    public static List<String[]> of(String file) {
        return text(file)
                .lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split("\t", -1))
                .toList();
    }

    /** Replaces `{name}` by its value. */
    public static String fill(String text, Map<String, String> values) {
        String filled = text;
        for (Map.Entry<String, String> value : values.entrySet()) {
            filled = filled.replace("{" + value.getKey() + "}", value.getValue());
        }
        return filled;
    }
}
