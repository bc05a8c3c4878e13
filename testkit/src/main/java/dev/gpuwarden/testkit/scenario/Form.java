package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.model.PciAddress;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The textual form of a key's value. Numbers are in the unit of the simulator's table. Immutable. */
public final class Form {

    private static final Pattern COUNTS = Pattern.compile("[0-9]{1,9}(\\+[0-9]{1,9})*");
    private static final int LONGEST_PARTS = 20;
    private static final long NANOS = 1_000_000_000;

    private static final Map<String, Long> FLAGS =
            names("yes=1", "no=0", "on=1", "off=0", "true=1", "false=0", "1=1", "0=0");

    /** nvml.h 13.3, nvmlClocksEventReason*. */
    private static final Map<String, Long> REASONS = names(
            "none=0",
            "idle=1",
            "application-clocks=2",
            "sw-power-cap=4",
            "hw-slowdown=8",
            "sync-boost=16",
            "sw-thermal=32",
            "hw-thermal=64",
            "hw-power-brake=128",
            "display=256");

    /** nvml.h 13.3, nvmlReturn_t: its codes from 0 on, and `unknown`. */
    private static final Map<String, Long> RETURN_CODES = returnCodes(
            "success uninitialized invalid-argument not-supported no-permission already-initialized not-found"
                    + " insufficient-size insufficient-power driver-not-loaded timeout irq-issue library-not-found"
                    + " function-not-found corrupted-inforom gpu-lost reset-required operating-system version-mismatch"
                    + " in-use memory no-data vgpu-ecc-not-supported insufficient-resources frequency-not-supported"
                    + " argument-version-mismatch deprecated not-ready gpu-not-found invalid-state");

    private static final Map<String, Form> BY_NAME = Map.ofEntries(
            Map.entry("text", new Form("a text", text -> Optional.of(new Value.Text(text)), n -> {
                throw new IllegalStateException("expected numbers, but this key's values are texts");
            })),
            Map.entry("flag", oneOf(FLAGS)),
            Map.entry("counts", counts()),
            Map.entry("code", code()),
            Map.entry("reasons", mask(REASONS)),
            Map.entry("count", Quantity.form("a whole number from 0 on", Quantity.units("", 1), false)),
            Map.entry("number", Quantity.form("a whole number", Quantity.units("", 1), true)),
            Map.entry("bytes", Quantity.form("a size, for example 30GiB", Quantity.sizes(1), false)),
            Map.entry("kibibytes", Quantity.form("a size, for example 30GiB", Quantity.sizes(1024), false)),
            Map.entry("kilobytes", Quantity.form("a size, for example 12MB", Quantity.sizes(1000), false)),
            Map.entry(
                    "watts",
                    Quantity.form("power, for example 700W", Quantity.units("", 1000, "W", 1000, "mW", 1), false)),
            Map.entry(
                    "joules",
                    Quantity.form(
                            "energy, for example 1500J",
                            Quantity.units("mJ", 1, "", 1000, "J", 1000, "kJ", 1_000_000),
                            false)),
            Map.entry("celsius", Quantity.form("degrees, for example 91C", Quantity.units("", 1, "C", 1), true)),
            Map.entry(
                    "megahertz",
                    Quantity.form("a frequency, for example 1980MHz", Quantity.units("", 1, "MHz", 1), false)),
            Map.entry("percent", Quantity.form("a percentage, for example 37%", Quantity.units("", 1, "%", 1), false)),
            Map.entry("milli", Quantity.form("a number, for example 0.5", Quantity.units("", 1000), true)),
            Map.entry("nanoseconds", Quantity.form("a time, for example 250ms", Quantity.times(1), false)),
            Map.entry("microseconds", Quantity.form("a time, for example 250ms", Quantity.times(1000), false)),
            Map.entry("version", pair("a version, for example 9.0", "(\\d+)\\.(\\d+)", 10, "%d.%d")),
            Map.entry("range", pair("a range, for example 0-55", "(\\d+)-(\\d+)", 10, "%d-%d")),
            Map.entry(
                    "class",
                    pair("a PCI class, for example 0x0302", "0x([0-9a-fA-F]{2})([0-9a-fA-F]{2})", 16, "0x%02x%02x")),
            Map.entry("cuda-version", cudaVersion()),
            Map.entry("nccl-version", ncclVersion()),
            Map.entry("address", address()),
            Map.entry("instant", instant()));

    private final String expected;
    private final Function<String, Optional<Value>> parser;
    private final Function<List<Long>, String> writer;

    Form(String expected, Function<String, Optional<Value>> parser, Function<List<Long>, String> writer) {
        this.expected = expected;
        this.parser = parser;
        this.writer = writer;
    }

    /** @param name from keys.tsv, or `enum:` and names with their numbers as in `down=0,up=1` */
    public static Form of(String name) {
        if (name.startsWith("enum:")) {
            return oneOf(names(name.substring("enum:".length()).split(",")));
        }
        Form form = BY_NAME.get(name);
        if (form == null) {
            throw new IllegalArgumentException("no such form: " + name);
        }
        return form;
    }

    /** Returns the value, or empty where the text is none. "absent" is not a value of any form: its reader handles it. */
    public Optional<Value> parse(String text) {
        try {
            return parser.apply(text);
        } catch (ArithmeticException | DateTimeException beyondLong) {
            return Optional.empty();
        }
    }

    /** Describes the form in messages, as in "expected degrees, for example 91C". */
    public String expected() {
        return expected;
    }

    /** Writes numbers of the table as {@link #parse} reads them. */
    public String write(List<Long> numbers) {
        return writer.apply(numbers);
    }

    /** Returns whether values are texts and not numbers. */
    boolean isText() {
        return equals(BY_NAME.get("text"));
    }

    // ---- the kinds of forms ----

    private static Optional<Value> number(long number) {
        return Optional.of(Value.Numbers.of(number));
    }

    /** Returns the form of one name of several, in upper or lower case. */
    private static Form oneOf(Map<String, Long> names) {
        return new Form(
                "one of " + String.join(", ", names.keySet()),
                text -> Optional.ofNullable(names.get(text.toLowerCase(Locale.ROOT)))
                        .map(n -> Value.Numbers.of(n)),
                numbers -> nameOf(names, numbers.get(0)));
    }

    private static String nameOf(Map<String, Long> names, long number) {
        return names.entrySet().stream()
                .filter(name -> name.getValue() == number)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(Long.toString(number));
    }

    /** Returns the form of whole numbers joined by "+". */
    private static Form counts() {
        return new Form(
                "a whole number, or a list of them",
                text -> COUNTS.matcher(text).matches()
                        ? Optional.of(new Value.Numbers(
                                Stream.of(text.split("\\+")).map(Long::valueOf).toList()))
                        : Optional.empty(),
                numbers -> numbers.stream().map(String::valueOf).collect(Collectors.joining("+")));
    }

    /** Returns the form of names joined by "+", or of the mask as a number. */
    private static Form mask(Map<String, Long> names) {
        long known = names.values().stream().reduce(0L, (a, b) -> a | b);
        return new Form(
                "a mask, or names joined by +: " + String.join(", ", names.keySet()),
                text -> {
                    if (text.matches("0x[0-9a-fA-F]{1,8}|[0-9]{1,9}")) {
                        return number(Long.decode(text));
                    }
                    long mask = 0;
                    for (String name : text.split("\\+")) {
                        Long bit = names.get(name.strip());
                        if (bit == null) {
                            return Optional.empty();
                        }
                        mask |= bit;
                    }
                    return number(mask);
                },
                numbers -> {
                    long mask = numbers.get(0);
                    if (mask == 0 || (mask & ~known) != 0) {
                        return mask == 0 ? "none" : "0x" + Long.toHexString(mask);
                    }
                    return names.entrySet().stream()
                            .filter(name -> (name.getValue() & mask) != 0)
                            .map(Map.Entry::getKey)
                            .collect(Collectors.joining("+"));
                });
    }

    /** Returns the form of an nvmlReturn, by number or name. */
    private static Form code() {
        return new Form(
                "an nvmlReturn, for example 15 or gpu-lost",
                text -> text.matches("[0-9]{1,3}")
                        ? number(Long.parseLong(text))
                        : Optional.ofNullable(RETURN_CODES.get(text)).map(n -> Value.Numbers.of(n)),
                numbers -> nameOf(RETURN_CODES, numbers.get(0)));
    }

    /** Returns the form of two numbers: the groups of a pattern. */
    private static Form pair(String expected, String pattern, int radix, String format) {
        Pattern compiled = Pattern.compile(pattern);
        return new Form(
                expected,
                text -> {
                    Matcher m = compiled.matcher(text);
                    return m.matches() && text.length() < LONGEST_PARTS
                            ? Optional.of(Value.Numbers.of(
                                    Long.parseLong(m.group(1), radix), Long.parseLong(m.group(2), radix)))
                            : Optional.empty();
                },
                numbers -> String.format(Locale.ROOT, format, numbers.toArray()));
    }

    /** Returns the form of a CUDA version: 12.4 is NVML's 12040. */
    private static Form cudaVersion() {
        Pattern version = Pattern.compile("(\\d{1,3})\\.(\\d)");
        return new Form(
                "a CUDA version, for example 12.4",
                text -> {
                    Matcher m = version.matcher(text);
                    return m.matches()
                            ? number(Long.parseLong(m.group(1)) * 1000 + Long.parseLong(m.group(2)) * 10)
                            : Optional.empty();
                },
                numbers -> numbers.get(0) / 1000 + "." + numbers.get(0) % 1000 / 10);
    }

    /** Returns the form of an NCCL version: 2.21.5 is NCCL's 22105. */
    private static Form ncclVersion() {
        Pattern version = Pattern.compile("(\\d)\\.(\\d{1,2})\\.(\\d{1,2})");
        return new Form(
                "an NCCL version, for example 2.21.5",
                text -> {
                    Matcher m = version.matcher(text);
                    return m.matches()
                            ? number(Long.parseLong(m.group(1)) * 10_000
                                    + Long.parseLong(m.group(2)) * 100
                                    + Long.parseLong(m.group(3)))
                            : Optional.empty();
                },
                numbers -> numbers.get(0) / 10_000 + "." + numbers.get(0) % 10_000 / 100 + "." + numbers.get(0) % 100);
    }

    /** Returns the form of a PCI address: domain, bus and device. */
    private static Form address() {
        return new Form(
                "a PCI address of function 0, for example 0000:3b:00.0",
                text -> PciAddress.parse(text)
                        .filter(a -> a.function() == 0)
                        .map(a -> Value.Numbers.of(a.domain(), a.bus(), a.device())),
                n -> new PciAddress(
                                n.get(0).intValue(),
                                n.get(1).intValue(),
                                n.get(2).intValue(),
                                0)
                        .toString());
    }

    /** Returns the form of a time in nanoseconds since 1970; 0 is the real time. */
    private static Form instant() {
        return new Form(
                "a time, for example 2026-01-01T00:00:00Z, or real",
                text -> {
                    if (text.equals("real")) {
                        return number(0);
                    }
                    Instant t = Instant.parse(text);
                    return number(Math.addExact(Math.multiplyExact(t.getEpochSecond(), NANOS), t.getNano()));
                },
                numbers -> {
                    long nanos = numbers.get(0);
                    return nanos == 0
                            ? "real"
                            : Instant.ofEpochSecond(nanos / NANOS, nanos % NANOS)
                                    .toString();
                });
    }

    // ---- names ----

    /** @param pairs name and number, for example `down=0` */
    private static Map<String, Long> names(String... pairs) {
        Map<String, Long> names = new LinkedHashMap<>();
        for (String pair : pairs) {
            String[] parts = pair.split("=");
            names.put(parts[0], Long.parseLong(parts[1]));
        }
        return names;
    }

    private static Map<String, Long> returnCodes(String inOrder) {
        Map<String, Long> codes = new LinkedHashMap<>();
        Arrays.stream(inOrder.split(" ")).forEach(name -> codes.put(name, (long) codes.size()));
        codes.put("unknown", 999L);
        return codes;
    }
}
