package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.kernel.ErrorNumber;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.Signal.Severity;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Numbers of XIDs and SXIDs as a user typed them, explained by the catalogues. */
final class XidNumbers {

    private final List<ErrorNumber> errors;

    /** @throws UserError naming the first text that is not a number */
    XidNumbers(List<String> texts) {
        errors = texts.stream().map(XidNumbers::number).toList();
    }

    private static ErrorNumber number(String text) {
        return ErrorNumber.of(ErrorNumber.parse(text)
                .orElseThrow(() -> new UserError(Table.escape(text)
                        + ": expected the number of an Xid or SXid, such as 79; one log goes alone")));
    }

    /** Writes one object a line as JSON, one document each as YAML, or paragraphs. */
    void write(Output.Format format, PrintWriter out) {
        boolean first = true;
        for (ErrorNumber error : errors) {
            switch (format) {
                case json -> out.println(Output.jsonLine(tree(error)));
                case yaml -> out.print("---\n" + Output.yaml(tree(error)));
                case table -> print(error, first, out);
            }
            first = false;
        }
        out.flush();
    }

    /** The keys of a decoded line, and more. Absent things are left out. */
    private static Map<String, Object> tree(ErrorNumber error) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("signal", error.kind().label());
        tree.put("code", Integer.toString(error.number()));
        tree.put("known", error.known());
        put(tree, "name", error.name());
        put(tree, "meaning", error.meaning());
        tree.put("severity", error.severity().label());
        tree.put("fatal", error.severity() == Severity.FATAL);
        tree.put("action", error.action().label());
        tree.put("advice", XidTable.advice(error.action(), error.severity()));
        tree.put("why", error.source());
        put(tree, "note", error.note());
        tree.put("runbook", error.runbook());
        return tree;
    }

    private static void put(Map<String, Object> tree, String key, String text) {
        if (!text.isEmpty()) {
            tree.put(key, text);
        }
    }

    private static void print(ErrorNumber error, boolean first, PrintWriter out) {
        String title = (error.kind() == Kind.XID ? "Xid " : "SXid ") + error.number();
        out.println((first ? "" : System.lineSeparator()) + title + "  " + (error.known() ? error.name() : "unknown"));
        line(out, "meaning", error.meaning());
        line(out, "severity", error.severity().label() + (error.known() ? "" : ", as for each unknown number"));
        line(out, "action", error.action().label() + ": " + XidTable.advice(error.action(), error.severity()));
        line(out, "note", error.note());
        line(out, "source", error.source());
        line(out, "runbook", error.runbook());
    }

    private static void line(PrintWriter out, String name, String text) {
        if (!text.isEmpty()) {
            out.println(String.format(Locale.ROOT, "  %-9s ", name) + text);
        }
    }
}
