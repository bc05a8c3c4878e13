package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.client.AccessReviewer;
import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import dev.gpuwarden.aggregator.rehearsal.Timeline;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Entry;
import dev.gpuwarden.aggregator.rehearsal.Timeline.MissingRights;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Verdict;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The result of a rehearsal: gpuwarden.rehearsal/v1, see docs/reference/rehearsal-json.md. Pure. */
record RehearsalReport(Timeline timeline) {

    static final String SCHEMA = "gpuwarden.rehearsal/v1";

    int exitCode() {
        if (timeline.stop().isPresent() || !timeline.missing().isEmpty()) {
            return ExitCode.NOT_FIT;
        }
        return timeline.doubt().isPresent() ? ExitCode.UNDECIDED : ExitCode.OK;
    }

    private String outcome() {
        return switch (exitCode()) {
            case ExitCode.OK -> "returns";
            case ExitCode.NOT_FIT -> "stops";
            default -> "undecided";
        };
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("at", timeline.at().toString());
        tree.put("node", timeline.node());
        tree.put("gpu", timeline.gpu());
        tree.put("faults", timeline.faults());
        tree.put("current", timeline.current());
        tree.put("outcome", outcome());
        tree.put("why", verdict());
        tree.put("mostSeconds", timeline.most().toSeconds());
        tree.put("steps", timeline.entries().stream().map(RehearsalReport::tree).toList());
        Map<String, Object> rights = new LinkedHashMap<>();
        rights.put("account", timeline.account());
        rights.put("checked", timeline.checked());
        rights.put(
                "missing",
                timeline.missing().stream().map(RehearsalReport::tree).toList());
        tree.put("rights", rights);
        tree.put("notes", timeline.notes());
        return tree;
    }

    private static Map<String, Object> tree(Entry entry) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("stage", entry.stage().label());
        tree.put("verdict", entry.verdict().label());
        tree.put("what", entry.what());
        tree.put("why", entry.why());
        tree.put("mostSeconds", entry.most().map(java.time.Duration::toSeconds));
        return tree;
    }

    private static Map<String, Object> tree(MissingRights missing) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("setting", missing.setting());
        tree.put("rights", missing.rights().stream().map(Right::toString).toList());
        tree.put("source", missing.source());
        return tree;
    }

    void print(PrintWriter out) {
        out.println(Table.escape(
                timeline.node() + ": " + String.join(" and ", timeline.faults()) + " of " + timeline.gpu()));
        if (!timeline.current().isEmpty()) {
            out.println(Table.escape("it has faults now: " + String.join("; ", timeline.current())));
        }
        Table table = new Table("STAGE", "VERDICT", "AT MOST", "STEP", "WHY");
        for (Entry entry : timeline.entries()) {
            table.row(
                    entry.stage().label(),
                    Table.styled(style(entry.verdict()), entry.verdict().label()),
                    entry.most().map(Durations::text).orElse(""),
                    entry.what(),
                    entry.why());
        }
        table.print(out);
        for (MissingRights missing : timeline.missing()) {
            out.println(Table.escape("missing rights: " + timeline.checked() + " may not "
                    + AccessReviewer.text(missing.rights()) + ", which " + missing.setting() + " needs; "
                    + missing.source() + " grants them"));
        }
        timeline.notes().forEach(note -> out.println(Table.escape("note: " + note)));
        out.println(Table.escape(timeline.node() + " " + verdict()));
        if (!timeline.most().isZero()) {
            out.println("the steps with a limit take at most " + Durations.text(timeline.most()));
        }
        out.println("dry run: nothing was changed");
    }

    private static Style style(Verdict verdict) {
        return switch (verdict) {
            case DOES -> Style.GOOD;
            case WAITS, UNKNOWN -> Style.WARNING;
            case STOPS -> Style.BAD;
        };
    }

    private String verdict() {
        Optional<Entry> stop = timeline.stop();
        if (stop.isPresent()) {
            return "would not be repaired: " + of(stop.get());
        }
        if (!timeline.missing().isEmpty()) {
            return "would not be repaired: " + timeline.checked() + " lacks rights";
        }
        return timeline.doubt()
                .map(doubt -> "may be repaired, and it is undecided: " + of(doubt))
                .orElse("would be repaired and would return to service");
    }

    private static String of(Entry entry) {
        return entry.stage().label() + ": " + entry.what() + (entry.why().isEmpty() ? "" : " (" + entry.why() + ")");
    }
}
