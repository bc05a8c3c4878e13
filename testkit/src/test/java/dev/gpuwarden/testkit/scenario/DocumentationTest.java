package dev.gpuwarden.testkit.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.scenario.Scenarios.ScenarioReader;
import dev.gpuwarden.testkit.sim.NativeFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class DocumentationTest {

    private final Vocabulary vocabulary = NativeFiles.find().vocabulary();

    private static String text() throws IOException {
        return Files.readString(Path.of(System.getProperty("gpuwarden.repository"), "testkit/SCENARIOS.md"));
    }

    @Test
    void exampleIsValid() throws IOException {
        String text = text();
        int start = text.indexOf("```yaml\n") + "```yaml\n".length();
        Scenario example = ScenarioReader.read(
                "example", "SCENARIOS.md", text.substring(start, text.indexOf("```\n", start)), vocabulary);
        assertThat(example.gpus()).hasSize(9);
        assertThat(example.timeline()).hasSize(2);
    }

    @Test
    void everyNameIsDocumented() throws IOException {
        assertThat(text()).contains(Boards.names()).contains(Generation.labels());
        assertThat(vocabulary.lies()).allSatisfy(lie -> assertThat(text()).contains("`" + lie + "`"));
    }
}
