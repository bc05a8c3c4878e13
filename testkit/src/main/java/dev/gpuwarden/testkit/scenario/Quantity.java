package dev.gpuwarden.testkit.scenario;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Forms of numbers with units. A unit is kept as the number of units of the simulator's table; "" is no unit. */
final class Quantity {

    private static final Pattern NUMBER = Pattern.compile("(-?[0-9]+(?:\\.[0-9]+)?) ?([A-Za-z%]*)");

    private Quantity() {}

    /** A number with an optional unit; a plus before it adds to the present value. */
    static Form form(String expected, Map<String, BigDecimal> units, boolean signed) {
        boolean whole = units.size() == 1 && BigDecimal.ONE.equals(units.get(""));
        Function<String, Optional<Long>> parse = text -> {
            if (text.matches("0x[0-9a-fA-F]{1,16}") && units.containsKey("")) {
                return Optional.of(Long.parseUnsignedLong(text.substring(2), 16));
            }
            Matcher m = NUMBER.matcher(text);
            if (!m.matches() || !units.containsKey(m.group(2)) || (!signed && text.startsWith("-"))) {
                return Optional.empty();
            }
            BigDecimal number = new BigDecimal(m.group(1)).multiply(units.get(m.group(2)));
            return whole && number.stripTrailingZeros().scale() > 0
                    ? Optional.empty()
                    : Optional.of(number.setScale(0, RoundingMode.HALF_UP).longValueExact());
        };
        return new Form(
                expected,
                text -> text.startsWith("+")
                        ? parse.apply(text.substring(1)).map(Value.Added::new)
                        : parse.apply(text).map(n -> Value.Numbers.of(n)),
                numbers -> {
                    BigDecimal number = BigDecimal.valueOf(numbers.get(0));
                    return units.entrySet().stream()
                            .filter(unit -> unit.getValue().compareTo(BigDecimal.ONE) == 0)
                            .map(Map.Entry::getKey)
                            .max(Comparator.comparingInt(String::length))
                            .map(unit -> number + unit)
                            .orElseGet(() -> number.divide(units.getOrDefault("", BigDecimal.ONE))
                                    .toPlainString());
                });
    }

    /** @param pairs a unit and its size in units of the table */
    static Map<String, BigDecimal> units(Object... pairs) {
        Map<String, BigDecimal> units = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            units.put((String) pairs[i], BigDecimal.valueOf((Integer) pairs[i + 1]));
        }
        return units;
    }

    /** @param unit of the table, in bytes */
    static Map<String, BigDecimal> sizes(int unit) {
        Map<String, BigDecimal> units = new LinkedHashMap<>();
        String prefixes = " KMGT";
        for (int i = 0; i < prefixes.length(); i++) {
            String prefix = prefixes.substring(i, i + 1).strip();
            units.put(prefix + "B", scaled(BigDecimal.valueOf(1000).pow(i), unit));
            if (i > 0) {
                units.put(prefix + "iB", scaled(BigDecimal.valueOf(1024).pow(i), unit));
            }
        }
        units.put("", scaled(BigDecimal.ONE, unit));
        return units;
    }

    /** @param nanosecondsPerUnit unit of the table */
    static Map<String, BigDecimal> times(int nanosecondsPerUnit) {
        Map<String, BigDecimal> units = new LinkedHashMap<>();
        units.put("", BigDecimal.ONE);
        int exponent = 0;
        for (String name : List.of("ns", "us", "ms", "s")) {
            units.put(name, scaled(BigDecimal.TEN.pow(exponent), nanosecondsPerUnit));
            exponent += 3;
        }
        return units;
    }

    private static BigDecimal scaled(BigDecimal number, int unit) {
        return number.divide(BigDecimal.valueOf(unit), 9, RoundingMode.HALF_UP);
    }
}
