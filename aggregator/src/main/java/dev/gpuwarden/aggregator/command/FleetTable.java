package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.drain.DrainEvents.DrainText;
import dev.gpuwarden.aggregator.fleet.BreakerStatus;
import dev.gpuwarden.aggregator.fleet.BreakerStatus.BreakerView;
import dev.gpuwarden.aggregator.fleet.NodeAssessment;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.FleetState;
import dev.gpuwarden.aggregator.quarantine.FaultSummary;
import dev.gpuwarden.aggregator.remediation.RepairSummary;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.event.ActionText;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** A fleet as text for the operator: the counts by state, notes on the breaker, then the nodes that need attention. */
final class FleetTable {

    private FleetTable() {}

    static void print(FleetReport report, PrintWriter out) {
        report.around().breaker().modes().ifPresent(modes -> out.println(Table.escape(modes)));
        Table states = new Table("STATE", "NODES", "");
        report.counts().forEach((state, count) -> {
            if (count > 0) {
                states.row(styled(state, state.label()), count, state.text());
            }
        });
        states.print(out);
        out.println();
        BreakerStatus breaker = report.around().breaker();
        for (String pool : breaker.pools()) {
            breaker.state(pool)
                    .filter(state -> state.status() != PoolState.Status.CLOSED)
                    .ifPresent(state -> out.println("breaker " + Table.escape(pool) + " is "
                            + BreakerView.label(state.status()) + " since " + state.since()
                            + (state.reason().isEmpty() ? "" : ": " + Table.escape(state.reason()))));
        }
        report.around().notes(report.at()).forEach(note -> out.println("note: " + Table.escape(note)));
        if (!report.shown().isEmpty()) {
            Table nodes = new Table("NODE", "STATE", "SINCE", "WORST", "ACTION", "WHY, AND WHAT NEXT");
            report.shown().forEach(node -> row(nodes, node, report.at()));
            nodes.print(out);
            out.println();
        }
        out.println("verdict: " + verdict(report));
    }

    /** Adds a row for the worst part, and one below it for each other part with a fatal fault. */
    private static void row(Table table, NodeAssessment node, Instant now) {
        FaultSummary summary = node.summary();
        List<FaultSummary.Line> lines = summary.lines();
        boolean one = lines.size() <= 1;
        String more = summary.moreFaults() > 0 ? "+" + summary.moreFaults() : "";
        table.row(
                node.name(),
                styled(node.state(), node.state().label()),
                node.since().map(since -> age(since, now)).orElse(""),
                lines.isEmpty() ? "" : lines.get(0).text() + (one && !more.isEmpty() ? " " + more : ""),
                lines.isEmpty() ? "" : ActionText.name(lines.get(0).cause()),
                because(node));
        if (one) {
            return;
        }
        lines.stream().skip(1).forEach(line -> below(table, line.text(), ActionText.name(line.cause())));
        if (summary.moreParts() > 0) {
            below(table, "+" + summary.moreParts() + " more with fatal faults", "");
        }
        if (!more.isEmpty()) {
            below(table, more + " more faults", "");
        }
    }

    private static void below(Table table, String worst, String action) {
        table.row("", "", "", worst, action, "");
    }

    /** Returns the reason and the next action. For a quarantine, the written reason is left out: it repeats the faults. */
    private static String because(NodeAssessment node) {
        List<String> parts =
                node.state() == FleetState.QUARANTINED && node.inspection().isPresent()
                        ? List.of(
                                rules(node),
                                node.drain().map(DrainText::of).orElse(""),
                                node.repair().map(RepairSummary::text).orElse(""),
                                node.next())
                        : List.of(node.why(), node.next());
        return String.join("; ", parts.stream().filter(part -> !part.isEmpty()).toList());
    }

    private static String rules(NodeAssessment node) {
        List<String> rules = node.inspection().orElseThrow().rules();
        return rules.isEmpty() ? "" : "for " + String.join(", ", rules);
    }

    static Table.Styled styled(FleetState state, String text) {
        return Table.styled(
                switch (state) {
                    case FAULTY, SILENT -> Style.BAD;
                    case QUARANTINED, CORDONED, DEGRADED -> Style.WARNING;
                    case HEALTHY -> Style.GOOD;
                    case OTHER -> Style.FAINT;
                },
                text);
    }

    /** Returns an age in its two greatest units, for example `3d4h`. */
    static String age(Instant since, Instant now) {
        long seconds = Math.max(0, Duration.between(since, now).toSeconds());
        long grain = seconds < 3600 ? 1 : seconds < 86_400 ? 60 : 3600;
        return Durations.text(Duration.ofSeconds(seconds / grain * grain));
    }

    private static String verdict(FleetReport report) {
        long unfit = report.nodes().stream().filter(NodeAssessment::unfit).count();
        long gpus = report.nodes().size() - report.counts().getOrDefault(FleetState.OTHER, 0L);
        long silent = report.counts().getOrDefault(FleetState.SILENT, 0L);
        return switch (report.verdict()) {
            case FIT -> "fit (all " + gpus + " nodes)";
            case NOT_FIT -> "not fit (" + unfit + " of " + gpus + " nodes)";
            case UNDECIDED ->
                gpus == 0 ? "could not decide (no node with GPUs)" : "could not decide (" + silent + " silent)";
        };
    }
}
