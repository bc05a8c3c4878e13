package dev.gpuwarden.watchdog.budget;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Text;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A quantity of Kubernetes, with the exact value that the API server gives to its text: a number with a decimal suffix (n to E), a
 * binary suffix (Ki to Ei) or a decimal exponent. The corpus of the test comes from the API server's own code.
 *
 * @param text as it was written
 * @param value exact, but rounded away from zero to 10⁻⁹, as there
 */
public record Quantity(String text, BigDecimal value) {

    /** The API server has no limit here; a longer text is no amount of memory. */
    private static final int LONGEST_TEXT = 256;

    /** For larger exponents the API server wraps around, or does not end. */
    private static final int LONGEST_EXPONENT = 6;

    private static final int NANO = 9;
    private static final BigDecimal SMALLEST = BigDecimal.ONE.movePointLeft(NANO);
    private static final BigDecimal LARGEST_BINARY = BigDecimal.valueOf(Long.MAX_VALUE);
    private static final long MIB = 1L << 20;

    private static final Pattern FORM = Pattern.compile(
            "(?<sign>[+-]?)(?<whole>[0-9]*)(\\.(?<part>[0-9]*))?(?<suffix>[a-zA-Z]*)(?<exponent>[+-]?[0-9]+)?");

    private static final Map<String, Integer> DECIMAL =
            Map.of("", 0, "n", -9, "u", -6, "m", -3, "k", 3, "M", 6, "G", 9, "T", 12, "P", 15, "E", 18);
    private static final Map<String, Integer> BINARY =
            Map.of("Ki", 10, "Mi", 20, "Gi", 30, "Ti", 40, "Pi", 50, "Ei", 60);

    /**
     * Returns the quantity that the API server reads from this text.
     *
     * @throws IllegalArgumentException with expected and seen, where it reads none; also for an exponent beyond six digits
     */
    public static Quantity parse(String text) {
        Matcher form = FORM.matcher(text.length() > LONGEST_TEXT ? "?" : text);
        if (text.isEmpty() || !form.matches()) {
            throw noQuantity(text);
        }
        String part = form.group("part") == null ? "" : form.group("part");
        String digits = form.group("whole") + part;
        String suffix = form.group("suffix");
        Integer binary = form.group("exponent") == null ? BINARY.get(suffix) : null;
        int exponent = binary == null ? decimalExponent(text, suffix, form.group("exponent")) : 0;
        // The API server's fast path reads a number without digits as 0; these suffixes do not take that path.
        if (digits.isEmpty() && (binary == null ? exponent < -NANO : binary >= 50)) {
            throw noQuantity(text);
        }
        BigDecimal value = new BigDecimal(new BigInteger("0" + digits), part.length() - exponent);
        value = roundedUp(binary == null ? value : value.multiply(new BigDecimal(BigInteger.ONE.shiftLeft(binary))));
        value = binary == null ? value : value.min(LARGEST_BINARY);
        return new Quantity(text, form.group("sign").equals("-") ? value.negate() : value);
    }

    private static int decimalExponent(String text, String suffix, String exponent) {
        Integer decimal = exponent == null ? DECIMAL.get(suffix) : null;
        if (decimal != null) {
            return decimal;
        }
        if (exponent == null || !suffix.equalsIgnoreCase("e")) {
            throw noQuantity(text);
        }
        String size = exponent.replaceFirst("[+-]?0*", "");
        if (size.length() > LONGEST_EXPONENT) {
            throw new IllegalArgumentException(
                    "expected an exponent of at most " + LONGEST_EXPONENT + " digits, seen " + shown(text));
        }
        int magnitude = size.isEmpty() ? 0 : Integer.parseInt(size);
        return exponent.startsWith("-") ? -magnitude : magnitude;
    }

    private static BigDecimal roundedUp(BigDecimal value) {
        if (value.signum() == 0) {
            return BigDecimal.ZERO;
        }
        boolean tiny = (long) value.precision() - value.scale() <= -NANO;
        return tiny ? SMALLEST : value.scale() > NANO ? value.setScale(NANO, RoundingMode.UP) : value;
    }

    /**
     * Returns the value as the API server demands it of an extended resource.
     *
     * @throws IllegalArgumentException with expected and seen, for a fraction, a negative or an immense number
     */
    public long wholeNumber() {
        // An exponent of six digits would otherwise become a number with as many.
        boolean immense = (long) value.precision() - value.scale() > 19;
        if (value.signum() < 0 || immense || value.stripTrailingZeros().scale() > 0) {
            throw new IllegalArgumentException("expected a whole number of at least 0, seen " + shown(text));
        }
        return fitting(value.toBigIntegerExact());
    }

    /**
     * Returns bytes, where the text is a number of MiB, as in the extended resource: {@code 5k} is 5000 MiB.
     *
     * @throws IllegalArgumentException with expected and seen, where it is no such number
     */
    public long bytesOfMebibytes() {
        return fitting(BigInteger.valueOf(wholeNumber()).multiply(BigInteger.valueOf(MIB)));
    }

    /** Returns bytes, where the text is a number of MiB; absent with expected and seen where it is none. */
    public static Reading<Long> mebibytes(String text) {
        try {
            return Reading.of(parse(text).bytesOfMebibytes());
        } catch (IllegalArgumentException e) {
            return Reading.absent(Absence.IMPLAUSIBLE, 0, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Returns bytes, where the text is a size with its unit, as in {@code 3000Mi} or {@code 5G}.
     *
     * @throws IllegalArgumentException with expected and seen, for a number without a unit, and for what is no size
     */
    public long bytes() {
        String unit = text.replaceFirst("^[-+.0-9]*", "");
        boolean size = BINARY.containsKey(unit) || DECIMAL.getOrDefault(unit, 0) > 0;
        if (!size) {
            throw new IllegalArgumentException(
                    "expected a size with its unit, such as 3000Mi or 5G, seen " + shown(text));
        }
        return wholeNumber();
    }

    private long fitting(BigInteger number) {
        if (number.bitLength() >= Long.SIZE) {
            throw new IllegalArgumentException("expected less memory than 2^63 bytes, seen " + shown(text));
        }
        return number.longValue();
    }

    private static IllegalArgumentException noQuantity(String text) {
        return new IllegalArgumentException(
                "expected a quantity of Kubernetes, such as 3000, 5k or 4Gi, seen " + shown(text));
    }

    private static String shown(String text) {
        String printable = text.replaceAll("\\p{Cntrl}", "?");
        return "'" + Text.truncate(printable, 41) + "'";
    }
}
