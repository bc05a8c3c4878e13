package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.SettingSources;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.PartNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Parses each command of this program that a message, a document or an alert prints, with the program's own parser. */
class PrintedCommandsTest {

    private static final Path REPOSITORY = Path.of(System.getProperty("gpuwarden.repository"));

    private static final CommandLine PROGRAM = complete();

    /** A call, up to a comment; `-n gpuwarden` is a namespace. */
    private static final Pattern CALL = Pattern.compile("(?<![\\w./-])(?<!-n )(?<!--namespace )gpuwarden ([^#]*)");

    /** A placeholder for a value: `NODE`, `<node>`, `$id`, `…`. */
    private static final Pattern PLACEHOLDER = Pattern.compile("[A-Z][A-Z_]*|<[^>]+>|\\$\\{?\\w+}?|…|\\.\\.\\.");

    /** An argument has a character that words of a sentence lack. */
    private static final Pattern ARGUMENT = Pattern.compile(".*[-/=0-9_:{@].*|all");

    private static final List<String> VALUES = List.of(
            "1", "node-1", "1m", "GPU-455d8f70-2051-db6c-0430-ffc457bff834", "xid=79", "127.0.0.1:9402", "dry-run");

    private static CommandLine complete() {
        CommandLine line = Main.commandLine(SettingSources.none());
        line.parseArgs("--help");
        return line;
    }

    @Test
    void messagesOfTheProgram() throws IOException {
        Map<String, String> wrong = new TreeMap<>();
        int commands = 0;
        for (String module : List.of("core", "cli", "api", "checks", "daemon", "aggregator", "nccl-bench", "testkit")) {
            for (Path file : files(REPOSITORY.resolve(module + "/src/main/java"), ".java")) {
                for (String text : literals(Files.readString(file))) {
                    commands += check(text, REPOSITORY.relativize(file).toString(), wrong, false);
                }
            }
        }
        assertThat(commands).isGreaterThan(50);
        assertThat(wrong).isEmpty();
    }

    @Test
    void instructionsForEachAction() {
        PartNames names =
                new PartNames(List.of(new PartNames.Gpu("GPU 2 (0000:11:00.0)", Set.of(Entity.gpu("GPU-b")))));
        Map<String, String> wrong = new TreeMap<>();
        int commands = 0;
        for (RecommendedAction action : RecommendedAction.values()) {
            for (List<Entity> entities : List.of(List.<Entity>of(), List.of(Entity.gpu("GPU-b")))) {
                HealthEvent event = HealthEvent.of("a", "GPU", "c")
                        .action(action)
                        .entities(entities)
                        .build();
                for (String text :
                        List.of(ActionText.advice(event), names.advice(event), names.adviceOn("node-2", event))) {
                    commands += check(text, action.name(), wrong, true);
                    assertThat(text).as("it works beside the daemon").doesNotContain("nvidia-smi");
                }
            }
        }
        assertThat(commands).isGreaterThanOrEqualTo(4);
        assertThat(wrong).isEmpty();
    }

    @Test
    void documentsAndAlerts() throws IOException {
        Map<String, String> wrong = new TreeMap<>();
        int commands = 0;
        List<Path> all = new ArrayList<>(files(REPOSITORY.resolve("docs"), ".md"));
        all.add(REPOSITORY.resolve("README.md"));
        all.addAll(files(REPOSITORY.resolve("packaging/src/main/prometheus"), ".yaml"));
        for (Path file : all) {
            boolean code = false;
            // A line of a shell that ends with a backslash continues.
            for (String line :
                    Files.readString(file).replace("\\\n", " ").lines().toList()) {
                boolean fence = line.stripLeading().startsWith("```");
                code ^= fence;
                for (String span : code ? List.of(line.replaceFirst("(^|\\s)#.*", "")) : spans(line)) {
                    commands += check(span, REPOSITORY.relativize(file).toString(), wrong, true);
                }
            }
        }
        assertThat(commands).isGreaterThan(300);
        assertThat(wrong).isEmpty();
    }

    private static List<String> spans(String line) {
        List<String> spans = new ArrayList<>();
        Matcher span = Pattern.compile("`([^`]+)`").matcher(line);
        while (span.find()) {
            spans.add(span.group(1));
        }
        return spans;
    }

    /** Parses the commands of a text. Returns their number, and adds those that the parser refuses. */
    private static int check(String text, String where, Map<String, String> wrong, boolean strict) {
        int found = 0;
        Matcher call = CALL.matcher(text);
        int from = 0;
        while (call.find(from)) {
            from = call.start(1);
            Optional<List<String>> command = command(call.group(1), strict);
            if (command.isPresent()) {
                found++;
                if (command.get().isEmpty()) {
                    wrong.put(where + ": " + call.group(1), "no such command");
                    continue;
                }
                refusal(command.get()).ifPresent(why -> wrong.put(where + ": " + String.join(" ", command.get()), why));
            }
        }
        return found;
    }

    /** Returns the words of a command, up to the first that belongs to the sentence; empty where no command is named. */
    private static Optional<List<String>> command(String text, boolean strict) {
        String first = text.split("[`'\"|;&()<>#]|, |: |\\. |\\.$|,$|:$", 2)[0].strip();
        CommandLine line = PROGRAM;
        List<String> words = new ArrayList<>();
        boolean value = false;
        for (String word : first.split("\\s+")) {
            CommandLine below = words.size() < 3 ? line.getSubcommands().get(word) : null;
            if (below != null && !value) {
                line = below;
            } else if (words.isEmpty()) {
                return strict && word.matches("[a-z][a-z-]+") ? Optional.of(words) : Optional.empty();
            } else if (word.equals("--")) {
                break;
            } else if (word.startsWith("-")) {
                OptionSpec option = line.getCommandSpec().findOption(word.split("=", 2)[0]);
                value = option != null && option.arity().min() > 0 && !word.contains("=");
                words.add(word);
                continue;
            } else if (!value
                    && !PLACEHOLDER.matcher(word).matches()
                    && !ARGUMENT.matcher(word).matches()) {
                break;
            }
            value = false;
            words.add(word);
        }
        return words.isEmpty() ? Optional.empty() : Optional.of(words);
    }

    /** Returns why the parser refuses the command with each of the values in place of its placeholders. */
    private static Optional<String> refusal(List<String> command) {
        Optional<String> refusal = Optional.empty();
        for (String value : VALUES) {
            List<String> filled = command.stream()
                    .map(word -> word.startsWith("-")
                            ? word.replaceFirst("=(" + PLACEHOLDER + ")$", "=" + Matcher.quoteReplacement(value))
                            : PLACEHOLDER.matcher(word).matches() ? value : word)
                    .toList();
            try {
                PROGRAM.parseArgs(filled.toArray(new String[0]));
                return Optional.empty();
            } catch (CommandLine.MissingParameterException e) {
                // A sentence may name a command without the values that it needs. The parser reports those first.
                CommandSpec spec = e.getCommandLine().getCommandSpec();
                return filled.stream()
                        .filter(word -> word.startsWith("-") && spec.findOption(word.split("=", 2)[0]) == null)
                        .findFirst()
                        .map(word -> "unknown option " + word);
            } catch (CommandLine.ParameterException e) {
                refusal = refusal.or(() -> Optional.of(String.valueOf(e.getMessage())));
            }
        }
        return refusal;
    }

    private static List<Path> files(Path folder, String suffix) throws IOException {
        try (Stream<Path> walk = Files.walk(folder)) {
            return walk.filter(file -> file.toString().endsWith(suffix))
                    .sorted()
                    .toList();
        }
    }

    /** Returns the texts of a source file: neighbours in a sum as one, with a placeholder for what is between. */
    private static List<String> literals(String source) {
        String literal = "\"((?:[^\"\\\\\\n]|\\\\.)*)\"";
        List<String> texts = new ArrayList<>();
        Matcher matcher = Pattern.compile(literal + "(?:\\s*\\+\\s*(?:" + literal + "|[\\w.()]+))*")
                .matcher(source);
        while (matcher.find()) {
            String sum = matcher.group();
            StringBuilder text = new StringBuilder();
            Matcher part = Pattern.compile(literal + "|[\\w.()]+").matcher(sum);
            while (part.find()) {
                text.append(part.group(1) != null ? part.group(1).replaceAll("\\\\.", " ") : "X");
            }
            texts.add(text.toString());
        }
        return texts;
    }
}
