package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.SettingSources;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Stream;
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

    /** Two modules have subcommands of `vram`: each of the two must leave the help of the other alone. */
    @Test
    void everyCommandAndGroupHasHelpAndADescription() {
        CommandLine program = complete();
        List<String> paths = paths(program, "").toList();
        assertThat(paths).hasSizeGreaterThan(50).contains("vram", "vram wait", "vram top", "xid", "policy test");
        for (String path : paths) {
            StringWriter out = new StringWriter();
            int code = run(out, (path + " --help").split(" "));
            assertThat(code).as("%s --help: %s", path, out).isZero();
            assertThat(out.toString()).as(path).contains("Usage: gpuwarden " + path);
        }
    }

    @Test
    void aGroupWithoutACommandPrintsItsUsage() {
        for (String group : List.of("", "vram", "xid", "policy", "sim")) {
            StringWriter out = new StringWriter();
            assertThat(run(out, group.isEmpty() ? new String[0] : new String[] {group}))
                    .as(group)
                    .isIn(0, 2);
            assertThat(out.toString()).as(group).contains("Usage: " + ("gpuwarden " + group).strip(), "Commands:");
        }
    }

    private static int run(StringWriter out, String... arguments) {
        CommandLine line = Main.commandLine(SettingSources.none());
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(out));
        return line.execute(arguments);
    }

    private static CommandLine complete() {
        CommandLine line = Main.commandLine(SettingSources.none());
        line.parseArgs("--help");
        return line;
    }

    /** Returns the paths of all commands below; each must have a description for the list of its parent. */
    private static Stream<String> paths(CommandLine parent, String before) {
        return parent.getSubcommands().values().stream()
                .filter(command -> !command.getCommandName().equals("help"))
                .distinct()
                .flatMap(command -> {
                    String path = before + command.getCommandName();
                    var usage = command.getCommandSpec().usageMessage();
                    assertThat(usage.header().length + usage.description().length)
                            .as("description of %s", path)
                            .isPositive();
                    return Stream.concat(Stream.of(path), paths(command, path + " "));
                });
    }
}
