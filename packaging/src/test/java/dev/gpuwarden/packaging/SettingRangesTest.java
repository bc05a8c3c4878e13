package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.SettingSources;
import dev.gpuwarden.cli.ValueRange;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The ranges of all settings. The tests of `cli` prove that a value outside its range is refused. */
class SettingRangesTest {

    @Test
    void eachDefaultIsInItsRange() {
        CommandLine program = Main.commandLine(SettingSources.none());
        program.parseArgs("--help");
        Map<String, String> defaults = new TreeMap<>();
        collect(program, defaults);
        assertThat(defaults).hasSizeGreaterThan(38);

        List<String> words = new ArrayList<>(List.of("config"));
        defaults.forEach((name, value) -> words.add(name + "=" + value));
        StringWriter err = new StringWriter();
        CommandLine config = Main.commandLine(SettingSources.none());
        config.setErr(new PrintWriter(err));
        config.setOut(new PrintWriter(new StringWriter()));
        assertThat(config.execute(words.toArray(String[]::new)))
                .as(err.toString())
                .isZero();
    }

    private static void collect(CommandLine line, Map<String, String> defaults) {
        for (OptionSpec option : line.getCommandSpec().options()) {
            if (option.longestName().contains(".")
                    && option.defaultValue() != null
                    && ValueRange.of(option).isPresent()) {
                defaults.put(option.longestName(), option.defaultValue());
            }
        }
        line.getSubcommands().values().forEach(each -> collect(each, defaults));
    }
}
