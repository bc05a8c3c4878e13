package dev.gpuwarden.checks.settings;

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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The limits of the checks, and the user's file that overrides some of them. */
public final class LimitOptions {

    @Option(
            names = "--check.limits",
            paramLabel = "FILE",
            description = "YAML file with limits that checks use instead of their own: NAME: NUMBER for every board,"
                    + " or under the beginning of a product name for that board.")
    @Nullable Path file;

    private static final String NCCL_BANDWIDTH = "--check.nccl-bandwidth";

    @Option(
            names = NCCL_BANDWIDTH,
            paramLabel = "RATE",
            converter = RateConverter.class,
            description =
                    "Least bus bandwidth of an all-reduce in the check nccl-loopback, for example 150GB/s; 0.1GB/s to"
                            + " 10000GB/s (default: by board, else 10GB/s, or 5GB/s where no NVLink is up).")
    @Nullable Double ncclBandwidth;

    /** Gigabytes (1e9) a second, with the unit. */
    static final class RateConverter implements ITypeConverter<Double> {

        private static final Pattern RATE = Pattern.compile("(\\d{1,5}(?:\\.\\d{1,6})?)GB/s");
        private static final double LEAST = 0.1;
        private static final double MOST = 10_000;

        @Override
        public Double convert(String text) {
            Matcher rate = RATE.matcher(text);
            double value = rate.matches() ? Double.parseDouble(rate.group(1)) : 0;
            if (value < LEAST || value > MOST) {
                throw new TypeConversionException("expected 0.1GB/s to 10000GB/s, but was '" + text + "'");
            }
            return value;
        }
    }

    /** @throws UserError that names every error in the user's file with its line */
    public Limits limits() {
        BoardLimits limits = BoardLimits.shipped();
        if (file != null) {
            limits = limits.overriddenBy(read(file, limits.names()));
        }
        return ncclBandwidth == null
                ? limits
                : limits.overriddenBy(List.of(new BoardLimits.Row(
                        BoardLimits.ANY, "nccl_busbw_gigabytes_per_second", ncclBandwidth, NCCL_BANDWIDTH)));
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
