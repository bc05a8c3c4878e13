package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class IngestOptionsTest {

    /** A setting that the program's configuration cannot take keeps every command from starting. */
    @Test
    void theProgramStartsWithThem() throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "dev.gpuwarden.cli.Main",
                        "config",
                        "--output=yaml",
                        "--ingest.monitor=fabric/one,cloud/two")
                .redirectErrorStream(true);
        builder.environment().put("GPUWARDEN_QUARANTINE_MODE", "armed");
        Process program = builder.start();
        String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(program.waitFor()).as(said).isZero();
        assertThat(said).contains("fabric/one", "cloud/two", "ingest", "armed");
    }

    @Test
    void monitorsAreOthersThanTheDaemonsAndFew() {
        IngestOptions options = new IngestOptions();
        options.monitors = List.of("fabric/one", "fabric/one", "cloud/two");
        assertThat(options.monitors()).containsExactly("cloud/two", "fabric/one");
        options.monitors = List.of("gpuwarden/gpuwarden");
        assertThatThrownBy(options::monitors).hasMessageContaining("is that of the daemons");
        options.monitors = List.of("gpuwarden");
        assertThatThrownBy(options::monitors).hasMessageContaining("must be namespace/name");
        options.monitors = IntStream.range(0, 9).mapToObj(i -> "n/a" + i).toList();
        assertThatThrownBy(options::monitors).hasMessageContaining("at most 8, but there are 9");
    }
}
