package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonReaderTest {

    private static final JsonReader READER = JsonReader.ofDepth(4);

    @Test
    void valuesBecomePlainObjectsInTheirOrder() throws IOException {
        Map<String, Object> tree =
                READER.readObject("{\"b\": [1, 2.5, \"x\", true, {\"c\": {}}], \"a\": 123456789012345678901234567890}");
        assertThat(tree.keySet()).containsExactly("b", "a");
        assertThat(tree.get("b")).isEqualTo(List.of(1L, 2.5, "x", true, Map.of("c", Map.of())));
        assertThat(tree.get("a")).isEqualTo(1.2345678901234568E29);
        assertThat(READER.read("[7]")).isEqualTo(List.of(7L));
    }

    @Test
    void bytesAndStreamsAreReadAsUtf8() throws IOException {
        byte[] text = "{\"a\": \"ü\"}".getBytes(StandardCharsets.UTF_8);
        assertThat(READER.readObject(text)).isEqualTo(Map.of("a", "ü"));
        assertThat(READER.readObject(new ByteArrayInputStream(text))).isEqualTo(Map.of("a", "ü"));
    }

    @Test
    void nullsAreLeftOutUnlessRequested() throws IOException {
        String text = "{\"a\": null, \"b\": [null, 1]}";
        assertThat(READER.readObject(text)).isEqualTo(Map.of("b", List.of(1L)));
        Map<String, Object> kept = READER.withNulls().readObject(text);
        assertThat(kept).containsEntry("a", null);
        assertThat((List<?>) kept.get("b")).hasSize(2);
    }

    @Test
    void exactNumbersKeepTheirDigits() throws IOException {
        assertThat(READER.withExactNumbers().readObject("{\"a\": 12.50, \"b\": 3}"))
                .isEqualTo(Map.of("a", new BigDecimal("12.50"), "b", new BigDecimal("3")));
    }

    @Test
    void skippedFieldsAreLeftOutAtEveryLevel() throws IOException {
        assertThat(READER.without(Set.of("images"))
                        .readObject("{\"images\": [{\"a\": 1}], \"b\": {\"images\": 2, \"c\": 3}}"))
                .isEqualTo(Map.of("b", Map.of("c", 3L)));
    }

    @Test
    void fieldThatOccursTwiceHasItsLastValueOrIsRefused() throws IOException {
        String text = "{\"a\": 1, \"a\": 2}";
        assertThat(READER.readObject(text)).isEqualTo(Map.of("a", 2L));
        assertThatThrownBy(() -> JsonReader.refusingDuplicates(4).readObject(text))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Duplicate field 'a'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "`` | expected JSON, but it is empty",
                "{\"a\": 1} x | line 1 column",
                "{\"a\": 1} {} | there is more after its end",
                "{\"a\": | line 1 column",
                "[1, | line 1 column",
                "{\"a\": tru} | line 1 column",
                "[[[[[1]]]]] | depth",
                "[1] | expected a JSON object",
                "null | found null",
            })
    void brokenTextIsRefusedWithItsReason(String text, String reason) {
        assertThatThrownBy(() -> READER.readObject(text))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(reason);
    }
}
