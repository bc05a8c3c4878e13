package dev.gpuwarden.cli;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/**
 * One setting: an option whose name holds a dot.
 *
 * @param key the option's name without dashes in front, as the configuration file spells it: "web.listen-address"
 */
record Setting(String key, OptionSpec option) {

    /** The setting behind an option, if it is one. */
    static Optional<Setting> of(OptionSpec option) {
        for (String name : option.names()) {
            if (name.startsWith("--") && name.indexOf('.') > 0) {
                return Optional.of(new Setting(name.substring(2), option));
            }
        }
        return Optional.empty();
    }

    String flag() {
        return "--" + key;
    }

    /** The environment variable that gives its value. */
    String variable() {
        return SettingSources.PREFIX
                + key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    boolean takesMany() {
        return option.isMultiValue();
    }

    /** Whether two options may share this key: the same type in the same shape. */
    boolean agreesWith(Setting other) {
        return option.type().equals(other.option.type()) && takesMany() == other.takesMany();
    }

    /** The text that picocli splits into these values again. */
    String joined(List<String> values) {
        return String.join(SEPARATOR, values);
    }

    /** Between the values of a setting that takes many, on the command line and in the environment. */
    static final String SEPARATOR = ",";
}
