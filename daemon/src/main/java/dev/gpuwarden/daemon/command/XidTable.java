package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.Signal.Severity;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The errors of a log: a row for each error of each GPU, the worst first, then an explanation of each error. */
final class XidTable {

    /** The bound on rows, more than a user reads; a hostile log can name any number of GPUs. */
    private static final int MOST_ROWS = 2000;

    private static final String NOTHING = "-";

    private record Key(Kind kind, String code, String gpu) {}

    private static final class Row {
        final long first;
        long last;
        long count;
        Signal worst;

        Row(XidDecoder.Finding finding) {
            first = finding.line();
            worst = finding.signal();
        }

        void add(XidDecoder.Finding finding) {
            last = finding.line();
            // The driver continues the data of an SXid on lines of their own.
            count += count > 0 && finding.signal().details().containsKey("continuation") ? 0 : 1;
            if (finding.signal().severity().compareTo(worst.severity()) > 0) {
                worst = finding.signal();
            }
        }
    }

    private final Map<Key, Row> rows = new LinkedHashMap<>();
    private long beyond;

    void add(XidDecoder.Finding finding) {
        Signal signal = finding.signal();
        if (signal.kind() == Kind.GPU_NAMED) {
            return;
        }
        Key key = new Key(signal.kind(), signal.code(), gpu(signal));
        Row row = rows.get(key);
        if (row == null) {
            if (rows.size() == MOST_ROWS) {
                beyond++;
                return;
            }
            row = new Row(finding);
            rows.put(key, row);
        }
        row.add(finding);
    }

    private static String gpu(Signal signal) {
        return signal.pci().map(XidDecoder.Finding::address).or(signal::gpuUuid).orElse(NOTHING);
    }

    void print(PrintWriter out) {
        if (rows.isEmpty()) {
            return;
        }
        List<Map.Entry<Key, Row>> sorted = new ArrayList<>(rows.entrySet());
        sorted.sort(Comparator.<Map.Entry<Key, Row>>comparingInt(
                        row -> -row.getValue().worst.severity().ordinal())
                .thenComparingLong(row -> row.getValue().first));
        Table table = new Table("ERROR", "DEVICE", "SEVERITY", "ACTION", "COUNT", "FIRST LINE", "LAST LINE", "GPU");
        for (Map.Entry<Key, Row> entry : sorted) {
            Row row = entry.getValue();
            Signal worst = row.worst;
            table.row(
                    title(worst),
                    entry.getKey().gpu(),
                    Table.styled(style(worst.severity()), worst.severity().label()),
                    worst.action().label(),
                    row.count,
                    row.first,
                    row.last,
                    worst.gpuUuid().orElse(NOTHING));
        }
        table.print(out);
        if (beyond > 0) {
            out.println("and " + beyond + " more lines about other devices or codes");
        }
        explain(sorted, out);
    }

    private static void explain(List<Map.Entry<Key, Row>> sorted, PrintWriter out) {
        Map<String, Signal> worst = new LinkedHashMap<>();
        sorted.forEach(row -> worst.putIfAbsent(title(row.getValue().worst), row.getValue().worst));
        worst.forEach((title, signal) -> {
            out.println();
            out.println(title + (signal.name().isEmpty() ? "" : "  " + Table.escape(signal.name())));
            out.println("  " + advice(signal.action(), signal.severity()));
            out.println("  " + Table.escape(signal.why()));
        });
    }

    private static String title(Signal signal) {
        return switch (signal.kind()) {
            case XID -> "Xid " + signal.code();
            case SXID -> "SXid " + signal.code();
            case GUEST_XID -> "guest Xid " + signal.code();
            case FALLEN_OFF_BUS -> "fallen off the bus";
            default -> signal.code();
        };
    }

    private static Style style(Severity severity) {
        return switch (severity) {
            case INFO -> Style.FAINT;
            case WARNING -> Style.WARNING;
            case FATAL -> Style.BAD;
        };
    }

    static String advice(RecommendedAction action, Severity severity) {
        return switch (action) {
            case NONE ->
                severity == Severity.INFO
                        ? "Nothing to do."
                        : "No immediate action for the GPU: check the affected program, and whether the error repeats.";
            case COMPONENT_RESET ->
                "Move the work off this GPU, then reset it: where gpuwarden's daemon runs, 'sudo gpuwarden gpu-reset GPU --arm'; elsewhere, 'sudo nvidia-smi --gpu-reset -i GPU'.";
            case RESTART_VM -> "Drain the node, then restart the virtual machine; on bare metal, the node.";
            case RESTART_BM -> "Drain the node, then reboot it. If the error returns, the hardware needs service.";
            case CONTACT_SUPPORT ->
                "Take the GPU out of service and contact its vendor; nvidia-bug-report.sh collects the needed data.";
            default -> "Do this: " + action.name().toLowerCase(Locale.ROOT).replace('_', ' ') + ".";
        };
    }
}
