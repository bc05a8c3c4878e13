package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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

    private static List<YamlSection> manifests(String text) {
        List<YamlSection> documents = new ArrayList<>();
        YamlSection.readManifests(
                "a.yaml", new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), documents::add);
        return documents;
    }

    @Test
    void manifestsAreSeveralDocumentsWithoutTheEmptyOnes() {
        List<YamlSection> documents = manifests("---\n# none\n---\nkind: A\n---\nnull\n---\n{\"kind\": \"B\"}\n");
        assertThat(documents).extracting(document -> document.text("kind")).containsExactly("A", "B");
        assertThat(documents.get(1).origin()).isEqualTo("a.yaml:8");
    }

    @Test
    void aKeyWithoutValueHasNoSection() {
        YamlSection document = manifests("spec:\nstatus: {phase: ~}\nitems: null\nmetadata: {name: ''}\n")
                .get(0);
        assertThat(document.section("spec")).isEmpty();
        assertThat(document.section("none")).isEmpty();
        assertThat(document.sections("items")).isEmpty();
        assertThat(document.section("status").orElseThrow().value("phase")).isEmpty();
        assertThat(document.keys()).containsExactly("spec", "status", "items", "metadata");
        assertThatThrownBy(() -> document.section("status")
                        .orElseThrow()
                        .section("phase")
                        .orElseThrow())
                .isInstanceOf(java.util.NoSuchElementException.class);
    }

    @Test
    void mergedKeysAreKeysAfterTheOwnOnes() {
        YamlSection document = manifests("""
                base: &base {cpu: 1, memory: 2}
                more: &more {<<: *base, gpu: 3}
                own: {<<: [*more, {cpu: 7}], memory: 9}
                """).get(0);
        YamlSection own = document.section("own").orElseThrow();
        assertThat(own.keys()).containsExactlyInAnyOrder("memory", "gpu", "cpu");
        assertThat(own.text("memory")).isEqualTo("9");
        assertThat(own.text("cpu")).isEqualTo("1");
    }

    @Test
    void mergesWithoutEndAreRefused() {
        YamlSection document = manifests("a: &a\n  <<: *a\n  b: 1\n").get(0);
        assertThatThrownBy(() -> document.section("a")).hasMessageContaining("merged into each other");
    }

    @Test
    void findsAKeyAtAnyDepthAlsoInARing() {
        YamlSection document = manifests("a: &a\n- b: {c: 1}\n- *a\n").get(0);
        assertThat(document.mentions("c")).isTrue();
        assertThat(document.mentions("d")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {1000, 1_000_000})
    void endlessNestingIsRefused(int depth) {
        String message = "a.yaml:1: not YAML: more than 100 levels of nesting";
        assertThatThrownBy(() -> manifests("[".repeat(depth))).hasMessage(message);
        assertThatThrownBy(() -> manifests("a: " + "{a: ".repeat(depth))).hasMessage(message);
        assertThatThrownBy(() -> read("a: " + "[".repeat(Math.min(depth, 900_000))))
                .hasMessageEndingWith(message);
    }

    @Test
    void tooLargeManifestsAreRefused() {
        assertThatThrownBy(() -> manifests("a".repeat((16 << 20) + 1)))
                .isInstanceOf(UserError.class)
                .hasMessage("a.yaml: expected at most 16777216 bytes");
    }

    @Test
    void bytesThatAreNoTextAreRefused() {
        byte[] latin1 = {'a', ':', ' ', (byte) 0xe9, '\n'};
        assertThatThrownBy(() -> YamlSection.readManifests("a.yaml", new ByteArrayInputStream(latin1), document -> {}))
                .hasMessage("a.yaml: not YAML: not text in UTF-8");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'kind: List\nitems:\n- name: a\n- name: b\nx: 1'          | [kind] [name] [name] [x]",
                "'{items: [{items: [{name: a}]}, {b: {items: [1]}}], y: {items: [1]}}' | [] [items] [b] [y]",
                "'items: []\nx: 1'                                         | [] [x]",
                "'items: {a: 1}\nx: items\nz: [items, items]'              | [items, x, z]",
                "'items:\nx: 1'                                            | [items, x]",
                "'a: {items: [{b: 1}]}\n---\nitems: [{c: 1}]\n---\nd: 1'   | [a] [] [c] [] [d]",
            })
    void itemsOfAListAreDocuments(String text, String expected) {
        assertThat(manifests(text).stream().map(document -> document.keys().toString()))
                .containsExactly(expected.split(" (?=\\[)"));
    }

    @Test
    void aKeyThatIsAListIsRefusedBeforeItems() {
        assertThatThrownBy(() -> manifests("? [items, [1]]\n: [1]\nitems: [{a: 1}]\n"))
                .hasMessageEndingWith("a key must be a word");
    }

    @Test
    void anItemHasItsLineAndItsOwnAnchors() {
        List<YamlSection> documents = manifests("kind: List\nitems:\n- &a {x: &b 1, y: *b}\n- name: b\n");
        assertThat(documents.get(1).text("y")).isEqualTo("1");
        assertThat(documents.get(2).origin()).isEqualTo("a.yaml:4");
        assertThatThrownBy(() -> manifests("items: [{x: &b 1}, {y: *b}]"))
                .hasMessageContaining("a.yaml:1: ")
                .hasMessageContaining("alias b");
    }
}
