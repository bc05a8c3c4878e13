package dev.gpuwarden.daemon.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The whole exposition of each scenario, against a file. `-Dgolden.update` writes the files anew: read the difference before it
 * is committed.
 */
class GoldenTest {

    private static final Path FILES =
            Path.of(System.getProperty("gpuwarden.repository"), "daemon/src/test/resources/golden");

    private static Path file(GoldenScenario scenario) {
        return FILES.resolve(scenario.fileName());
    }

    private static String exposition(GoldenScenario scenario) {
        Exposition exposition = new Exposition(scenario.options(), () -> "node-7");
        return Lines.text(TextFormat.PROMETHEUS, exposition.snapshots(scenario.scrape()))
                .replaceFirst(
                        "(?m)^(gpuwarden_build_info\\{).*$", "$1java_version=\"(java)\",version=\"(version)\"} 1");
    }

    @ParameterizedTest
    @EnumSource
    void theExpositionIsAsAgreed(GoldenScenario scenario) throws IOException {
        String now = exposition(scenario);
        if (System.getProperty("golden.update") != null) {
            Files.createDirectories(FILES);
            Files.writeString(file(scenario), now);
        }
        assertThat(file(scenario)).as("run with -Dgolden.update to write it").exists();
        assertThat(now.lines().toList()).isEqualTo(Files.readAllLines(file(scenario)));
    }

    @ParameterizedTest
    @EnumSource
    void promtoolHasNothingToCriticise(GoldenScenario scenario) throws Exception {
        Path promtool = Path.of(System.getProperty("gpuwarden.tools.dir", ""), "promtool");
        assumeTrue(
                Files.isExecutable(promtool),
                () -> "no promtool at " + promtool.toAbsolutePath()
                        + ": take it from the Debian package prometheus, and give its folder as -Dgpuwarden.tools.dir");
        Process check = new ProcessBuilder(promtool.toString(), "check", "metrics")
                .redirectInput(file(scenario).toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(check.waitFor(30, TimeUnit.SECONDS)).isTrue();
        // dcgm-exporter's own names and labels are what dashboards expect of them, conventions or not.
        assertThat(said.lines().filter(line -> !line.startsWith("DCGM_"))).isEmpty();
        assertThat(check.exitValue()).isEqualTo(scenario.options().dcgmNames() ? 3 : 0);
    }
}
