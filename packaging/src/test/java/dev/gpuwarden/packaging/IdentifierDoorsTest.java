package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * An identifier gets its one form in the class {@code Identifiers}, where it enters. A second rule of equality, or a reader that
 * does not call it, would let one GPU be two: refused by one part of the program, and reset by the next.
 */
class IdentifierDoorsTest {

    private static final Path REPOSITORY = Path.of(System.getProperty("gpuwarden.repository"));

    /** Files that compare words of a protocol, and no identifiers, without regard to case. */
    private static final Set<String> OF_WORDS = Set.of(
            "NodeAnnotations.java",
            "AuthInterceptor.java",
            "QuarantineSummary.java",
            "QuarantineDecider.java",
            "DrainRequest.java",
            "HeaderPreference.java",
            "RequestReader.java",
            "FaultyApi.java",
            "Quantity.java",
            "XidMention.java",
            "UnreadLines.java");

    /** Files whose text is checked and refused, or is the API server's own and has one form there. */
    private static final Set<String> CHECKED = Set.of("EventRules.java", "PodFacts.java", "WaitingPod.java");

    private static final Pattern SECOND_EQUALITY =
            Pattern.compile("equalsIgnoreCase|compareToIgnoreCase|CASE_INSENSITIVE_ORDER|regionMatches\\(\\s*true");

    private static final Pattern OWN_FORM = Pattern.compile("\\b(\\w++)(?:\\(\\))?\\s*+\\.to(?:Lower|Upper)Case");

    private static final Pattern OF_IDENTIFIER =
            Pattern.compile("(?i)uuid|gpu|pci|address|nodeName|bootId|serial|podUid|\\buid");

    /** A reader of a field that has an identifier. */
    private static final Pattern READER =
            Pattern.compile("(text|textList|textOrEmpty)\\(([^;]{0,80}, )?\"(uuids?|nodeName|bootID|resourceID)\"\\)");

    private static List<Path> sources() throws IOException {
        List<Path> sources = new ArrayList<>();
        try (Stream<Path> modules = Files.list(REPOSITORY)) {
            for (Path module : modules.map(each -> each.resolve("src/main/java"))
                    .filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> files = Files.walk(module)) {
                    files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
                }
            }
        }
        return sources;
    }

    private static List<String> findings(Path file, String text) {
        List<String> findings = new ArrayList<>();
        String name = file.getFileName().toString();
        if (name.equals("Identifiers.java")) {
            return findings;
        }
        if (!OF_WORDS.contains(name) && SECOND_EQUALITY.matcher(text).find()) {
            findings.add(name + " compares without regard to case: call Identifiers where the text enters");
        }
        if (OWN_FORM.matcher(text)
                .results()
                .anyMatch(match -> OF_IDENTIFIER.matcher(match.group(1)).find())) {
            findings.add(name + " has its own form of an identifier: call Identifiers");
        }
        var reader = READER.matcher(text);
        while (!CHECKED.contains(name) && reader.find()) {
            String statement = text.substring(text.lastIndexOf('\n', reader.start()) + 1, reader.end());
            if (!statement.contains("Identifiers.")) {
                findings.add(name + " reads " + reader.group(3) + " and does not call Identifiers");
            }
        }
        return findings;
    }

    @Test
    void eachIdentifierHasOneForm() throws IOException {
        List<String> findings = new ArrayList<>();
        List<Path> sources = sources();
        for (Path file : sources) {
            findings.addAll(findings(file, Files.readString(file)));
        }
        assertThat(sources).hasSizeGreaterThan(500);
        assertThat(findings).isEmpty();
    }

    @Test
    void theRulesFindWhatTheyForbid() {
        Path file = Path.of("A.java");
        assertThat(findings(file, "a.uuid().equalsIgnoreCase(b)")).hasSize(1);
        assertThat(findings(file, "gpuUuid().toLowerCase(Locale.ROOT)")).hasSize(1);
        assertThat(findings(file, "String pciAddress;\n pciAddress.toLowerCase(Locale.ROOT)"))
                .hasSize(1);
        assertThat(findings(file, "JsonTrees.textList(selector, \"uuids\"),")).hasSize(1);
        assertThat(findings(file, "gpu.textOrEmpty(\"uuid\")")).hasSize(1);
        assertThat(findings(file, "Identifiers.gpus(JsonTrees.textList(selector, \"uuids\")),"))
                .isEmpty();
        assertThat(findings(file, "kind.name().toLowerCase(Locale.ROOT)")).isEmpty();
    }
}
