package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class YamlSectionTest {

    @TempDir
    Path folder;

    private YamlSection read(String text) throws IOException {
        return YamlSection.read(Files.writeString(folder.resolve("a.yaml"), text));
    }

    @Test
    void valuesStayAsTheyAreWritten() throws IOException {
        YamlSection section = read("version: 010\nrules:\n- name: a\n  count: 5\n- name: b\n");
        assertThat(section.text("version")).isEqualTo("010");
        assertThat(section.sections("rules"))
                .extracting(rule -> rule.text("name"))
                .containsExactly("a", "b");
        assertThat(section.sections("rules").get(0).integer("count")).isEqualTo(5);
        assertThat(section.sections("rules").get(1).origin()).endsWith("a.yaml:5");
        assertThat(section.sections("others")).isEmpty();
        assertThat(section.has("rules")).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'- a'                | a.yaml:1: expected keys with values",
                "''                   | a.yaml: expected keys with values, but it is empty",
                "'a: 1\na: 2'         | a.yaml:2: duplicate key a, first on line 1",
                "'? [a]\n: 1'         | a.yaml:1: a key must be a word",
                "'a: 1\n b: 2'        | a.yaml:2: not YAML: mapping values are not allowed here",
            })
    void wrongFormIsRefusedWithItsLine(String text, String message) {
        assertThatThrownBy(() -> read(text)).isInstanceOf(UserError.class).hasMessageEndingWith(message);
    }

    @Test
    void wrongValueIsRefusedWithTheLineOfItsKey() throws IOException {
        YamlSection section = read("name:\ncount: many\nrules: 1\n");
        assertThatThrownBy(() -> section.text("name")).hasMessageEndingWith("a.yaml:1: name: expected a value");
        assertThatThrownBy(() -> section.text("other")).hasMessageEndingWith("a.yaml:1: expected the key other");
        assertThatThrownBy(() -> section.integer("count"))
                .hasMessageEndingWith("a.yaml:2: count: expected a number, but was 'many'");
        assertThatThrownBy(() -> section.sections("rules")).hasMessageEndingWith("a.yaml:3: rules: expected a list");
        assertThatThrownBy(() -> section.allow("name", "counts", "rules"))
                .hasMessageEndingWith("a.yaml:2: unknown key count, did you mean counts?");
    }

    @Test
    void fileThatIsTooLargeIsRefused() {
        assertThatThrownBy(() -> read("a: " + "x".repeat(1 << 20)))
                .hasMessageContaining("expected at most 1048576 bytes");
    }
}
