package dev.gpuwarden.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
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
     * @param tree maps (in order), lists, strings, numbers, booleans and nulls; NaN and infinities are written as null
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
    public static String json(@Nullable Object tree) {
        return Json.write(tree);
    }

    /** JSON in one line, for commands that write object after object while they work. */
    public static String jsonLine(@Nullable Object tree) {
        return Json.writeLine(tree);
    }

    /** The same, bit by bit; does not close the stream. */
    public static void writeJsonLine(@Nullable Object tree, OutputStream out) throws IOException {
        Json.writeLine(tree, out);
    }

    /** Block YAML, keys in the order of the maps; ends with a line break. */
    public static String yaml(@Nullable Object tree) {
        return Yaml.write(tree);
    }
}
