package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Table;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Collectors;

/** Findings as text: a line for each complaint with its remedy. */
final class FindingLines {

    private static final List<Outcome> COMPLAINTS = List.of(Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN);

    private FindingLines() {}

    /** Prints complaints, worst first, and then each skipped finding, for a reader who named the checks. */
    static void printWithSkipped(List<CheckResult> results, PrintWriter out) {
        print(results, COMPLAINTS, out);
        print(results, List.of(Outcome.SKIPPED), out);
    }

    /** Prints complaints, worst first. Prints a skipped finding only if it needs more time. */
    static void print(List<CheckResult> results, PrintWriter out) {
        print(results, COMPLAINTS, out);
        printWaiting(results, out);
    }

    private static void print(List<CheckResult> results, List<Outcome> outcomes, PrintWriter out) {
        for (Outcome outcome : outcomes) {
            for (Finding finding : NodeVerdict.findings(results)) {
                if (finding.outcome() == outcome) {
                    out.println(outcome + "  " + Table.escape(finding.code()) + "  " + Table.escape(finding.message()));
                    if (!finding.remedy().isEmpty()) {
                        out.println("      " + Table.escape(finding.remedy()));
                    }
                }
            }
        }
    }

    private static void printWaiting(List<CheckResult> results, PrintWriter out) {
        String waiting = results.stream()
                .filter(result ->
                        result.findings().stream().anyMatch(f -> f.code().equals("needs-time")))
                .map(result -> result.check().id())
                .collect(Collectors.joining(", "));
        if (!waiting.isEmpty()) {
            out.println("SKIPPED  needs-time  a single run is too short for: " + Table.escape(waiting)
                    + "; the daemon evaluates it");
        }
    }
}
