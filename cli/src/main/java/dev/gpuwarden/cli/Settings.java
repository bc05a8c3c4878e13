package dev.gpuwarden.cli;

import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** All settings of all commands, by key. */
final class Settings {

    private final Map<String, Setting> byKey = new TreeMap<>();
    private final Map<String, Setting> byVariable = new TreeMap<>();

    private Settings() {}

    /**
     * Returns the settings of a command line and of all commands below it.
     *
     * @throws IllegalStateException where two commands contradict each other, which is a bug in their code
     */
    static Settings of(CommandLine line) {
        Settings settings = new Settings();
        settings.collect(line);
        for (Setting setting : settings.all()) {
            Setting other = settings.byVariable.put(setting.variable(), setting);
            if (other != null) {
                throw new IllegalStateException("settings " + other.key() + " and " + setting.key()
                        + " share the variable " + setting.variable());
            }
        }
        return settings;
    }

    private void collect(CommandLine line) {
        for (OptionSpec option : line.getCommandSpec().options()) {
            Setting.of(option).ifPresent(this::add);
        }
        line.getSubcommands().values().forEach(this::collect);
    }

    private void add(Setting setting) {
        if (setting.takesMany() && !Setting.SEPARATOR.equals(setting.option().splitRegex())) {
            throw new IllegalStateException(setting.flag() + " takes many values and must be declared with split = \""
                    + Setting.SEPARATOR + "\"");
        }
        Setting known = byKey.putIfAbsent(setting.key(), setting);
        if (known != null && !known.agreesWith(setting)) {
            throw new IllegalStateException(setting.flag() + " means different things to different commands");
        }
    }

    Collection<Setting> all() {
        return Collections.unmodifiableCollection(byKey.values());
    }

    Optional<Setting> find(String key) {
        return Optional.ofNullable(byKey.get(key));
    }

    Optional<Setting> ofVariable(String name) {
        return Optional.ofNullable(byVariable.get(name));
    }

    /** Returns the known variable that is spelled most like this unknown one. */
    Optional<String> nearestVariable(String name) {
        return Spelling.nearest(name, byVariable.keySet());
    }

    /** Returns the first setting of a section: "web" holds "web.listen-address". */
    Optional<Setting> firstIn(String section) {
        return byKey.values().stream()
                .filter(s -> s.key().startsWith(section + "."))
                .findFirst();
    }

    /** Returns the known key that is spelled most like this unknown one. */
    Optional<String> nearest(String key) {
        return Spelling.nearest(key, byKey.keySet());
    }
}
