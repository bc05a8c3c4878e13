package dev.gpuwarden.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;
import picocli.CommandLine.Option;

/** The option `-o` of every command that shows data. Add it with {@code @Mixin}. */
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
     * Writes the data in the requested format.
     *
     * @param tree maps (in order), lists, strings, numbers, booleans and nulls; NaN and infinities are written as
     *     null
     * @param table writes the same data as a table
     */
    public void write(PrintWriter out, Object tree, Consumer<PrintWriter> table) {
        switch (format) {
            case json -> out.println(json(tree));
            case yaml -> out.print(yaml(tree));
            case table -> table.accept(out);
        }
        out.flush();
    }

    /** Returns indented JSON, with keys in the order of the maps. */
    public static String json(@Nullable Object tree) {
        return JsonWriter.write(tree, true);
    }

    /** Returns JSON in one line, for commands that write one object after the other while they run. */
    public static String jsonLine(@Nullable Object tree) {
        return JsonWriter.write(tree, false);
    }

    /** Writes JSON in one line with a small buffer, and does not close the stream. */
    public static void writeJsonLine(@Nullable Object tree, OutputStream out) throws IOException {
        JsonWriter.writeLine(tree, out);
    }

    /**
     * Returns YAML 1.2 in block style, with keys in the order of the maps and a line break at the end. Characters outside
     * ASCII are escaped.
     */
    public static String yaml(@Nullable Object tree) {
        DumpSettings settings = DumpSettings.builder()
                .setDefaultFlowStyle(FlowStyle.BLOCK)
                .setUseUnicodeEncoding(false)
                .setWidth(Integer.MAX_VALUE)
                .build();
        return new Dump(settings).dumpToString(Tree.normal(tree));
    }
}
