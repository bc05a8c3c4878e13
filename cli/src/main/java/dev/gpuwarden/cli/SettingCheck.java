package dev.gpuwarden.cli;

import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** A check by picocli whether an option accepts a value, without the command that has the option. */
final class SettingCheck {

    private SettingCheck() {}

    /** Returns the problem with these values, with the name of the setting; empty where there is none. */
    static Optional<String> problem(Setting setting, List<String> values) {
        for (String value : values) {
            if (setting.takesMany() && value.contains(Setting.SEPARATOR)) {
                return Optional.of(setting.key() + ": a value of a list must not contain '" + Setting.SEPARATOR + "'");
            }
            if (isBoolean(setting.option()) && !value.equals("true") && !value.equals("false")) {
                return Optional.of(setting.key() + ": expected true or false, found '" + Table.escape(value) + "'");
            }
            Optional<String> problem = tryOne(setting, value);
            if (problem.isPresent()) {
                return problem;
            }
        }
        return Optional.empty();
    }

    private static Optional<String> tryOne(Setting setting, String value) {
        try {
            OptionSpec option = detached(setting.option());
            Program.parserOf(CommandSpec.create().addOption(option)).parseArgs(setting.flag() + "=" + value);
            return ValueRange.problem(option).map(problem -> setting.key() + problem);
        } catch (ParameterException e) {
            // picocli names the option as on the command line; the reader of a file searches for the key.
            return Optional.of(Table.escape(String.valueOf(e.getMessage())
                    .replace("option '" + setting.flag() + "'", setting.key())
                    .replace(
                            "for " + setting.key() + " (<" + setting.option().paramLabel() + ">)",
                            "for " + setting.key())));
        }
    }

    /** Returns a copy of the option that stores its value nowhere. */
    static OptionSpec detached(OptionSpec option) {
        Object[] box = new Object[1];
        return OptionSpec.builder(option)
                .required(false)
                .defaultValue(null)
                .hasInitialValue(false)
                .getter(new CommandLine.Model.IGetter() {
                    @SuppressWarnings("unchecked")
                    @Override
                    public <T> T get() {
                        return (T) box[0];
                    }
                })
                .setter(new CommandLine.Model.ISetter() {
                    @SuppressWarnings("unchecked")
                    @Override
                    public <T> T set(T value) {
                        T old = (T) box[0];
                        box[0] = value;
                        return old;
                    }
                })
                .build();
    }

    private static boolean isBoolean(OptionSpec option) {
        return option.type() == boolean.class || option.type() == Boolean.class;
    }
}
