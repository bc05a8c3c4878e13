package dev.gpuwarden.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/** Shows the value of each setting and its origin. */
@Command(
        name = "config",
        mixinStandardHelpOptions = true,
        description = {
            "Shows every setting with its value and origin.",
            "A flag overrides the environment, then the file, then the default. Accepts every setting as a flag."
        })
final class ConfigCommand implements Callable<Integer> {

    /** A percent sign of a value: descriptions are formats, in which it must be doubled. */
    private static final Pattern PERCENT = Pattern.compile("(?<!%)%(?![n%])");

    private static final Pattern DEFAULT = Pattern.compile("\\$\\{DEFAULT-VALUE}");

    private final Supplier<Settings> settings;
    private final SettingDefaults defaults;

    @Mixin
    private final Output output = new Output();

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    ConfigCommand(Supplier<Settings> settings, SettingDefaults defaults) {
        this.settings = settings;
        this.defaults = defaults;
    }

    /**
     * Adds every setting of all other commands to this command. This is slow, so it is done only on demand.
     *
     * @param help whether descriptions will be shown: picocli reads the configuration for them before it has parsed
     *     `--config`
     */
    static void addSettings(CommandSpec config, Settings settings, boolean help) {
        for (Setting setting : settings.all()) {
            if (config.findOption(setting.flag()) == null) {
                config.addOption(SettingCheck.detached(OptionSpec.builder(setting.option())
                        .names(setting.flag())
                        .description(help ? described(setting.option()) : new String[0])
                        .build()));
            }
        }
    }

    /** Returns the default as text, since picocli cannot insert the default of a detached option. */
    private static String[] described(OptionSpec option) {
        String text = Matcher.quoteReplacement(String.join(Setting.SEPARATOR, declared(option)));
        return Arrays.stream(option.description())
                .map(line -> DEFAULT.matcher(line).replaceAll(text))
                .map(line -> PERCENT.matcher(line).replaceAll("%%"))
                .toArray(String[]::new);
    }

    @Override
    public Integer call() {
        Configuration configuration = defaults.configuration();
        Map<String, Object> tree = new LinkedHashMap<>();
        Table table = new Table("SETTING", "VALUE", "FROM");
        for (Setting setting : settings.get().all()) {
            Configuration.Given given = flag(setting)
                    .or(() -> configuration.find(setting.key()))
                    .orElseGet(() -> new Configuration.Given(declared(setting.option()), "default"));
            tree.put(setting.key(), entry(setting, given));
            table.row(setting.key(), given.joined(), given.origin());
        }
        Map<String, Object> whole = new LinkedHashMap<>();
        whole.put("schema", "gpuwarden.config/v1");
        whole.put("file", configuration.file().map(Object::toString).orElse(null));
        whole.put("settings", tree);
        output.write(spec.commandLine().getOut(), whole, table::print);
        return ExitCode.OK;
    }

    private static Map<String, Object> entry(Setting setting, Configuration.Given given) {
        Map<String, Object> entry = new LinkedHashMap<>();
        if (setting.takesMany()) {
            entry.put("value", given.values());
        } else {
            entry.put("value", given.values().isEmpty() ? null : given.values().get(0));
        }
        entry.put("from", given.origin());
        entry.put("variable", setting.variable());
        return entry;
    }

    private Optional<Configuration.Given> flag(Setting setting) {
        if (!spec.commandLine().getParseResult().hasMatchedOption(setting.flag())) {
            return Optional.empty();
        }
        OptionSpec option = spec.findOption(setting.flag());
        List<String> values = List.of(String.join(Setting.SEPARATOR, option.originalStringValues()));
        return Optional.of(
                new Configuration.Given(setting.takesMany() ? split(values.get(0)) : values, "flag " + setting.flag()));
    }

    private static List<String> declared(OptionSpec option) {
        String value = option.defaultValue();
        if (value != null) {
            return option.isMultiValue() ? split(value) : List.of(value);
        }
        Object initial = option.initialValue();
        if (initial instanceof Collection<?> many) {
            List<String> texts = new ArrayList<>();
            many.forEach(one -> texts.add(String.valueOf(one)));
            return texts;
        }
        return initial == null ? List.of() : List.of(String.valueOf(initial));
    }

    private static List<String> split(String text) {
        return text.isEmpty() ? List.of() : List.of(text.split(Setting.SEPARATOR, -1));
    }
}
