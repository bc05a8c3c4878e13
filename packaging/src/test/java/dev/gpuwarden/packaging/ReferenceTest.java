package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The generated part of docs/reference. {@code -Dgolden.update=true} writes it, to be read before committing. */
class ReferenceTest {

    private static final Path REPOSITORY = Path.of(System.getProperty("gpuwarden.repository"));

    @Test
    void settings() throws IOException {
        check("settings.md", CommandReference.settings());
    }

    /** They are read in the order of the alphabet, and one by one in searches. */
    @Test
    void noSettingPointsAtTheOneBefore() {
        assertThat(CommandReference.settings().lines().filter(line -> line.startsWith("| `")))
                .noneMatch(line -> line.matches(
                        ".*\\| (Its|Their|That|Those|The same) .*|.* (of|in which|owns) (that|those) [a-z]+[ .;,].*"));
    }

    @Test
    void commands() throws IOException {
        check("commands.md", CommandReference.commands());
    }

    @Test
    void metrics() throws IOException {
        check("metrics.md", MetricsReference.text(REPOSITORY));
    }

    @Test
    void customResources() throws IOException {
        check("custom-resources.md", ResourceReference.text(REPOSITORY));
    }

    /** An operator reads them with kubectl explain when a node does not return. */
    @ParameterizedTest
    @ValueSource(strings = {"GPUReset", "RebootNode", "TerminateNode"})
    void everyFieldOfMaintenanceIsExplained(String kind) throws IOException {
        String text = ResourceReference.text(REPOSITORY)
                .split("\n## " + kind + "\n", -1)[1]
                .split("\n## ", -1)[0];
        assertThat(text.lines().filter(line -> line.startsWith("| `"))).hasSizeGreaterThan(10);
        assertThat(text.lines().filter(line -> line.endsWith("|  |"))).isEmpty();
    }

    private static void check(String name, String text) throws IOException {
        Path file = REPOSITORY.resolve("docs/reference").resolve(name);
        if (Boolean.getBoolean("golden.update")) {
            Files.writeString(file, text);
        }
        assertThat(file)
                .as("write it with JAVA_TOOL_OPTIONS=-Dgolden.update=true ./gpuwarden test packaging ReferenceTest")
                .hasContent(text);
    }
}
