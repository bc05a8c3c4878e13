package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.run.GivenSettings;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The line of the log that has the settings. */
class GivenSettingsTest {

    private static String line(Map<String, String> environment, String... args) {
        CommandLine line = Main.commandLine(
                new SettingSources(environment, SettingSources.none().defaultFile()),
                List.<CommandGroup>of(new SampleCommands()).iterator());
        CommandLine.ParseResult parsed = line.parseArgs(args);
        return GivenSettings.line(parsed.subcommand().commandSpec());
    }

    @Test
    void hasGivenSettingsAndNoDefaults() {
        assertThat(line(Map.of("GPUWARDEN_WEB_THREADS", "3"), "serve", "--check.skip=a,b"))
                .startsWith("settings: ")
                .contains(" web.threads=3", " check.skip=a,b", "; the others");
        assertThat(line(Map.of(), "serve")).startsWith("every setting has its default");
    }

    @Test
    void hidesSecretsOfAnAddress() {
        assertThat(line(Map.of(), "serve", "--web.listen-address=https://u:p@hooks.example.com/services/T0/B0"))
                .contains("web.listen-address=https://hooks.example.com/…;");
    }
}
