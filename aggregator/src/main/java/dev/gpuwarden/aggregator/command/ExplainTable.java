package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.drain.DrainEvents.DrainText;
import dev.gpuwarden.aggregator.fleet.BreakerStatus;
import dev.gpuwarden.aggregator.fleet.NodeAssessment;
import dev.gpuwarden.aggregator.fleet.NodeJson;
import dev.gpuwarden.aggregator.maintenance.Stage;
import dev.gpuwarden.aggregator.quarantine.FaultSummary;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.aggregator.remediation.NodePipeline;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One node as text for the operator: its state with the reason, its faults with their advice, its Events. */
final class ExplainTable {

    private ExplainTable() {}

    static void print(ExplainReport report, PrintWriter out) {
        NodeAssessment node = report.story().assessment();
        line(out, "node", node.name());
        line(
                out,
                "state",
                node.state().label()
                        + node.since()
                                .map(at -> " since " + at + ", " + report.ago(at))
                                .orElse(""));
        line(out, "why", node.why());
        line(out, "next", node.next());
        worst(node, out);
        node.drain().ifPresent(drain -> {
            line(out, "drain", DrainText.of(drain));
            line(out, "", DrainText.next(drain));
        });
        node.repair().ifPresent(repair -> {
            line(out, "repair", repair.text());
            if (!repair.next().equals(node.next())) {
                line(out, "", repair.next());
            }
        });
        line(
                out,
                "rules",
                String.join(
                        ", ", node.inspection().map(QuarantineSummary::rules).orElse(List.of())));
        node.inspection()
                .map(QuarantineSummary::unanswered)
                .orElse(List.of())
                .forEach(rule -> line(out, "unanswered", rule));
        line(out, "cordon", report.cordon());
        report.decided()
                .ifPresent(news -> line(
                        out,
                        "decided",
                        news.reason() + " at " + news.at()
                                + (news.text().equals(node.why()) ? "" : ": " + news.text())));
        line(out, "reported", node.reported().map(report::ago).orElse("never"));
        line(out, "breaker", breaker(report));
        line(out, "aggregator", report.aggregator());
        line(out, "modes", report.story().around().breaker().modes().orElse(""));
        report.notes().forEach(note -> line(out, "note", note));
        faults(node, report, out);
        pipeline(report, out);
        events(report, out);
    }

    private static void line(PrintWriter out, String what, String text) {
        if (!text.isEmpty()) {
            out.println(what + " ".repeat(12 - what.length()) + Table.escape(text));
        }
    }

    /** Prints each part with a fatal fault once, with its advice. */
    private static void worst(NodeAssessment node, PrintWriter out) {
        FaultSummary summary = node.summary();
        String what = "worst";
        for (FaultSummary.Line line : summary.lines()) {
            line(
                    out,
                    what,
                    line.text() + ": " + ActionText.name(line.cause()) + ": "
                            + node.names().adviceOn(node.name(), line.cause()));
            what = "";
        }
        if (summary.moreParts() > 0) {
            line(out, "", "+" + summary.moreParts() + " more with fatal faults");
        }
    }

    private static String breaker(ExplainReport report) {
        BreakerStatus breaker = report.story().around().breaker();
        if (breaker.limits().value().isEmpty()) {
            return "not known: " + breaker.limits().why();
        }
        List<String> pools = report.pools().stream()
                .map(pool -> "pool " + pool + ": " + breaker.status(pool)
                        + breaker.state(pool)
                                .map(state -> " since " + state.since()
                                        + (state.reason().isEmpty() ? "" : ", " + state.reason()))
                                .orElse(""))
                .toList();
        return pools.isEmpty() ? "no pool selects it: it would not be taken out of service" : String.join("; ", pools);
    }

    /** The two lines of a fault: its check and message, and its advice. */
    private record Message(String fault, String advice) {
        private static Message of(NodeAssessment node, HealthEvent cause) {
            return new Message(
                    (cause.fatal() ? "FATAL" : "FAULT") + "  " + Table.escape(cause.checkName()) + "  "
                            + Table.escape(cause.message()),
                    Table.escape(ActionText.name(cause) + ": " + node.names().adviceOn(node.name(), cause)));
        }
    }

    private static void faults(NodeAssessment node, ExplainReport report, PrintWriter out) {
        out.println();
        if (node.faults().isEmpty()) {
            out.println("no faults");
            return;
        }
        Table table = new Table("FAULT", "CODE", "OF", "SEVERITY", "AGE", "SEEN", "ACTION", "EVENT");
        List<List<Fault>> raised = FaultSummary.raised(node.faults());
        for (List<Fault> each : raised) {
            Fault first = each.get(0);
            HealthEvent cause = first.cause();
            table.row(
                    cause.checkName(),
                    String.join(", ", FaultSummary.codes(each)),
                    NodeJson.parts(each, node.names()),
                    cause.fatal() ? Table.styled(Style.BAD, "fatal") : Table.styled(Style.WARNING, "not fatal"),
                    FleetTable.age(first.since(), report.story().at()),
                    first.occurrences() + "x",
                    ActionText.name(cause),
                    cause.id());
        }
        table.print(out);
        out.println();
        // A reporter in a flood has one message for hundreds of faults.
        Map<Message, Integer> messages = new LinkedHashMap<>();
        raised.forEach(each -> messages.merge(Message.of(node, each.get(0).cause()), 1, Integer::sum));
        messages.forEach((message, count) -> {
            out.println(message.fault() + (count > 1 ? "  (" + count + " faults)" : ""));
            out.println("       " + message.advice());
        });
    }

    private static void pipeline(ExplainReport report, PrintWriter out) {
        if (report.story().pipeline().isEmpty()) {
            return;
        }
        NodePipeline pipeline = report.story().pipeline().get();
        out.println();
        Table table =
                new Table(pipeline.over() ? "LAST REPAIR" : "REPAIR", "STATE", "BEGAN", "TOOK", "RESOURCE", "WHY");
        String resource = "";
        for (Stage stage : pipeline.stages()) {
            table.row(
                    stage.name(),
                    styled(stage.state()),
                    stage.begin()
                            .map(at -> at.truncatedTo(ChronoUnit.SECONDS).toString())
                            .orElse(""),
                    took(stage, report.story().at()),
                    stage.resource().equals(resource) ? "" : stage.resource(),
                    stage.why());
            resource = stage.resource();
        }
        table.print(out);
    }

    private static Object styled(Stage.State state) {
        return switch (state) {
            case FAILED -> Table.styled(Style.BAD, state.label());
            case WAITING, UNKNOWN -> Table.styled(Style.WARNING, state.label());
            case DONE, IN_PROGRESS, NOT_NEEDED, NOT_YET -> state.label();
        };
    }

    /** Returns the duration of a stage; of one that has not ended, the time until now with a plus. */
    private static String took(Stage stage, Instant now) {
        boolean open = stage.state() == Stage.State.IN_PROGRESS || stage.state() == Stage.State.WAITING;
        return stage.took()
                .map(time -> Durations.text(time.truncatedTo(ChronoUnit.SECONDS)))
                .or(() -> stage.begin().filter(any -> open).map(begin -> FleetTable.age(begin, now) + "+"))
                .orElse("");
    }

    private static void events(ExplainReport report, PrintWriter out) {
        if (report.events().isEmpty()) {
            return;
        }
        out.println();
        Table table = new Table("EVENT AT", "TYPE", "REASON", "FROM", "MESSAGE");
        report.events()
                .forEach(event -> table.row(event.at(), event.type(), event.reason(), event.from(), event.message()));
        table.print(out);
    }
}
