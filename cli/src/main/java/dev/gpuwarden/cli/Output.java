package dev.gpuwarden.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.function.Consumer;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;
import picocli.CommandLine.Option;

/** The `-o` of every command that shows something. Mix it in with {@code @Mixin}. */
public final class Output {

    /** Formats of `-o`. */
    public enum Format {
        table,
        json,
        yaml
    }

    @Option(
            names = {"-o", "--output"},
            defaultValue = "table",
            paramLabel = "FORMAT",
            description = "Output format: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Format format = Format.table;

    public Format format() {
        return format;
    }

    /**
     * Writes in the format asked for.
     *
     * @param tree maps (in order), lists, strings, numbers, booleans and nulls
     * @param table writes the same for people
     */
    public void write(PrintWriter out, Object tree, Consumer<PrintWriter> table) {
        switch (format) {
            case json -> out.println(json(tree));
            case yaml -> out.print(yaml(tree));
            case table -> table.accept(out);
        }
        out.flush();
    }

    /** JSON, indented, keys in the order of the maps. */
    public static String json(Object tree) {
        StringWriter text = new StringWriter();
        try (JsonGenerator generator = new JsonFactory().createGenerator(text).useDefaultPrettyPrinter()) {
            writeJson(generator, tree);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private static void writeJson(JsonGenerator generator, Object node) throws IOException {
        if (node instanceof Map<?, ?> map) {
            generator.writeStartObject();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                generator.writeFieldName(String.valueOf(entry.getKey()));
                writeJson(generator, entry.getValue());
            }
            generator.writeEndObject();
        } else if (node instanceof Iterable<?> list) {
            generator.writeStartArray();
            for (Object item : list) {
                writeJson(generator, item);
            }
            generator.writeEndArray();
        } else {
            generator.writePOJO(node);
        }
    }

    private static String yaml(Object tree) {
        return new Dump(DumpSettings.builder()
                        .setDefaultFlowStyle(FlowStyle.BLOCK)
                        .build())
                .dumpToString(tree);
    }
}
