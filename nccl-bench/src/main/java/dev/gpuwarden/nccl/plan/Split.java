package dev.gpuwarden.nccl.plan;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rule that gives each number a color, as NCCL_TESTS_SPLIT and NCCL_TESTS_SPLIT_MASK state it. Ranks of one color are one group.
 *
 * @param number above 0 for MOD and DIV
 */
public record Split(Operator operator, int number) {

    private static final String RULE = "NCCL_TESTS_SPLIT";
    private static final String MASK = "NCCL_TESTS_SPLIT_MASK";

    private static final Pattern FORM = Pattern.compile("(?i)(AND|&|OR|\\||MOD|%|DIV|/)\\s*(0x|0b|0)?([0-9a-f]*)");

    private static final Pattern MASK_FORM = Pattern.compile("\\s*(?:0[xX])?([0-9a-fA-F]+)");

    /** The operators, in the order of nccl-tests. */
    public enum Operator {
        AND,
        OR,
        MOD,
        DIV
    }

    /**
     * Returns the rule of the environment; the mask comes before the other variable.
     *
     * @throws IllegalArgumentException with the mistake in words. nccl-tests makes one group of all ranks then.
     */
    public static Optional<Split> of(Map<String, String> environment) {
        if (environment.containsKey(MASK)) {
            String text = environment.get(MASK);
            Matcher form = MASK_FORM.matcher(text);
            return Optional.of(new Split(
                    Operator.AND,
                    number(form.matches() ? form.group(1) : "", 16)
                            .orElseThrow(() -> wrong(MASK, text, "must be a hexadecimal number such as 0x7"))));
        }
        return Optional.ofNullable(environment.get(RULE)).map(Split::rule);
    }

    private static Split rule(String text) {
        Matcher form = FORM.matcher(text);
        Optional<Integer> number = form.matches() ? number(form) : Optional.empty();
        if (number.isEmpty()) {
            throw wrong(RULE, text, "must be AND, OR, MOD or DIV with a number, such as MOD 2 or AND 0x7");
        }
        Operator operator = switch (form.group(1).toUpperCase(Locale.ROOT)) {
            case "AND", "&" -> Operator.AND;
            case "OR", "|" -> Operator.OR;
            case "MOD", "%" -> Operator.MOD;
            default -> Operator.DIV;
        };
        if (number.get() == 0 && (operator == Operator.MOD || operator == Operator.DIV)) {
            throw wrong(RULE, text, "divides by 0; the number must be above 0");
        }
        return new Split(operator, number.get());
    }

    /** Reads a number like strtoul of C with base 0, and 0b for base 2. */
    private static Optional<Integer> number(Matcher form) {
        String prefix = String.valueOf(form.group(2)).toLowerCase(Locale.ROOT);
        String digits = form.group(3);
        return switch (prefix) {
            case "0x" -> number(digits, 16);
            case "0b" -> number(digits, 2);
            case "0" -> number("0" + digits, 8);
            default -> number(digits, 10);
        };
    }

    private static Optional<Integer> number(String digits, int base) {
        try {
            return Optional.of(Integer.parseInt(digits, base));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static IllegalArgumentException wrong(String variable, String text, String why) {
        return new IllegalArgumentException(variable + " " + why + ", but was '" + text + "'");
    }

    /** Returns the color of a rank, or of a process. */
    public int color(int of) {
        return switch (operator) {
            case AND -> of & number;
            case OR -> of | number;
            case MOD -> of % number;
            case DIV -> of / number;
        };
    }
}
