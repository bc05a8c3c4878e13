package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.FieldReader;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The fields of a JSON object from a file of unknown origin. A field that is not optional must be there. */
final class Fields extends FieldReader {

    /** Levels of a record: the ranking and the processes of a tenant are the deepest. */
    private static final int DEEPEST = 12;

    /** Characters of a text. A reason may name 256 workloads. */
    private static final int LONGEST_TEXT = 1 << 17;

    private static final JsonReader READER = JsonReader.refusingDuplicates(DEEPEST);

    private Fields(String prefix, Map<?, ?> fields) {
        super(prefix, fields);
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

    int count(String name, int least) throws IOException {
        long number = number(name);
        return number >= least && number <= Integer.MAX_VALUE
                ? (int) number
                : wrong(name, "a whole number from " + least + " to " + Integer.MAX_VALUE);
    }

    @Override
    public String text(String name) throws IOException {
        String text = super.text(name);
        return text.length() <= LONGEST_TEXT ? text : wrong(name, "a text of at most " + LONGEST_TEXT + " characters");
    }

    /** Returns the constant with this name in lower case. */
    <E extends Enum<E>> E constant(String name, Class<E> type) throws IOException {
        String text = text(name);
        for (E constant : type.getEnumConstants()) {
            if (label(constant).equals(text)) {
                return constant;
            }
        }
        return wrong(
                name,
                "one of "
                        + Arrays.stream(type.getEnumConstants())
                                .map(Fields::label)
                                .collect(Collectors.joining(", ")));
    }

    static String label(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    <E extends Enum<E>> List<E> constants(String name, Class<E> type) throws IOException {
        return all(name, type.getEnumConstants().length, (items, item) -> items.constant(item, type));
    }

    <T> T object(String name, Part<T> part) throws IOException {
        return part.read(new Fields(path(name) + ".", map(name)));
    }

    <T> Optional<T> optionalObject(String name, Part<T> part) throws IOException {
        return has(name) ? Optional.of(object(name, part)) : Optional.empty();
    }

    <T> List<T> objects(String name, int most, Part<T> part) throws IOException {
        return all(name, most, (items, item) -> items.object(item, part));
    }

    List<Long> numbers(String name, int most) throws IOException {
        return all(name, most, Fields::number);
    }

    List<String> texts(String name, int most) throws IOException {
        return all(name, most, Fields::text);
    }

    private <T> List<T> all(String name, int most, Named<T> part) throws IOException {
        Map<String, Object> items = items(name);
        if (items.size() > most) {
            throw new IOException(path(name) + ": expected at most " + most + " items, seen " + items.size());
        }
        return List.copyOf(new Fields(path(""), items).byName(part).values());
    }

    /** Returns all fields of this object by their names, in their order. */
    <T> Map<String, T> byName(Named<T> part) throws IOException {
        Map<String, T> all = new LinkedHashMap<>();
        for (String name : names()) {
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
        if (!isObject(name) || !map(name).containsKey("absent")) {
            return Reading.of(present.read(this));
        }
        return object(
                name,
                absent -> Reading.absent(
                        absent.constant("absent", Absence.class),
                        absent.has("code") ? (int) absent.number("code") : 0,
                        absent.optionalText("detail").orElse("")));
    }
}
