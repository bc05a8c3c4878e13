package dev.gpuwarden.packaging;

import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.SettingSources;
import dev.gpuwarden.cli.ValueRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Settings, commands and exit codes as Markdown, from the commands themselves. */
final class CommandReference {

    private CommandReference() {}

    private static final CommandLine PROGRAM = complete();

    /** Returns the program with all of its commands, which it adds when it parses. */
    private static CommandLine complete() {
        CommandLine line = Main.commandLine(SettingSources.none());
        line.parseArgs("--help");
        return line;
    }

    private record Setting(String value, String description, Set<String> commands) {}

    /** Returns one row for each option with a dot in its name. */
    static String settings() {
        Map<String, Setting> settings = new TreeMap<>();
        collect(PROGRAM, settings);
        StringBuilder text = new StringBuilder("""
                # Settings

                Each setting is a flag (`--web.listen-address`), an environment variable (`GPUWARDEN_WEB_LISTEN_ADDRESS`) and a key of
                the configuration file. [configuration.md](../configuration.md) has the order and the form. The columns are the ones of
                `--help` of the commands named. `gpuwarden config` prints the values in force.

                | Setting | Value | Commands | Description |
                | --- | --- | --- | --- |
                """);
        settings.forEach((name, setting) -> text.append("| `")
                .append(name)
                .append("` | ")
                .append(code(setting.value()))
                .append(" | ")
                .append(String.join(", ", setting.commands()))
                .append(" | ")
                .append(cell(setting.description()))
                .append(" |\n"));
        return text.toString();
    }

    private static void collect(CommandLine line, Map<String, Setting> settings) {
        for (OptionSpec option : line.getCommandSpec().options()) {
            String name = option.longestName().replaceFirst("^--", "");
            if (name.contains(".") && !option.hidden()) {
                settings.computeIfAbsent(
                                name,
                                key -> new Setting(
                                        value(option), join(ValueRange.description(option)), new LinkedHashSet<>()))
                        .commands()
                        .add(path(line));
            }
        }
        subcommands(line).forEach(each -> collect(each, settings));
    }

    private static List<CommandLine> subcommands(CommandLine line) {
        return line.getSubcommands().values().stream()
                .distinct()
                .filter(each -> !each.getCommandSpec().usageMessage().hidden())
                .sorted(Comparator.comparing(CommandLine::getCommandName))
                .toList();
    }

    private static String value(OptionSpec option) {
        return option.arity().max() == 0 ? "true or false" : option.paramLabel();
    }

    /** Returns a section for each command, with its description and its exit codes. */
    static String commands() {
        StringBuilder text = new StringBuilder("""
                # Commands and exit codes

                `gpuwarden COMMAND --help` prints the options. The exit codes of all commands follow one scheme: 0 fit or done, 1 not
                fit or not done, 2 wrong usage or configuration (nothing was started), 3 could not decide. `bench` alone has those of
                nccl-tests.
                """);
        list(PROGRAM, text);
        return text.toString();
    }

    private static void list(CommandLine line, StringBuilder text) {
        if (line.getParent() != null && !line.getCommandName().equals("help")) {
            CommandLine.Model.UsageMessageSpec usage = line.getCommandSpec().usageMessage();
            text.append("\n## ").append(path(line)).append("\n\n");
            String[] description = usage.description().length > 0 ? usage.description() : usage.header();
            text.append(paragraphs(description));
            if (!usage.exitCodeList().isEmpty()) {
                text.append("\n| Exit code | |\n| --: | --- |\n");
                usage.exitCodeList()
                        .forEach((code, meaning) -> text.append("| ")
                                .append(code.strip())
                                .append(" | ")
                                .append(cell(meaning))
                                .append(" |\n"));
            }
        }
        subcommands(line).forEach(each -> list(each, text));
    }

    private static String path(CommandLine line) {
        List<String> names = new ArrayList<>();
        for (CommandLine each = line; each.getParent() != null; each = each.getParent()) {
            names.add(0, each.getCommandName());
        }
        return String.join(" ", names);
    }

    /** Returns the description as paragraphs; lines that begin with two blanks are commands, which keep their form. */
    private static String paragraphs(String... lines) {
        StringBuilder text = new StringBuilder();
        for (int from = 0, to; from < lines.length; from = to) {
            boolean code = lines[from].startsWith("  ");
            for (to = from; to < lines.length && lines[to].startsWith("  ") == code; to++) {}
            String[] part = Arrays.copyOfRange(lines, from, to);
            text.append(from > 0 ? "\n" : "")
                    .append(code ? "```text\n" + String.join("\n", part).stripIndent() + "\n```" : join(part))
                    .append('\n');
        }
        return text.toString();
    }

    private static String join(String... lines) {
        return String.join(
                        " ",
                        Arrays.stream(lines)
                                .map(line -> line.replace("%n", " ")
                                        .replace("%%", "%")
                                        .strip())
                                .filter(line -> !line.isEmpty())
                                .toList())
                .replaceAll("\\s+", " ");
    }

    private static String code(String text) {
        return text.isEmpty() ? "" : "`" + cell(text) + "`";
    }

    /** Angle brackets and bars mean something in a table of Markdown. */
    static String cell(String text) {
        return text.replace("|", "\\|").replace("<", "&lt;").strip();
    }
}
