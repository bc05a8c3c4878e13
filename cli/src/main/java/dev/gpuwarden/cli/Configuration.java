package dev.gpuwarden.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The values of settings from the environment and the configuration file, all of them checked. One mistake stops every
 * command that reads settings, so that the first command finds it and not the restart at night.
 */
final class Configuration {

    /**
     * The values of one setting: one value unless the setting takes a list. It has no reference to the {@link Setting}:
     * an option holds its command, and this lives as long as the program, while all commands together take megabytes.
     *
     * @param origin the flag, the variable, the file with the line, or "default"
     */
    record Given(List<String> values, String origin) {
        /** Returns the text that picocli splits into the values again. */
        String joined() {
            return String.join(Setting.SEPARATOR, values);
        }
    }

    private final Map<String, Given> given = new HashMap<>();
    private final List<String> doubts = new ArrayList<>();
    private final Optional<Path> file;

    private Configuration(Optional<Path> file) {
        this.file = file;
    }

    /**
     * Reads the file and the environment.
     *
     * @param own the settings of the command that runs; called only where a file or a variable must be checked
     * @param all the settings of all commands, which must be made for it; called only where {@code own} finds a mistake,
     *     which may be a setting of another command
     * @param named the file that a flag names
     * @param lenience whether some commands are missing: unknown keys may then be theirs, and become doubts instead
     *     of mistakes
     * @throws UserError with every mistake and its place
     */
    static Configuration load(
            Supplier<Settings> own,
            Supplier<Settings> all,
            SettingSources sources,
            Optional<Path> named,
            BooleanSupplier lenience) {
        Optional<Path> file = named.or(
                        () -> Optional.ofNullable(sources.environment().get(SettingSources.FILE_VARIABLE))
                                .filter(path -> !path.isEmpty())
                                .map(Path::of))
                .or(() -> Optional.of(sources.defaultFile()).filter(Files::exists));
        if (file.isEmpty() && sources.variables().isEmpty()) {
            return new Configuration(file);
        }
        Optional<ConfigFile> read = file.map(ConfigFile::read);
        Configuration configuration = new Configuration(file);
        if (configuration.check(read, sources, own.get(), false).isEmpty()) {
            return configuration;
        }
        Configuration complete = new Configuration(file);
        Settings settings = all.get();
        List<String> problems = complete.check(read, sources, settings, lenience.getAsBoolean());
        if (!problems.isEmpty()) {
            throw new UserError(String.join("\n", problems));
        }
        return complete;
    }

    /** Takes the values from the file and the environment, and returns every mistake with its place. */
    private List<String> check(Optional<ConfigFile> read, SettingSources sources, Settings settings, boolean lenient) {
        List<String> problems = new ArrayList<>();
        read.ifPresent(content -> addFile(content, settings, lenient, problems));
        addEnvironment(settings, sources, lenient, problems);
        return problems;
    }

    Optional<Given> find(String key) {
        return Optional.ofNullable(given.get(key));
    }

    Optional<Path> file() {
        return file;
    }

    /** Returns unknown keys that may belong to missing commands. */
    List<String> doubts() {
        return doubts;
    }

    private void addFile(ConfigFile read, Settings settings, boolean lenient, List<String> problems) {
        problems.addAll(read.problems());
        for (ConfigFile.Entry entry : read.entries()) {
            String at = read.path() + ":" + entry.line();
            Optional<Setting> setting = settings.find(entry.key());
            if (setting.isPresent()) {
                addEntry(setting.get(), entry, at, problems);
            } else {
                judgeUnknown(entry, settings)
                        .ifPresent(problem -> (lenient ? doubts : problems).add(at + ": " + problem));
            }
        }
    }

    private void addEntry(Setting setting, ConfigFile.Entry entry, String at, List<String> problems) {
        if (entry.value() instanceof ConfigFile.Value.Scalar scalar) {
            add(setting, new Given(List.of(scalar.text()), at), problems);
        } else if (entry.value() instanceof ConfigFile.Value.Many many) {
            if (setting.takesMany()) {
                add(setting, new Given(many.texts(), at), problems);
            } else {
                problems.add(at + ": " + setting.key() + ": expected one value, found a list");
            }
        } else {
            problems.add(at + ": " + setting.key() + ": expected a value, found nothing");
        }
    }

    /** Returns the mistake; empty where there is none, as for a section whose keys are all commented out. */
    private static Optional<String> judgeUnknown(ConfigFile.Entry entry, Settings settings) {
        Optional<Setting> below = settings.firstIn(entry.key());
        if (below.isEmpty()) {
            Optional<String> meant = settings.nearest(entry.key());
            return Optional.of("unknown key " + entry.key()
                    + meant.map(key -> ", did you mean " + key + "?").orElse(""));
        }
        return entry.value() instanceof ConfigFile.Value.Nothing
                ? Optional.empty()
                : Optional.of(entry.key() + " is a section: expected keys under it, such as "
                        + below.get().key());
    }

    private void addEnvironment(Settings settings, SettingSources sources, boolean lenient, List<String> problems) {
        sources.variables().forEach((name, text) -> {
            Optional<Setting> setting = settings.ofVariable(name);
            if (setting.isPresent()) {
                boolean many = setting.get().takesMany();
                List<String> values = many ? List.of(text.split(Setting.SEPARATOR, -1)) : List.of(text);
                add(setting.get(), new Given(values, "environment " + name), problems);
            } else if (!SettingSources.namesService(name)) {
                (lenient ? doubts : problems)
                        .add("environment " + name + ": no setting has this variable"
                                + settings.nearestVariable(name)
                                        .map(meant -> ", did you mean " + meant + "?")
                                        .orElse(""));
            }
        });
    }

    private void add(Setting setting, Given value, List<String> problems) {
        SettingCheck.problem(setting, value.values())
                .ifPresentOrElse(
                        problem -> problems.add(value.origin() + ": " + problem),
                        () -> given.put(setting.key(), value));
    }
}
