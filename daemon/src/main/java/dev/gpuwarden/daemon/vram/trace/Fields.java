package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The fields of a JSON object from a file of unknown origin. An error names the field, expected and seen. */
final class Fields {

    /** Levels of a record: the ranking and the processes of a tenant are the deepest. */
    private static final int DEEPEST = 12;

    /** Characters of a text. A reason may name 256 workloads. */
    private static final int LONGEST_TEXT = 1 << 17;

    private static final JsonReader READER = JsonReader.refusingDuplicates(DEEPEST);

    private final String path;
    private final Map<?, ?> fields;

    private Fields(String path, Map<?, ?> fields) {
        this.path = path;
        this.fields = fields;
    }

    /** A part of a document that is read from its fields. */
    interface Part<T> {
        T read(Fields fields) throws IOException;
    }

    /** A part that a name leads to. */
    interface Named<T> {
        T read(Fields fields, String name) throws IOException;
    }

    static Fields of(String line) throws IOException {
        return new Fields("", READER.readObject(line));
    }

    boolean has(String name) {
        return fields.containsKey(name);
    }

    long number(String name) throws IOException {
        return number(path + name, fields.get(name));
    }

    private static long number(String path, @Nullable Object value) throws IOException {
        if (value instanceof Long number) {
            return number;
        }
        throw wrong(path, "a whole number", value);
    }

    int count(String name, int least) throws IOException {
        long number = number(name);
        if (number < least || number > Integer.MAX_VALUE) {
            throw wrong(path + name, "a whole number from " + least + " to " + Integer.MAX_VALUE, number);
        }
        return (int) number;
    }

    boolean flag(String name) throws IOException {
        if (fields.get(name) instanceof Boolean flag) {
            return flag;
        }
        throw wrong(path + name, "true or false", fields.get(name));
    }

    String text(String name) throws IOException {
        return text(path + name, fields.get(name));
    }

    private static String text(String path, @Nullable Object value) throws IOException {
        if (value instanceof String text && text.length() <= LONGEST_TEXT) {
            return text;
        }
        throw wrong(path, "a text of at most " + LONGEST_TEXT + " characters", value);
    }

    Optional<String> optionalText(String name) throws IOException {
        return has(name) ? Optional.of(text(name)) : Optional.empty();
    }

    Instant time(String name) throws IOException {
        String text = text(name);
        try {
            return Instant.parse(text);
        } catch (DateTimeException e) {
            throw wrong(path + name, "a time such as 2026-01-31T12:00:00Z", text);
        }
    }

    /** Returns the constant with this name in lower case. */
    <E extends Enum<E>> E constant(String name, Class<E> type) throws IOException {
        return constant(path + name, fields.get(name), type);
    }

    private static <E extends Enum<E>> E constant(String path, @Nullable Object value, Class<E> type)
            throws IOException {
        for (E constant : type.getEnumConstants()) {
            if (label(constant).equals(value)) {
                return constant;
            }
        }
        throw wrong(
                path,
                "one of "
                        + Arrays.stream(type.getEnumConstants())
                                .map(Fields::label)
                                .collect(Collectors.joining(", ")),
                value);
    }

    static String label(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    <E extends Enum<E>> List<E> constants(String name, Class<E> type) throws IOException {
        List<E> constants = new ArrayList<>();
        for (Object item : items(name, type.getEnumConstants().length)) {
            constants.add(constant(path + name + "[]", item, type));
        }
        return constants;
    }

    <T> T object(String name, Part<T> part) throws IOException {
        return part.read(object(path + name, fields.get(name)));
    }

    <T> Optional<T> optionalObject(String name, Part<T> part) throws IOException {
        return has(name) ? Optional.of(object(name, part)) : Optional.empty();
    }

    private static Fields object(String path, @Nullable Object value) throws IOException {
        if (value instanceof Map<?, ?> map) {
            return new Fields(path + ".", map);
        }
        throw wrong(path, "an object", value);
    }

    <T> List<T> objects(String name, int most, Part<T> part) throws IOException {
        List<T> parts = new ArrayList<>();
        for (Object item : items(name, most)) {
            parts.add(part.read(object(path + name + "[" + parts.size() + "]", item)));
        }
        return parts;
    }

    List<Long> numbers(String name, int most) throws IOException {
        List<Long> numbers = new ArrayList<>();
        for (Object item : items(name, most)) {
            numbers.add(number(path + name + "[" + numbers.size() + "]", item));
        }
        return numbers;
    }

    List<String> texts(String name, int most) throws IOException {
        List<String> texts = new ArrayList<>();
        for (Object item : items(name, most)) {
            texts.add(text(path + name + "[" + texts.size() + "]", item));
        }
        return texts;
    }

    private List<?> items(String name, int most) throws IOException {
        if (fields.get(name) instanceof List<?> list) {
            if (list.size() <= most) {
                return list;
            }
            throw new IOException(path + name + ": expected at most " + most + " items, seen " + list.size());
        }
        throw wrong(path + name, "a list", fields.get(name));
    }

    /** Returns all fields of this object by their names, in their order. */
    <T> Map<String, T> byName(Named<T> part) throws IOException {
        Map<String, T> all = new LinkedHashMap<>();
        for (Object key : fields.keySet()) {
            String name = text(path + "name", key);
            all.put(name, part.read(this, name));
        }
        return all;
    }

    Map<String, Long> numbersByName(String name) throws IOException {
        return object(name, all -> all.byName(Fields::number));
    }

    Map<String, String> textsByName(String name) throws IOException {
        return object(name, all -> all.byName(Fields::text));
    }

    /** Returns the value, or the absence that stands in its place. */
    <T> Reading<T> reading(String name, Part<T> present) throws IOException {
        if (fields.get(name) instanceof Map<?, ?> map && map.containsKey("absent")) {
            Fields absent = new Fields(path + name + ".", map);
            return Reading.absent(
                    absent.constant("absent", Absence.class),
                    absent.has("code") ? (int) absent.number("code") : 0,
                    absent.optionalText("detail").orElse(""));
        }
        return Reading.of(present.read(this));
    }

    private static IOException wrong(String path, String expected, @Nullable Object seen) {
        String text = seen == null ? "nothing" : String.valueOf(seen);
        return new IOException(path + ": expected " + expected + ", seen " + Text.truncate(text, 61));
    }
}
