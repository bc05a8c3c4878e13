package dev.gpuwarden.nat.nvml;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** NVML's structures, laid out from {@code structs.txt} by the alignment rules of LP64. */
public final class NvmlStructs {

    private static final Map<String, CStruct> ALL = read();

    private NvmlStructs() {}

    public static CStruct of(String name) {
        CStruct struct = ALL.get(name);
        if (struct == null) {
            throw new IllegalArgumentException("structs.txt has no " + name);
        }
        return struct;
    }

    public static Collection<CStruct> all() {
        return ALL.values();
    }

    private static Map<String, CStruct> read() {
        try (InputStream in = Objects.requireNonNull(NvmlStructs.class.getResourceAsStream("structs.txt"));
                BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII))) {
            Map<String, CStruct> known = new LinkedHashMap<>();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.isEmpty() && line.charAt(0) != '#') {
                    CStruct struct = parse(line, known);
                    known.put(struct.name(), struct);
                }
            }
            return known;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static CStruct parse(String line, Map<String, CStruct> known) {
        int same = line.indexOf(" = ");
        if (same > 0) {
            CStruct other = known(line.substring(same + 3), known);
            return new CStruct(line.substring(0, same), List.of(), other.size(), other.alignment());
        }
        int colon = line.indexOf(": ");
        List<CStruct.Field> fields = new ArrayList<>();
        int end = 0;
        int alignment = 1;
        for (String group : line.substring(colon + 2).split("; ")) {
            String[] words = group.split(" ");
            Type type = type(words[0], known);
            alignment = Math.max(alignment, type.alignment);
            if (words.length == 1) {
                end += type.bytes;
            }
            for (int i = 1; i < words.length; i++) {
                int at = aligned(end, type.alignment);
                fields.add(new CStruct.Field(words[i], at, type.bytes));
                end = at + type.bytes;
            }
        }
        return new CStruct(line.substring(0, colon), List.copyOf(fields), aligned(end, alignment), alignment);
    }

    private record Type(int bytes, int alignment) {}

    private static Type type(String word, Map<String, CStruct> known) {
        int bracket = word.indexOf('[');
        String name = bracket < 0 ? word : word.substring(0, bracket);
        String inside = bracket < 0 ? "1" : word.substring(bracket + 1, word.length() - 1);
        if (name.equals("union")) {
            int comma = inside.indexOf(',');
            return new Type(
                    Integer.parseInt(inside.substring(0, comma)), Integer.parseInt(inside.substring(comma + 1)));
        }
        int count = Integer.parseInt(inside);
        return switch (name) {
            case "u8", "char" -> new Type(count, 1);
            case "u32" -> new Type(4 * count, 4);
            case "u64" -> new Type(8 * count, 8);
            default -> {
                CStruct struct = known(name, known);
                yield new Type(struct.size() * count, struct.alignment());
            }
        };
    }

    private static CStruct known(String name, Map<String, CStruct> known) {
        CStruct struct = known.get(name);
        if (struct == null) {
            throw new IllegalArgumentException("structs.txt uses " + name + " before it is described");
        }
        return struct;
    }

    private static int aligned(int at, int alignment) {
        return (at + alignment - 1) / alignment * alignment;
    }
}
