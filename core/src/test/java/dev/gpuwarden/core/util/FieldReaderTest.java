package dev.gpuwarden.core.util;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FieldReaderTest {

    private static final Map<String, Object> TREE = Map.of(
            "text",
            "a",
            "whole",
            -7L,
            "real",
            1.5,
            "flag",
            true,
            "at",
            "2026-11-22T01:02:03Z",
            "object",
            Map.of("inner", "b"),
            "list",
            List.of(Map.of("inner", "c")),
            "mixed",
            Arrays.asList("d", null),
            "hostile\u001b[2J",
            "e\u001b]0;title\u0007" + "f".repeat(100));

    private final FieldReader reader = new FieldReader("file: ", TREE);

    private interface Read {
        Object field() throws IOException;
    }

    private static void refused(Read read, String message) {
        assertThatThrownBy(read::field).isInstanceOf(IOException.class).hasMessage("file: " + message);
    }

    @Test
    void fieldsOfTheRightTypeAreRead() throws IOException {
        assertThat(reader.text("text")).isEqualTo("a");
        assertThat(reader.number("whole")).isEqualTo(-7);
        assertThat(reader.decimal("real")).isEqualTo(1.5);
        assertThat(reader.flag("flag")).isTrue();
        assertThat(reader.time("at")).isEqualTo(Instant.parse("2026-11-22T01:02:03Z"));
        assertThat(reader.objectOrEmpty("object").text("inner")).isEqualTo("b");
        assertThat(reader.objects("list").get(0).text("inner")).isEqualTo("c");
    }

    @Test
    void anAbsentFieldIsEmptyWhereItMayBeAbsent() throws IOException {
        assertThat(reader.textOrEmpty("none")).isEmpty();
        assertThat(reader.optionalText("none")).isEmpty();
        assertThat(reader.object("none")).isEmpty();
        assertThat(reader.objectOrEmpty("none").names()).isEmpty();
        assertThat(reader.objects("none")).isEmpty();
        assertThat(reader.textList("none")).isEmpty();
        assertThat(reader.texts("none")).isEmpty();
        refused(() -> reader.requiredObjects("none"), "none: expected a list, seen nothing");
        refused(() -> reader.map("none"), "none: expected an object, seen nothing");
    }

    @Test
    void nullCountsAsAbsentAndIsNoItem() throws IOException {
        Map<String, Object> tree = new HashMap<>();
        tree.put("a", null);
        FieldReader nulls = new FieldReader("", tree);
        assertThat(nulls.has("a")).isFalse();
        assertThat(nulls.names()).isEmpty();
        assertThat(nulls.textOrEmpty("a")).isEmpty();
        refused(() -> reader.textList("mixed"), "mixed[1]: expected a text, seen nothing");
    }

    @Test
    void anErrorNamesTheFieldExpectedAndSeen() throws IOException {
        refused(() -> reader.text("whole"), "whole: expected a text, seen -7");
        refused(() -> reader.count("whole"), "whole: expected a whole number from 0 on, seen -7");
        refused(() -> reader.number("real"), "real: expected a whole number, seen 1.5");
        refused(() -> reader.decimal("text"), "text: expected a number, seen 'a'");
        refused(() -> reader.flag("text"), "text: expected true or false, seen 'a'");
        refused(() -> reader.time("text"), "text: expected a time of RFC 3339 in UTC, seen 'a'");
        refused(() -> reader.map("list"), "list: expected an object, seen a list");
        refused(() -> reader.objects("object"), "object: expected a list, seen an object");
        refused(() -> reader.decimals("mixed"), "mixed[0]: expected a number, seen 'd'");
        FieldReader item = reader.objects("list").get(0);
        refused(() -> item.flag("inner"), "list[0].inner: expected true or false, seen 'c'");
    }

    @Test
    void anErrorHasNoControlCharactersAndABoundedLength() {
        String name = TREE.keySet().stream()
                .filter(each -> each.startsWith("hostile"))
                .findFirst()
                .orElseThrow();
        assertThatThrownBy(() -> reader.flag(name))
                .hasMessageStartingWith("file: hostile [2J: expected true or false, seen 'e ]0;title f")
                .hasMessageEndingWith("f…'");
        String longest = "x".repeat(100_000);
        assertThatThrownBy(() -> new FieldReader("", Map.of(longest, 1)).text(longest))
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(600));
    }
}
