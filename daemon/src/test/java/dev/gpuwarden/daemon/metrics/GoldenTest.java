package dev.gpuwarden.daemon.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.daemon.Golden;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the whole exposition of each scenario with a file. */
class GoldenTest {

    @ParameterizedTest
    @EnumSource
    void handMadeNodesMatchTheGoldenFiles(GoldenScenario scenario) throws IOException {
        Collector.Scrape scrape = scenario.scrape();
        Exposition exposition = new Exposition(scenario.options(), () -> scenario.parts(scrape.node()));
        String now = Lines.text(TextFormat.PROMETHEUS, exposition.snapshots(scrape));
        Golden.check("metrics/" + scenario.fileName(), SimulatedExposition.masked(now));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "t4",
                "l4x4",
                "driver-470",
                "driver-535.54",
                "driver-535.161",
                "a100-mig",
                "b200x8",
                "cgroup-zoo",
                "memory-hog",
                "liar",
                "gpu-lost",
                "no-driver",
                "version-mismatch",
                "empty"
            })
    void simulatedNodesMatchTheGoldenFiles(String scenario) throws IOException {
        Golden.check("metrics/" + scenario + ".prom", SimulatedExposition.of(scenario));
    }

    static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(Golden.file("metrics"))) {
            return files.sorted().toList();
        }
    }

    @Tag("programs")
    @ParameterizedTest
    @MethodSource("files")
    void promtoolAcceptsTheMetrics(Path file) throws Exception {
        Path promtool = Path.of(System.getProperty("gpuwarden.tools.dir", ""), "bin/promtool");
        assumeTrue(
                Files.isExecutable(promtool),
                () -> "no promtool at " + promtool.toAbsolutePath()
                        + ": ./gpuwarden test gets it, and names the folder of tools in -Dgpuwarden.tools.dir");
        Process check = new ProcessBuilder(promtool.toString(), "check", "metrics")
                .redirectInput(file.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(check.waitFor(30, TimeUnit.SECONDS)).isTrue();
        // Dashboards expect dcgm-exporter's own names and labels, whether or not they follow conventions.
        assertThat(output.lines().filter(line -> !line.startsWith("DCGM_"))).isEmpty();
        assertThat(check.exitValue()).isEqualTo(output.isEmpty() ? 0 : 3);
    }
}
