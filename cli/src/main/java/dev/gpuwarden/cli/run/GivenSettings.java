package dev.gpuwarden.cli.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The settings of a command that a flag, a variable or the file gives. */
public final class GivenSettings {

    /** Matches addresses. The path of a webhook's address is often its password. */
    private static final Pattern ADDRESS = Pattern.compile("(\\w+://)(?:[^/@]*@)?([^/]*)/.+");

    private GivenSettings() {}

    /**
     * Returns the settings in one line for the log, without possible secrets.
     *
     * @param command parsed with this program's settings
     */
    public static String line(CommandSpec command) {
        List<String> given = given(command);
        return given.isEmpty()
                ? "every setting has its default ('gpuwarden config' shows them)"
                : "settings: " + String.join(" ", given)
                        + "; the others have their defaults ('gpuwarden config' shows them)";
    }

    private static List<String> given(CommandSpec command) {
        List<String> given = new ArrayList<>();
        for (OptionSpec option : command.options()) {
            String name = option.longestName();
            if (name.startsWith("--") && name.indexOf('.') > 0) {
                value(command, option)
                        .map(value -> ADDRESS.matcher(value).replaceFirst("$1$2/…"))
                        .ifPresent(value -> given.add(name.substring(2) + "=" + value));
            }
        }
        return given;
    }

    private static Optional<String> value(CommandSpec command, OptionSpec option) {
        CommandLine line = command.commandLine();
        if (line.getParseResult().hasMatchedOption(option)) {
            return Optional.of(String.join(",", option.originalStringValues()));
        }
        try {
            return Optional.ofNullable(line.getDefaultValueProvider().defaultValue(option))
                    .map(value -> value.replace("$$", "$"));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
