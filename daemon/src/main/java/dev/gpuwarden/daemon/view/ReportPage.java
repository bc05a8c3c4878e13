package dev.gpuwarden.daemon.view;

import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The report of a node that a person keeps: one HTML file without scripts that loads nothing. Pure.
 *
 * @param at time of the report
 * @param style the style sheet, which becomes a part of the page
 */
public record ReportPage(String node, Instant at, NodeSnapshot snapshot, CheckSummary summary, String style) {

    private static final Map<Outcome, String> CLASSES = Map.of(
            Outcome.PASS,
            "good",
            Outcome.WARN,
            "warn",
            Outcome.FAIL,
            "bad",
            Outcome.UNKNOWN,
            "unknown",
            Outcome.SKIPPED,
            "quiet");

    /** Returns the page. */
    public String html() {
        String title = summary.all() ? "Node " + node + ": " + word() : "Some checks of node " + node + ": " + word();
        String head = """
                <!doctype html>
                <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
                <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
                """;
        return head + "<title>" + Html.escape(title) + "</title><style>" + style + Html.CHART_STYLE
                + "</style></head><body>\n<header><h1>" + Html.escape(title) + "</h1><p class=\"quiet\">gpuwarden, "
                + at.truncatedTo(ChronoUnit.SECONDS) + "</p></header>\n"
                + section("Result", result())
                + section("Driver", driver())
                + section("GPUs", gpus())
                + section("Complaints", complaints())
                + measurements()
                + section("Checks", checks())
                + "</body></html>\n";
    }

    /** Returns "fit", or "incomplete" where a GPU was not measured. */
    private String word() {
        if (summary.incomplete()) {
            return "incomplete, measured " + summary.measured().text();
        }
        String partial = summary.measured().complete()
                ? ""
                : ", measured " + summary.measured().text();
        return (summary.all()
                        ? summary.verdict().text()
                        : switch (summary.verdict()) {
                            case FIT -> "passed";
                            case NOT_FIT -> "failed";
                            case UNDECIDED -> "undecided";
                        })
                + partial;
    }

    private String result() {
        return summary.lines().stream()
                .map(line -> "<p>" + Html.escape(line.strip()) + "</p>")
                .collect(Collectors.joining());
    }

    private List<CheckResult> results() {
        return summary.results();
    }

    private static String section(String title, String content) {
        return "<section><h2>" + title + "</h2>" + content + "</section>\n";
    }

    private String driver() {
        DriverState state = snapshot.driver();
        if (state instanceof DriverState.Running running) {
            DriverInfo info = running.info();
            return Html.table(
                    List.of("Property", "Value"),
                    Stream.of(
                            Html.cells("driver", cell(info.driverVersion())),
                            Html.cells("CUDA of the driver", cell(info.cudaVersion())),
                            Html.cells("library", cell(info.libraryPath()))));
        }
        String why = state instanceof DriverState.Unavailable none
                ? none.detail()
                : state instanceof DriverState.Silent silent ? silent.detail() : "still being opened";
        return "<p class=\"bad\">" + Html.escape(why) + "</p>";
    }

    private String gpus() {
        return Html.table(
                List.of("GPU", "Name", "PCI", "Serial", "UUID", "VBIOS", "Board", "Memory"),
                snapshot.gpus().stream().map(ReportPage::row));
    }

    private static List<String> row(GpuSnapshot gpu) {
        GpuIdentity identity = gpu.identity();
        return Html.cells(
                Integer.toString(identity.index()),
                cell(identity.name()),
                cell(identity.pci().map(PciAddress::toString)),
                cell(identity.serial()),
                cell(identity.uuid()),
                cell(identity.vbios()),
                cell(identity.boardPart()),
                cell(gpu.frame().reading(GpuMetric.MEMORY_TOTAL).map(bytes -> Values.gibibytes(bytes) + " GiB")));
    }

    private static String cell(Reading<String> reading) {
        return Values.cell(reading, text -> text);
    }

    private String complaints() {
        List<List<String>> rows = results().stream()
                .flatMap(result -> result.findings().stream()
                        .filter(finding -> finding.outcome() != Outcome.PASS && finding.outcome() != Outcome.SKIPPED)
                        .map(finding -> row(result, finding)))
                .toList();
        return rows.isEmpty()
                ? "<p>" + (summary.measured().complete() ? "None." : "None of what was measured.") + "</p>"
                : Html.table(List.of("Outcome", "Check", "Finding", "Remedy", "Action"), rows.stream());
    }

    private static List<String> row(CheckResult result, Finding finding) {
        return List.of(
                outcome(finding.outcome()),
                Html.escape(result.check().id()),
                Html.escape(finding.message()),
                Html.escape(finding.remedy()),
                Html.escape(finding.action().label()));
    }

    private static String outcome(Outcome outcome) {
        return "<span class=\"" + CLASSES.get(outcome) + "\">" + outcome + "</span>";
    }

    /** Returns a chart for each measured value of a check, with the parts in the order of the findings. */
    private String measurements() {
        StringBuilder all = new StringBuilder();
        for (CheckResult result : results()) {
            List<String> names = result.findings().stream()
                    .flatMap(finding -> finding.evidence().stream())
                    .map(measured -> measured.name())
                    .filter(name -> !BarChart.isBound(name))
                    .distinct()
                    .toList();
            if (!names.isEmpty()) {
                String charts = names.stream()
                        .map(name -> BarChart.of(name, result.findings()).svg())
                        .collect(Collectors.joining());
                all.append(section(
                        "Measured: " + Html.escape(result.check().id()),
                        "<p class=\"quiet\">" + Html.escape(result.check().summary()) + "</p>" + charts));
            }
        }
        return all.toString();
    }

    private String checks() {
        return Html.table(
                List.of("Check", "Outcome", "Parts", "Took", "Question"),
                results().stream()
                        .map(result -> List.of(
                                Html.escape(result.check().id()),
                                outcome(result.outcome()),
                                Html.escape(CheckSummary.parts(result.findings())),
                                String.format(
                                        Locale.ROOT, "%.1f ms", result.took().toNanos() / 1e6),
                                Html.escape(
                                        skipReason(result).orElse(result.check().summary())))));
    }

    /** Returns why a check is SKIPPED, so that it does not read like a PASS. */
    private static Optional<String> skipReason(CheckResult result) {
        return result.outcome() != Outcome.SKIPPED
                ? Optional.empty()
                : Optional.of(result.findings().stream()
                        .map(Finding::message)
                        .findFirst()
                        .orElse("does not apply to this node"));
    }
}
