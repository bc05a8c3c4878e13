package dev.gpuwarden.daemon.settings;

import dev.gpuwarden.cli.ConfigFile;
import dev.gpuwarden.cli.Spelling;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.Limits;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The limits of the checks, and the user's file that overrides some of them. */
public final class LimitOptions {

    @Option(
            names = "--check.limits",
            paramLabel = "FILE",
            description = "YAML file with limits that checks use instead of their own: NAME: NUMBER for every board,"
                    + " or under the beginning of a product name for that board.")
    @Nullable Path file;

    /** @throws UserError that names every error in the user's file with its line */
    public Limits limits() {
        BoardLimits shipped = BoardLimits.shipped();
        return file == null ? shipped : shipped.overriddenBy(read(file, shipped.names()));
    }

    static List<BoardLimits.Row> read(Path file, Set<String> names) {
        ConfigFile read = ConfigFile.read(file);
        List<String> problems = new ArrayList<>(read.problems());
        List<BoardLimits.Row> rows = new ArrayList<>();
        for (ConfigFile.Entry entry : read.entries()) {
            String at = file + ":" + entry.line();
            // A product name may contain a dot; the name of a limit never does.
            int dot = entry.key().lastIndexOf('.');
            String name = entry.key().substring(dot + 1);
            Optional<Double> value = number(entry.value());
            if (!names.contains(name)) {
                problems.add(at + ": unknown limit " + name
                        + meant(name, names)
                                .map(known -> ", did you mean " + known + "?")
                                .orElse(""));
            } else if (value.isEmpty()) {
                problems.add(at + ": " + name + ": expected a number, found " + found(entry.value()));
            } else {
                String board = dot < 0 ? BoardLimits.ANY : entry.key().substring(0, dot);
                rows.add(new BoardLimits.Row(board, name, value.get(), at));
            }
        }
        if (!problems.isEmpty()) {
            throw new UserError(String.join("\n", problems));
        }
        return rows;
    }

    /** Returns the nearest name, or for a truncated name, usually without its unit, the name that it begins. */
    private static Optional<String> meant(String name, Set<String> names) {
        return Spelling.nearest(name, names)
                .or(() -> names.stream()
                        .filter(known -> name.length() > 3 && known.startsWith(name))
                        .sorted()
                        .findFirst());
    }

    private static Optional<Double> number(ConfigFile.Value value) {
        if (!(value instanceof ConfigFile.Value.Scalar scalar)) {
            return Optional.empty();
        }
        try {
            // Also accepts "1f" and hexadecimal fractions, which are unlikely mistakes.
            double number = Double.parseDouble(scalar.text());
            return Double.isFinite(number) ? Optional.of(number) : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static String found(ConfigFile.Value value) {
        if (value instanceof ConfigFile.Value.Scalar scalar) {
            return "'" + scalar.text() + "'";
        }
        return value instanceof ConfigFile.Value.Many ? "a list" : "nothing";
    }
}
