package dev.gpuwarden.nccl.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Numbers as C's printf writes them: Java's formatter rounds ties up, and C rounds the exact binary value to even. */
public final class NumberText {

    private NumberText() {}

    /** Returns the text of `%.<digits>f`. */
    static String fixed(double value, int digits) {
        return special(value)
                ? text(value)
                : new BigDecimal(value).setScale(digits, RoundingMode.HALF_EVEN).toPlainString();
    }

    /** Returns the text of `%.<digits>e`. */
    static String scientific(double value, int digits) {
        if (special(value)) {
            return text(value);
        }
        if (value == 0) {
            return fixed(0, digits) + "e+00";
        }
        BigDecimal rounded = new BigDecimal(value).round(new MathContext(digits + 1, RoundingMode.HALF_EVEN));
        int exponent = rounded.precision() - rounded.scale() - 1;
        String mantissa = rounded.movePointLeft(exponent)
                .setScale(digits, RoundingMode.HALF_EVEN)
                .toPlainString();
        return mantissa + "e" + (exponent < 0 ? "-" : "+") + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
    }

    /** Returns the text of `%g`. */
    static String general(double value) {
        if (special(value) || value == 0) {
            return text(value);
        }
        BigDecimal rounded = new BigDecimal(value).round(new MathContext(6, RoundingMode.HALF_EVEN));
        int exponent = rounded.precision() - rounded.scale() - 1;
        if (exponent >= -4 && exponent < 6) {
            return rounded.stripTrailingZeros().toPlainString();
        }
        String text = scientific(value, 5);
        int mark = text.indexOf('e');
        return new BigDecimal(text.substring(0, mark)).stripTrailingZeros().toPlainString() + text.substring(mark);
    }

    /** Returns the text of a column: as many digits as its width permits. */
    static String column(double value, int width) {
        int power = 0;
        for (double bound = 1; value >= bound && power < 20; bound *= 10) {
            power++;
        }
        String text = power < width - 2
                ? fixed(value, 2)
                : power < width - 1
                        ? fixed(value, 1)
                        : power < width + 1 ? fixed(value, 0) : scientific(value, width >= 7 ? 1 : 0);
        return right(text, width);
    }

    static String right(Object value, int width) {
        String text = String.valueOf(value);
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }

    private static boolean special(double value) {
        return Double.isNaN(value) || Double.isInfinite(value);
    }

    private static String text(double value) {
        if (Double.isNaN(value)) {
            return "nan";
        }
        return value == 0 ? "0" : value > 0 ? "inf" : "-inf";
    }
}
