package dev.gpuwarden.cli;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A converter of byte sizes with a unit: `512KiB`, `64MiB`, `2GiB`. */
public final class ByteSizes implements ITypeConverter<Long> {

    private static final Pattern SIZE = Pattern.compile("(\\d{1,9})(B|KiB|MiB|GiB)");
    private static final List<String> UNITS = List.of("B", "KiB", "MiB", "GiB");

    @Override
    public Long convert(String text) {
        return parse(text);
    }

    /** @throws TypeConversionException where the text is no size; a number without a unit is none */
    public static long parse(String text) {
        Matcher size = SIZE.matcher(text);
        if (!size.matches()) {
            throw new TypeConversionException("'" + text + "' is not a size such as 512KiB or 64MiB");
        }
        return Long.parseLong(size.group(1)) << (10 * UNITS.indexOf(size.group(2)));
    }

    /** Returns the shortest text that {@link #parse} reads back. */
    public static String text(long bytes) {
        int unit = bytes == 0 ? 0 : Math.min(UNITS.size() - 1, Long.numberOfTrailingZeros(bytes) / 10);
        return (bytes >> (10 * unit)) + UNITS.get(unit);
    }
}
