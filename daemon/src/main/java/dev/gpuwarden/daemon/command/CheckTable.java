package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
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

/** Check results as a table. */
final class CheckTable {

    static final String LIST_SCHEMA = "gpuwarden.checks/v1";

    private static final List<Outcome> ORDER =
            List.of(Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN, Outcome.PASS, Outcome.SKIPPED);

    private CheckTable() {}

    static void print(CheckReport report, PrintWriter out) {
        Table table = new Table("CHECK", "OUTCOME", "PARTS", "TOOK");
        for (CheckResult result : report.results()) {
            table.row(
                    result.check().id(),
                    Table.styled(style(result.outcome()), result.outcome()),
                    parts(result.findings()),
                    millis(result));
        }
        table.print(out);
        out.println();
        FindingLines.print(report.results(), out);
        long passed = report.results().stream()
                .filter(result -> result.outcome() == Outcome.PASS || result.outcome() == Outcome.WARN)
                .count();
        String all = FindingLines.count(passed, "check") + " passed" + (report.byDaemon() ? ", run by the daemon" : "");
        out.println(FindingLines.verdict(report.results(), report.verdict(), all));
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
