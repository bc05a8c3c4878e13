package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.SettingSources;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Help of all commands together. */
class HelpTest {

    /** The first line of a description stands alone in the list of commands. */
    @Test
    void theListOfCommandsHasWholeSentences() {
        CommandLine line = Main.commandLine(SettingSources.none());
        line.setOut(new PrintWriter(new StringWriter()));
        assertThat(line.execute("--help")).isZero();
        List<String> summaries = line.getSubcommands().values().stream()
                .map(command -> command.getCommandSpec().usageMessage())
                .map(usage -> usage.header().length > 0 ? usage.header()[0] : usage.description()[0])
                .toList();
        assertThat(summaries).hasSizeGreaterThan(10).allMatch(summary -> summary.endsWith("."));
    }
}
