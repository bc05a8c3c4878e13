package dev.gpuwarden.cli;

import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/**
 * A setting: an option whose name holds a dot.
 *
 * @param key the option's name without leading dashes, as the configuration file spells it: "web.listen-address"
 */
record Setting(String key, OptionSpec option) {

    /** Returns the setting of an option; empty where the option is no setting. */
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

    /** Returns the environment variable of this setting. */
    String variable() {
        return SettingSources.PREFIX
                + key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    boolean takesMany() {
        return option.isMultiValue();
    }

    /** Returns whether two options may share this key: both have the same type in the same shape. */
    boolean agreesWith(Setting other) {
        return option.type().equals(other.option.type()) && takesMany() == other.takesMany();
    }

    /** Separator of the values of a setting that takes a list, on the command line and in the environment. */
    static final String SEPARATOR = ",";
}
