package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.objectmonitor.PolicyDryRun;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.HealthEventFields;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.event.HealthEvent;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The results of policies for objects: gpuwarden.policy-test/v1, see docs/operating/object-monitor.md. Pure. */
record PolicyReport(Instant at, List<PolicyDryRun> trials, List<PolicyDryRun.Summary> summaries) {

    static final String SCHEMA = "gpuwarden.policy-test/v1";

    /** Returns the exit code. An undecided result outweighs a match. */
    int exitCode() {
        if (trials.stream().anyMatch(trial -> trial.verdict() == PolicyDryRun.Verdict.UNDECIDED)) {
            return ExitCode.UNDECIDED;
        }
        return trials.stream().anyMatch(trial -> trial.verdict() == PolicyDryRun.Verdict.MATCHES)
                ? ExitCode.NOT_FIT
                : ExitCode.OK;
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("at", at.toString());
        tree.put("results", trials.stream().map(PolicyReport::tree).toList());
        tree.put("summaries", summaries.stream().map(PolicyReport::tree).toList());
        return tree;
    }

    private static Map<String, Object> tree(PolicyDryRun.Summary summary) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("policy", summary.policy());
        if (!summary.node().isEmpty()) {
            tree.put("node", summary.node());
        }
        tree.put("text", summary.text());
        summary.event().ifPresent(event -> tree.put("event", HealthEventFields.of(event)));
        return tree;
    }

    private static Map<String, Object> tree(PolicyDryRun trial) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("policy", trial.policy());
        tree.put("object", trial.object());
        tree.put("verdict", trial.verdict().label());
        if (!trial.node().isEmpty()) {
            tree.put("node", trial.node());
        }
        if (!trial.why().isEmpty()) {
            tree.put("why", trial.why());
        }
        trial.changes().ifPresent(when -> tree.put("changes", when.toString()));
        trial.event().ifPresent(event -> tree.put("event", HealthEventFields.of(event)));
        return tree;
    }

    void print(PrintWriter out) {
        Table table = new Table("POLICY", "OBJECT", "VERDICT", "NODE", "CHANGES", "EVENT, OR WHY NOT");
        for (PolicyDryRun trial : trials) {
            table.row(
                    trial.policy(),
                    trial.object(),
                    Table.styled(style(trial.verdict()), trial.verdict().label()),
                    trial.node(),
                    trial.changes().map(Instant::toString).orElse(""),
                    trial.event()
                            .map(event -> text(event) + (trial.why().isEmpty() ? "" : "; " + trial.why()))
                            .orElse(trial.why()));
        }
        table.print(out);
        summaries.forEach(summary -> out.println(summary.policy() + ": " + summary.text()
                + summary.event().map(event -> ": " + text(event)).orElse("")));
    }

    private static String text(HealthEvent event) {
        return (event.fatal() ? "fatal " : "") + event.componentClass() + " " + String.join(",", event.errorCodes())
                + " " + event.action().name() + ": " + event.message();
    }

    private static Style style(PolicyDryRun.Verdict verdict) {
        return switch (verdict) {
            case MATCHES -> Style.BAD;
            case UNDECIDED -> Style.WARNING;
            case DOES_NOT_MATCH -> Style.GOOD;
            case NOT_ASKED -> Style.FAINT;
        };
    }
}
