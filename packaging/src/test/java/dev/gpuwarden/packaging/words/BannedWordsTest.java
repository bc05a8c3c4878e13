package dev.gpuwarden.packaging.words;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The scanner finds a banned word in prose of every kind of file, and passes it in code and in quotations. */
class BannedWordsTest {

    private static final BannedWords WORDS = new BannedWords(
            List.of("text\tnobody\tno caller", "text\tfor ever\tpermanently", "start\tWhat|As\tan actor"));

    @TempDir
    Path folder;

    private static List<String> seen(String path, String content) {
        return WORDS.find(path, content).stream()
                .map(finding -> finding.line() + " " + finding.seen())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a/src/main/java/A.java|/** Waits for nobody. */",
                "a/src/main/java/A.java|// nobody reads this",
                "a/src/main/java/A.java|fail(\"there is nobody here\");",
                "a/src/main/java/A.java|fail('\"', \"there is nobody\", 1);",
                "a/src/test/java/A.java|/* nobody */",
                "a/src/test/java/A.java|    void theLockIsHeldByNobody() {",
                "a/src/main/resources/a.js|const text = 'it is nobody now';",
                "a/src/main/proto/a.proto|// nobody",
                "a/src/main/c/a.c|x = '\"'; // nobody",
                "README.md|- nobody",
                "README.md|[nobody](a.md)",
                "a/page.html|<p>nobody</p>",
                "pom.xml|<!-- nobody -->",
                "a/b.yaml|# nobody",
                "a/b.yaml|description: of nobody",
                "a/b.yaml|x: {type: string, description: of nobody}",
                "a/b.yaml|summary: 'of nobody'",
                "a/b.service|Description=of nobody",
                "a/run|#!/bin/sh\\nfail \"it is nobody\"",
                "a/run|#!/bin/sh\\nprintf '%s' \"it is nobody\"",
                "a/run|#!/bin/sh\\ncat <<EOF\\nUsage: a\\n  for nobody\\nEOF\\n",
                "a/test-usage.txt|for nobody",
                "a/b.py|\"\"\"For nobody.\"\"\"",
            })
    void proseIsScanned(String file) {
        String[] parts = file.split("\\|", 2);
        assertThat(WORDS.find(parts[0], parts[1].replace("\\n", "\n")))
                .singleElement()
                .extracting(finding -> finding.seen().toLowerCase(Locale.ROOT))
                .isEqualTo("nobody");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a/src/main/java/A.java|User nobody = user(\"nobody\");",
                "a/src/main/java/A.java|/** Returns `nobody`, {@code nobody}, \"nobody\". */",
                "a/src/main/java/A.java|fail(\"expected root, seen 'the user nobody'\");",
                "a/src/main/java/A.java|fail(\"expected root, seen \\\"nobody\\\" instead\");",
                "a/src/test/java/A.java|line(\"the kernel knows nobody\");",
                "a/src/main/c/a.c|puts(\"nobody is here\");",
                "README.md|`nobody` and \"nobody\"",
                "README.md|```sh\\nsu nobody\\n```",
                "README.md|[a](nobody.md) <https://nobody.example/>",
                "README.md|> nobody",
                "CHANGELOG.md|## 0.1.0\\n- nobody",
                "a/page.html|<script>nobody</script>",
                "pom.xml|<user>nobody</user>",
                "a/b.yaml|user: nobody",
                "a/b.yaml|x: \"a # nobody\"",
                "a/src/test/a.yaml|message: nobody",
                "a/src/test/resources/golden/a.md|nobody",
                "a/results/2026.md|nobody",
                "a/b.tsv|nobody",
                "a/vendor.c|/* Copyright 2020 NVIDIA */ // nobody",
                "a/run|#!/bin/sh\\nsu nobody",
                "a/run|#!/bin/sh\\nfail \"seen $(id nobody) here\"",
            })
    void codeAndQuotationsAreNotScanned(String file) {
        String[] parts = file.split("\\|", 2);
        assertThat(seen(parts[0], parts[1].replace("\\n", "\n"))).isEmpty();
    }

    @Test
    void aFindingNamesItsLineAndThePhraseOverTwoLines() {
        assertThat(seen("A.java", "class A {\n    /**\n     * Waits for\n     * ever.\n     */\n"))
                .containsExactly("3 for ever");
        assertThat(seen("a.md", "# A\n\nOne.\n\nTwo.\n\nfor nobody\n")).containsExactly("7 nobody");
        assertThat(WORDS.find("a.md", "nobody").get(0)).hasToString("a.md:1: \"nobody\": write no caller");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "A.java|/** What it is. */|1",
                "A.java|/** It is. As well. */|1",
                "A.java|/** It is what it is, What. */|0",
                "A.java|/** @param a What it is */|1",
                "A.java|/** Returns {@code a} What */|0",
                "A.java|// It is.\\n// What it is.|1",
                "A.java|// It is\\n// What|0",
                "A.java|\"it is \" + \"What it is\"|0",
                "a.md|## What it is|1",
                "a.md|- What it is|1",
                "a.md|# A\\n\\nWhat it is|1",
                "a.md|# A\\n\\nIt\\nWhat|0",
                "b/src/test/A.java|    void whatIsHere() {|1",
                "b/src/test/A.java|    void seesWhatIsHere() {|0",
            })
    void onlyTheStartOfASentenceIsAStart(String path, String content, int expected) {
        assertThat(seen(path, content.replace("\\n", "\n"))).hasSize(expected);
    }

    @Test
    void aRowWithGroupsOrWithoutABetterWordIsRefused() {
        assertThatThrownBy(() -> new BannedWords(List.of("text\t(a)\tb"))).hasMessageContaining("(a)");
        assertThatThrownBy(() -> new BannedWords(List.of("text\ta"))).hasMessageContaining("better word");
        assertThatThrownBy(() -> new BannedWords(List.of("here\ta\tb"))).hasMessageContaining("here");
    }

    @Test
    void aFileAboveItsCountFailsAndOneBelowNamesTheCommand() {
        WordBaseline baseline = new WordBaseline(Map.of("a.md", 1, "b.md", 2));
        assertThat(baseline.problems(Map.of("a.md", of("a.md", 1), "b.md", of("b.md", 2))))
                .isEmpty();
        assertThat(baseline.problems(Map.of("a.md", of("a.md", 2), "b.md", of("b.md", 2))))
                .containsExactly(
                        "a.md: expected at most 1 banned words, seen 2:",
                        "  a.md:1: \"nobody\": write no caller",
                        "  a.md:2: \"nobody\": write no caller");
        assertThat(baseline.problems(Map.of("a.md", of("a.md", 1))))
                .hasSize(2)
                .last()
                .asString()
                .contains(WordBaseline.COMMAND);
        assertThat(baseline.problems(Map.of("a.md", of("a.md", 1), "b.md", of("b.md", 2), "c.md", of("c.md", 1))))
                .first()
                .isEqualTo("c.md: expected at most 0 banned words, seen 1:");
    }

    @Test
    void anUpdateFollowsMovedFilesAndNeverRaisesTheSum() throws Exception {
        Path file = folder.resolve("baseline.tsv");
        WordBaseline.read(file).update(file, Map.of("a.md", of("a.md", 2), "b.md", of("b.md", 1)));
        WordBaseline.read(file).update(file, Map.of("c.md", of("c.md", 2), "b.md", List.of()));
        assertThat(Files.readAllLines(file)).containsExactly("c.md\t2");
        assertThatThrownBy(() -> WordBaseline.read(file).update(file, Map.of("c.md", of("c.md", 3))))
                .hasMessageContaining("it allows 2 banned words, seen 3")
                .hasMessageContaining("c.md:3:");
        assertThat(Files.readAllLines(file)).containsExactly("c.md\t2");
    }

    private static List<BannedWords.Finding> of(String path, int count) {
        return WORDS.find(path, "nobody\n".repeat(count));
    }
}
