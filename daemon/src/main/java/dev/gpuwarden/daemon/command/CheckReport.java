package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.daemon.check.CheckPlan;
import dev.gpuwarden.daemon.view.CheckView;
import java.io.PrintWriter;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Check results as a tree for JSON and YAML, see docs/reference/check-json.md. Pure. */
record CheckReport(List<CheckResult> results, Verdict verdict, boolean byDaemon) {

    static final String SCHEMA = "gpuwarden.check/v1";

    static final String LIST_SCHEMA = "gpuwarden.checks/v1";

    private static final List<Outcome> ORDER =
            List.of(Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN, Outcome.PASS, Outcome.SKIPPED);

    static CheckReport of(List<CheckResult> results) {
        return new CheckReport(results, NodeVerdict.of(results), false);
    }

    static CheckReport byDaemon(List<CheckResult> results) {
        return new CheckReport(results, NodeVerdict.of(results), true);
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("verdict", verdict.label());
        tree.put("ranBy", byDaemon ? "daemon" : "process");
        tree.put("checks", results.stream().map(CheckView::tree).toList());
        return tree;
    }

    void print(PrintWriter out) {
        Table table = new Table("CHECK", "OUTCOME", "PARTS", "TOOK");
        for (CheckResult result : results) {
            table.row(
                    result.check().id(),
                    Table.styled(style(result.outcome()), result.outcome()),
                    parts(result.findings()),
                    millis(result));
        }
        table.print(out);
        out.println();
        FindingLines.print(results, out);
        long passed = results.stream()
                .filter(result -> result.outcome() == Outcome.PASS || result.outcome() == Outcome.WARN)
                .count();
        String all = FindingLines.count(passed, "check") + " passed" + (byDaemon ? ", run by the daemon" : "");
        out.println(FindingLines.verdict(results, verdict, all));
    }

    /** Returns the counts by outcome: "7 pass, 1 fail". */
    private static String parts(List<Finding> findings) {
        String parts = ORDER.stream()
                .map(outcome -> count(findings, outcome))
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
        return parts.isEmpty() ? "does not apply" : parts;
    }

    private static String count(List<Finding> findings, Outcome outcome) {
        long count = findings.stream().filter(f -> f.outcome() == outcome).count();
        return count == 0 ? "" : count + " " + outcome.name().toLowerCase(Locale.ROOT);
    }

    private static String millis(CheckResult result) {
        return String.format(Locale.ROOT, "%.1f ms", result.took().toNanos() / 1e6);
    }

    private static Style style(Outcome outcome) {
        return switch (outcome) {
            case PASS -> Style.GOOD;
            case FAIL -> Style.BAD;
            case WARN, UNKNOWN -> Style.WARNING;
            case SKIPPED -> Style.FAINT;
        };
    }

    static void printList(CheckPlan plan, PrintWriter out) {
        Table table = new Table("CHECK", "COMPONENT", "INTERVAL", "DESCRIPTION");
        all(plan).forEach(check -> table.row(check.id(), check.componentClass(), every(plan, check), check.summary()));
        table.print(out);
    }

    private static String every(CheckPlan plan, CheckInfo check) {
        return plan.off().contains(check) ? "off" : Durations.text(check.every());
    }

    private static List<CheckInfo> all(CheckPlan plan) {
        return Stream.concat(plan.planned().stream().map(CheckPlan.Planned::info), plan.off().stream())
                .sorted(Comparator.comparing(CheckInfo::id))
                .toList();
    }

    static Map<String, Object> list(CheckPlan plan) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", LIST_SCHEMA);
        tree.put(
                "checks",
                all(plan).stream()
                        .map(check -> {
                            Map<String, Object> entry = CheckView.tree(check);
                            entry.put("off", plan.off().contains(check));
                            return entry;
                        })
                        .toList());
        return tree;
    }
}
