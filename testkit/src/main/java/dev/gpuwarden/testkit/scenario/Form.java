package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.model.PciAddress;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** How the value of a key is written. Numbers end up in the unit of the simulator's table. */
public sealed interface Form {

    /** The value, or empty when the text is no such value. Never sees "absent", which every form allows. */
    Optional<Value> parse(String text);

    /** What a message says was expected. */
    String expected();

    /** Numbers of the table as {@link #parse} reads them. */
    String write(List<Long> numbers);

    static Form of(String name) {
        if (name.startsWith("enum:")) {
            Map<String, Long> names = new LinkedHashMap<>();
            for (String pair : name.substring("enum:".length()).split(",")) {
                String[] parts = pair.split("=");
                names.put(parts[0], Long.parseLong(parts[1]));
            }
            return new Names(names);
        }
        return switch (name) {
            case "text" -> new Text();
            case "flag" -> new Names(FLAGS);
            case "code" -> new Code();
            case "reasons" -> new Mask(REASONS);
            case "count" -> new Quantity("a whole number from 0 on", Map.of("", BigDecimal.ONE), false);
            case "number" -> new Quantity("a whole number", Map.of("", BigDecimal.ONE), true);
            case "bytes" -> new Quantity("a size, for example 30GiB", sizes(1), false);
            case "kibibytes" -> new Quantity("a size, for example 30GiB", sizes(1024), false);
            case "kilobytes" -> new Quantity("a size, for example 12MB", sizes(1000), false);
            case "watts" -> new Quantity("power, for example 700W", units("", 1000, "W", 1000, "mW", 1), false);
            case "joules" ->
                new Quantity("energy, for example 1500J", units("mJ", 1, "", 1000, "J", 1000, "kJ", 1_000_000), false);
            case "celsius" -> new Quantity("degrees, for example 91C", units("", 1, "C", 1), true);
            case "megahertz" -> new Quantity("a frequency, for example 1980MHz", units("", 1, "MHz", 1), false);
            case "percent" -> new Quantity("a percentage, for example 37%", units("", 1, "%", 1), false);
            case "milli" -> new Quantity("a number, for example 0.5", units("", 1000), true);
            case "nanoseconds" -> new Quantity("a time, for example 250ms", times(1), false);
            case "microseconds" -> new Quantity("a time, for example 250ms", times(1000), false);
            case "version" -> new Parts("a version, for example 9.0", "(\\d+)\\.(\\d+)", 10, "%d.%d");
            case "range" -> new Parts("a range, for example 0-55", "(\\d+)-(\\d+)", 10, "%d-%d");
            case "class" -> new Parts("a PCI class, for example 0x0302", "0x([0-9a-fA-F]{2})([0-9a-fA-F]{2})", 16, "0x%02x%02x");
            case "cuda-version" -> new CudaVersion();
            case "address" -> new Address();
            case "instant" -> new Time();
            default -> throw new IllegalArgumentException("no such form: " + name);
        };
    }

    Map<String, Long> FLAGS = ordered("yes", 1, "no", 0, "on", 1, "off", 0, "true", 1, "false", 0, "1", 1, "0", 0);

    /** nvml.h 13.3, nvmlClocksEventReason*. */
    Map<String, Long> REASONS = ordered(
            "none",
            0,
            "idle",
            1,
            "application-clocks",
            2,
            "sw-power-cap",
            4,
            "hw-slowdown",
            8,
            "sync-boost",
            0x10,
            "sw-thermal",
            0x20,
            "hw-thermal",
            0x40,
            "hw-power-brake",
            0x80,
            "display",
            0x100);

    private static Map<String, Long> ordered(Object... pairs) {
        Map<String, Long> map = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put((String) pairs[i], ((Integer) pairs[i + 1]).longValue());
        }
        return map;
    }

    private static Map<String, BigDecimal> units(Object... pairs) {
        return ordered(pairs).entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, e -> BigDecimal.valueOf(e.getValue())));
    }

    private static Map<String, BigDecimal> sizes(int unit) {
        Map<String, BigDecimal> units = new LinkedHashMap<>();
        String[] prefixes = {"", "K", "M", "G", "T"};
        for (int i = 0; i < prefixes.length; i++) {
            BigDecimal decimal = BigDecimal.valueOf(1000).pow(i);
            units.put(prefixes[i] + "B", decimal.divide(BigDecimal.valueOf(unit), 9, java.math.RoundingMode.HALF_UP));
            if (i > 0) {
                BigDecimal binary = BigDecimal.valueOf(1024).pow(i);
                units.put(
                        prefixes[i] + "iB", binary.divide(BigDecimal.valueOf(unit), 9, java.math.RoundingMode.HALF_UP));
            }
        }
        units.put("", units.get("B"));
        return units;
    }

    private static Map<String, BigDecimal> times(int nanosecondsPerUnit) {
        Map<String, BigDecimal> units = new LinkedHashMap<>();
        units.put("", BigDecimal.ONE);
        units.put("ns", BigDecimal.ONE.divide(BigDecimal.valueOf(nanosecondsPerUnit)));
        units.put("us", BigDecimal.valueOf(1000L).divide(BigDecimal.valueOf(nanosecondsPerUnit)));
        units.put("ms", BigDecimal.valueOf(1_000_000L).divide(BigDecimal.valueOf(nanosecondsPerUnit)));
        units.put("s", BigDecimal.valueOf(1_000_000_000L).divide(BigDecimal.valueOf(nanosecondsPerUnit)));
        return units;
    }

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

    /** A number with an optional unit. */
    record Quantity(String expected, Map<String, BigDecimal> units, boolean signed) implements Form {
        private static final Pattern NUMBER = Pattern.compile("(-?[0-9]+(?:\\.[0-9]+)?) ?([A-Za-z%]*)");

        @Override
        public Optional<Value> parse(String text) {
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
                    .orElseGet(() -> number.divide(units.getOrDefault("", BigDecimal.ONE)).toPlainString());
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
            return new PciAddress(n.get(0).intValue(), n.get(1).intValue(), n.get(2).intValue(), 0).toString();
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
            return nanos == 0 ? "real" : Instant.ofEpochSecond(nanos / 1_000_000_000, nanos % 1_000_000_000).toString();
        }
    }
}
