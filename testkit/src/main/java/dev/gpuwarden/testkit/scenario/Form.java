package dev.gpuwarden.testkit.scenario;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** How the value of a key is written. Numbers end up in the unit of the simulator's table. */
public interface Form {

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
            return new Forms.Names(names);
        }
        return switch (name) {
            case "text" -> new Forms.Text();
            case "flag" -> new Forms.Names(FLAGS);
            case "counts" -> new Forms.Counts();
            case "code" -> new Forms.Code();
            case "reasons" -> new Forms.Mask(REASONS);
            case "count" -> new Forms.Quantity("a whole number from 0 on", Map.of("", BigDecimal.ONE), false);
            case "number" -> new Forms.Quantity("a whole number", Map.of("", BigDecimal.ONE), true);
            case "bytes" -> new Forms.Quantity("a size, for example 30GiB", sizes(1), false);
            case "kibibytes" -> new Forms.Quantity("a size, for example 30GiB", sizes(1024), false);
            case "kilobytes" -> new Forms.Quantity("a size, for example 12MB", sizes(1000), false);
            case "watts" -> new Forms.Quantity("power, for example 700W", units("", 1000, "W", 1000, "mW", 1), false);
            case "joules" ->
                new Forms.Quantity(
                        "energy, for example 1500J", units("mJ", 1, "", 1000, "J", 1000, "kJ", 1_000_000), false);
            case "celsius" -> new Forms.Quantity("degrees, for example 91C", units("", 1, "C", 1), true);
            case "megahertz" -> new Forms.Quantity("a frequency, for example 1980MHz", units("", 1, "MHz", 1), false);
            case "percent" -> new Forms.Quantity("a percentage, for example 37%", units("", 1, "%", 1), false);
            case "milli" -> new Forms.Quantity("a number, for example 0.5", units("", 1000), true);
            case "nanoseconds" -> new Forms.Quantity("a time, for example 250ms", times(1), false);
            case "microseconds" -> new Forms.Quantity("a time, for example 250ms", times(1000), false);
            case "version" -> new Forms.Parts("a version, for example 9.0", "(\\d+)\\.(\\d+)", 10, "%d.%d");
            case "range" -> new Forms.Parts("a range, for example 0-55", "(\\d+)-(\\d+)", 10, "%d-%d");
            case "class" ->
                new Forms.Parts(
                        "a PCI class, for example 0x0302", "0x([0-9a-fA-F]{2})([0-9a-fA-F]{2})", 16, "0x%02x%02x");
            case "cuda-version" -> new Forms.CudaVersion();
            case "address" -> new Forms.Address();
            case "instant" -> new Forms.Time();
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
}
