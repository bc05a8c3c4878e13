package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.scenario.Vocabulary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The offsets of the fields of the simulator's table. The simulator's build prints them, so that no offset is written twice. */
public final class SimLayout {

    /** The value of an absent number. */
    public static final long ABSENT = Long.MIN_VALUE;

    /**
     * A field of a struct.
     *
     * @param type "i64", "str" or a struct's name
     * @param bytes of one element
     */
    record Field(String name, int offset, int bytes, String type, int count, long standard) {
        boolean isNumber() {
            return type.equals("i64");
        }

        boolean isText() {
            return type.equals("str");
        }
    }

    /** A field of the table with its offset. */
    record Target(int offset, Field field) {}

    /**
     * A value that a reset of a GPU ends.
     *
     * @param path of a number in the GPU's row; `link[*]` names each of its links
     * @param value afterwards, where the GPU has this number
     */
    record Reset(String path, long value) {}

    private static final Pattern PART = Pattern.compile("(\\w+)(?:\\[(\\d+)])?");

    private final Map<String, Map<String, Field>> structs = new LinkedHashMap<>();
    private final Map<String, Integer> sizes = new LinkedHashMap<>();
    private final Map<String, Long> constants = new LinkedHashMap<>();
    private final Map<String, Integer> functions = new LinkedHashMap<>();

    private final List<Reset> resets = new ArrayList<>();

    private SimLayout() {}

    /** Reads the output of `sim-layout`. */
    public static SimLayout read(Path tsv) {
        SimLayout layout = new SimLayout();
        Unchecked.run(() -> {
            for (String line : Files.readAllLines(tsv)) {
                if (!line.startsWith("#")) {
                    layout.add(line.split("\t", -1));
                }
            }
        });
        return layout;
    }

    private void add(String[] c) {
        switch (c[0]) {
            case "const" -> constants.put(c[1], Long.parseLong(c[2]));
            case "function" -> functions.put(c[1], Integer.parseInt(c[2]));
            case "reset" -> resets.add(new Reset(c[1], Long.parseLong(c[2])));
            case "size" -> sizes.put(c[1], Integer.parseInt(c[3]));
            default -> {
                long standard = c[6].isEmpty() ? 0 : Long.parseLong(c[6]);
                Field field = new Field(
                        c[1], Integer.parseInt(c[2]), Integer.parseInt(c[3]), c[4], Integer.parseInt(c[5]), standard);
                structs.computeIfAbsent(c[0], k -> new LinkedHashMap<>()).put(c[1], field);
            }
        }
    }

    /** Returns what a reset of a GPU changes. */
    List<Reset> resets() {
        return resets;
    }

    int tableBytes() {
        return Optional.ofNullable(sizes.get("table")).orElseThrow();
    }

    /** Returns the fields of a struct, by name. */
    Map<String, Field> fields(String struct) {
        return Optional.ofNullable(structs.get(struct))
                .orElseThrow(() -> new IllegalArgumentException("the table has no struct " + struct));
    }

    public long constant(String name) {
        return Optional.ofNullable(constants.get(name))
                .orElseThrow(() -> new IllegalArgumentException("the table has no constant " + name));
    }

    public int function(String name) {
        return Optional.ofNullable(functions.get(name))
                .orElseThrow(() -> new IllegalArgumentException("the simulator has no function " + name));
    }

    /** Returns the names that scenarios may use. */
    public Vocabulary vocabulary() {
        TreeSet<String> lies = constants.keySet().stream()
                .filter(name -> name.startsWith("LIE_"))
                .map(SimLayout::lieName)
                .collect(Collectors.toCollection(TreeSet::new));
        return new Vocabulary(functions.keySet(), lies);
    }

    private static String lieName(String constant) {
        return constant.substring("LIE_".length()).toLowerCase(Locale.ROOT).replace('_', '-');
    }

    long lie(String name) {
        return constant("LIE_" + name.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** Finds a field by its path, for example "gpu[3].link[5].state". */
    Target find(String path) {
        String struct = "table";
        int offset = 0;
        Field field = null;
        for (String part : path.split("\\.")) {
            Matcher m = PART.matcher(part);
            if (!m.matches()) {
                throw new IllegalArgumentException("no path of the table: " + path);
            }
            field = fields(struct).get(m.group(1));
            int index = m.group(2) == null ? 0 : Integer.parseInt(m.group(2));
            if (field == null || index >= field.count()) {
                throw new IllegalArgumentException("the table has no " + part + " in " + path);
            }
            offset += field.offset() + index * field.bytes();
            struct = field.type();
        }
        if (field == null) {
            throw new IllegalArgumentException("no path of the table: " + path);
        }
        return new Target(offset, field);
    }
}
