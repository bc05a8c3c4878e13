package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.model.PciAddress;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The forms in which values are written. */
final class Forms {

    private Forms() {}

    /** Any text. */
    record Text() implements Form {
        @Override
        public Optional<Value> parse(String text) {
            return Optional.of(new Value.Text(text));
        }

        @Override
        public String expected() {
            return "a text";
        }

        @Override
        public String write(List<Long> numbers) {
            throw new IllegalStateException("a text is no number");
        }
    }

    /** A number with an optional unit; a plus before it means so much more than now. */
    record Quantity(String expected, Map<String, BigDecimal> units, boolean signed) implements Form {
        private static final Pattern NUMBER = Pattern.compile("(-?[0-9]+(?:\\.[0-9]+)?) ?([A-Za-z%]*)");

        @Override
        public Optional<Value> parse(String text) {
            return text.startsWith("+")
                    ? number(text.substring(1))
                            .map(value -> new Value.Added(
                                    ((Value.Numbers) value).numbers().get(0)))
                    : number(text);
        }

        private Optional<Value> number(String text) {
            try {
                if (text.matches("0x[0-9a-fA-F]{1,16}") && units.containsKey("")) {
                    return Optional.of(Value.Numbers.of(Long.parseUnsignedLong(text.substring(2), 16)));
                }
                Matcher m = NUMBER.matcher(text);
                if (!m.matches() || !units.containsKey(m.group(2)) || (!signed && text.startsWith("-"))) {
                    return Optional.empty();
                }
                BigDecimal number = new BigDecimal(m.group(1)).multiply(units.get(m.group(2)));
                boolean whole = units.size() == 1 && BigDecimal.ONE.equals(units.get(""));
                if (whole && number.stripTrailingZeros().scale() > 0) {
                    return Optional.empty();
                }
                return Optional.of(Value.Numbers.of(
                        number.setScale(0, java.math.RoundingMode.HALF_UP).longValueExact()));
            } catch (ArithmeticException beyondLong) {
                return Optional.empty();
            }
        }

        @Override
        public String write(List<Long> numbers) {
            BigDecimal number = BigDecimal.valueOf(numbers.get(0));
            return units.entrySet().stream()
                    .filter(unit -> unit.getValue().compareTo(BigDecimal.ONE) == 0)
                    .map(Map.Entry::getKey)
                    .max(java.util.Comparator.comparingInt(String::length))
                    .map(unit -> number + unit)
                    .orElseGet(() -> number.divide(units.getOrDefault("", BigDecimal.ONE))
                            .toPlainString());
        }
    }

    /** One of a few names. */
    record Names(Map<String, Long> names) implements Form {
        @Override
        public Optional<Value> parse(String text) {
            return Optional.ofNullable(names.get(text.toLowerCase(Locale.ROOT))).map(n -> Value.Numbers.of(n));
        }

        @Override
        public String expected() {
            return "one of " + String.join(", ", names.keySet());
        }

        @Override
        public String write(List<Long> numbers) {
            return names.entrySet().stream()
                    .filter(name -> name.getValue().equals(numbers.get(0)))
                    .map(Map.Entry::getKey)
                    .findFirst()
                    .orElse(numbers.get(0).toString());
        }
    }

    /** Whole numbers, several joined by "+". */
    record Counts() implements Form {
        private static final Pattern COUNTS = Pattern.compile("[0-9]{1,9}(\\+[0-9]{1,9})*");

        @Override
        public Optional<Value> parse(String text) {
            return COUNTS.matcher(text).matches()
                    ? Optional.of(new Value.Numbers(
                            Stream.of(text.split("\\+")).map(Long::valueOf).toList()))
                    : Optional.empty();
        }

        @Override
        public String expected() {
            return "a whole number, or a list of them";
        }

        @Override
        public String write(List<Long> numbers) {
            return numbers.stream().map(String::valueOf).collect(Collectors.joining("+"));
        }
    }

    /** Names joined by "+", or the mask as a number. */
    record Mask(Map<String, Long> names) implements Form {
        @Override
        public Optional<Value> parse(String text) {
            if (text.matches("0x[0-9a-fA-F]{1,8}|[0-9]{1,9}")) {
                return Optional.of(Value.Numbers.of(Long.decode(text)));
            }
            long mask = 0;
            for (String name : text.split("\\+")) {
                Long bit = names.get(name.strip());
                if (bit == null) {
                    return Optional.empty();
                }
                mask |= bit;
            }
            return Optional.of(Value.Numbers.of(mask));
        }

        @Override
        public String expected() {
            return "a mask, or names joined by +: " + String.join(", ", names.keySet());
        }

        @Override
        public String write(List<Long> numbers) {
            long mask = numbers.get(0);
            long known = names.values().stream().reduce(0L, (a, b) -> a | b);
            if (mask == 0 || (mask & ~known) != 0) {
                return mask == 0 ? "none" : "0x" + Long.toHexString(mask);
            }
            return names.entrySet().stream()
                    .filter(name -> (name.getValue() & mask) != 0)
                    .map(Map.Entry::getKey)
                    .collect(Collectors.joining("+"));
        }
    }

    /** An nvmlReturn, by number or name. */
    record Code() implements Form {
        @Override
        public Optional<Value> parse(String text) {
            if (text.matches("[0-9]{1,3}")) {
                return Optional.of(Value.Numbers.of(Long.parseLong(text)));
            }
            return Optional.ofNullable(ReturnCodes.BY_NAME.get(text)).map(c -> Value.Numbers.of(c));
        }

        @Override
        public String expected() {
            return "an nvmlReturn, for example 15 or gpu-lost";
        }

        @Override
        public String write(List<Long> numbers) {
            return ReturnCodes.name(numbers.get(0));
        }
    }

    /** Two numbers of a pattern's groups. */
    record Parts(String expected, String pattern, int radix, String written) implements Form {
        @Override
        public Optional<Value> parse(String text) {
            Matcher m = Pattern.compile(pattern).matcher(text);
            return m.matches() && text.length() < 20
                    ? Optional.of(
                            Value.Numbers.of(Long.parseLong(m.group(1), radix), Long.parseLong(m.group(2), radix)))
                    : Optional.empty();
        }

        @Override
        public String write(List<Long> numbers) {
            return String.format(Locale.ROOT, written, numbers.toArray());
        }
    }

    /** 12.4 as NVML writes it: 12040. */
    record CudaVersion() implements Form {
        @Override
        public Optional<Value> parse(String text) {
            Matcher m = Pattern.compile("(\\d{1,3})\\.(\\d)").matcher(text);
            return m.matches()
                    ? Optional.of(Value.Numbers.of(Long.parseLong(m.group(1)) * 1000 + Long.parseLong(m.group(2)) * 10))
                    : Optional.empty();
        }

        @Override
        public String expected() {
            return "a CUDA version, for example 12.4";
        }

        @Override
        public String write(List<Long> numbers) {
            return numbers.get(0) / 1000 + "." + numbers.get(0) % 1000 / 10;
        }
    }

    /** Domain, bus, device. */
    record Address() implements Form {
        @Override
        public Optional<Value> parse(String text) {
            return PciAddress.parse(text)
                    .filter(a -> a.function() == 0)
                    .map(a -> new Value.Numbers(List.of((long) a.domain(), (long) a.bus(), (long) a.device())));
        }

        @Override
        public String expected() {
            return "a PCI address of function 0, for example 0000:3b:00.0";
        }

        @Override
        public String write(List<Long> n) {
            return new PciAddress(
                            n.get(0).intValue(), n.get(1).intValue(), n.get(2).intValue(), 0)
                    .toString();
        }
    }

    /** Nanoseconds since 1970. */
    record Time() implements Form {
        @Override
        public Optional<Value> parse(String text) {
            if (text.equals("real")) {
                return Optional.of(Value.Numbers.of(0));
            }
            try {
                Instant t = Instant.parse(text);
                return Optional.of(Value.Numbers.of(
                        Math.addExact(Math.multiplyExact(t.getEpochSecond(), 1_000_000_000L), t.getNano())));
            } catch (DateTimeParseException | ArithmeticException notATime) {
                return Optional.empty();
            }
        }

        @Override
        public String expected() {
            return "a time, for example 2026-01-01T00:00:00Z, or real";
        }

        @Override
        public String write(List<Long> numbers) {
            long nanos = numbers.get(0);
            return nanos == 0
                    ? "real"
                    : Instant.ofEpochSecond(nanos / 1_000_000_000, nanos % 1_000_000_000)
                            .toString();
        }
    }
}
