package dev.gpuwarden.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.io.CharacterEscapes;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.core.util.Separators;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes trees as JSON: for operators and files in ASCII, without characters that a terminal would interpret or hide. */
public final class JsonWriter {

    private static final JsonFactory FACTORY = new JsonFactoryBuilder()
            .characterEscapes(new EscapeDelete())
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .build();

    private JsonWriter() {}

    /** Writes the tree with a buffer of some kilobytes, and leaves the stream open. */
    static void writeLine(@Nullable Object tree, OutputStream out) throws IOException {
        try (JsonGenerator generator = FACTORY.createGenerator(out)) {
            generator.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
            add(generator, Tree.normal(tree));
        }
    }

    /** @param indented false for a tree without line breaks */
    static String write(@Nullable Object tree, boolean indented) {
        StringWriter text = new StringWriter();
        try (JsonGenerator generator = FACTORY.createGenerator(text)) {
            if (indented) {
                generator.setPrettyPrinter(new DefaultPrettyPrinter(Separators.createDefaultInstance()
                                .withObjectFieldValueSpacing(Separators.Spacing.AFTER)
                                .withObjectEmptySeparator("")
                                .withArrayEmptySeparator(""))
                        .withObjectIndenter(new DefaultIndenter("  ", "\n"))
                        .withArrayIndenter(new DefaultIndenter("  ", "\n")));
            }
            add(generator, Tree.normal(tree));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    /**
     * Returns the tree on one line, with only the escapes that JSON requires: for objects that an API server stores. Any value except
     * maps, lists, booleans and numbers becomes its text.
     */
    public static String compact(Object tree) {
        StringWriter text = new StringWriter();
        try (JsonGenerator generator = FACTORY.createGenerator(text)) {
            generator.setCharacterEscapes(null).setHighestNonEscapedChar(0);
            add(generator, tree);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private static void add(JsonGenerator generator, @Nullable Object node) throws IOException {
        if (node instanceof Map<?, ?> map) {
            generator.writeStartObject();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                generator.writeFieldName(String.valueOf(entry.getKey()));
                add(generator, entry.getValue());
            }
            generator.writeEndObject();
        } else if (node instanceof List<?> list) {
            generator.writeStartArray();
            for (Object item : list) {
                add(generator, item);
            }
            generator.writeEndArray();
        } else if (node instanceof BigDecimal decimal) {
            generator.writeNumber(decimal);
        } else if (node instanceof BigInteger integer) {
            generator.writeNumber(integer);
        } else if (node instanceof Double number) {
            generator.writeNumber(number);
        } else if (node instanceof Number number) {
            generator.writeNumber(number.longValue());
        } else if (node instanceof Boolean bool) {
            generator.writeBoolean(bool);
        } else if (node == null) {
            generator.writeNull();
        } else {
            generator.writeString(node.toString());
        }
    }

    /** An escape for DEL: JSON does not require it, but terminals interpret the character. */
    private static final class EscapeDelete extends CharacterEscapes {
        private static final long serialVersionUID = 1L;
        private static final int[] ESCAPES = standardAsciiEscapesForJSON();

        static {
            ESCAPES[0x7f] = ESCAPE_STANDARD;
        }

        @Override
        public int[] getEscapeCodesForAscii() {
            return ESCAPES;
        }

        @Override
        public @Nullable SerializableString getEscapeSequence(int character) {
            return null;
        }
    }
}
