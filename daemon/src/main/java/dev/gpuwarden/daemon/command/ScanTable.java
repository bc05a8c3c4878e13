package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What scan found, for people: a row for each GPU, a line for each finding, the verdict last. */
final class ScanTable {

    private static final String NOTHING = "-";

    private ScanTable() {}

    static void print(ScanReport report, PrintWriter out) {
        List<GpuSnapshot> gpus = report.node().gpus();
        if (!gpus.isEmpty()) {
            Table table =
                    new Table("GPU", "NAME", "PCI", "STATE", "TEMP", "POWER", "MEMORY USED/TOTAL", "UTIL", "FINDINGS");
            gpus.forEach(gpu -> rows(table, gpu, report.findings()));
            table.print(out);
            out.println();
        }
        for (Finding finding : report.findings()) {
            if (finding.outcome() != Outcome.PASS) {
                out.println(finding.outcome() + "  " + finding.code() + "  " + Table.escape(finding.message()));
                if (!finding.remedy().isEmpty()) {
                    out.println("      " + Table.escape(finding.remedy()));
                }
            }
        }
        out.println(verdict(report));
    }

    private static void rows(Table table, GpuSnapshot gpu, List<Finding> findings) {
        GpuFrame frame = gpu.frame();
        table.row(
                gpu.identity().index(),
                cell(gpu, gpu.identity().name(), name -> name),
                cell(gpu, gpu.identity().pci(), PciAddress::toString),
                Table.styled(
                        answers(gpu) ? Style.GOOD : Style.BAD,
                        gpu.state().label().replace('_', ' ')),
                cell(gpu, frame.reading(GpuMetric.TEMPERATURE), t -> t + " C"),
                cell(gpu, frame.reading(GpuMetric.POWER_USAGE), p -> String.format(Locale.ROOT, "%.0f W", p / 1000.0)),
                answers(gpu) || frame.present(GpuMetric.MEMORY_USED) ? memory(frame) : NOTHING,
                cell(gpu, frame.reading(GpuMetric.UTILIZATION_GPU), u -> u + " %"),
                codes(gpu.identity().label(), findings));
        for (GpuSnapshot.MigSnapshot mig : gpu.mig()) {
            table.row(
                    gpu.identity().index() + "/" + mig.identity().index(),
                    Values.cell(mig.identity().profile(), profile -> "MIG " + profile),
                    "",
                    "",
                    "",
                    "",
                    memory(mig.frame()),
                    "",
                    "");
        }
    }

    /** A GPU that does not answer says so once, in its state; the cells after it need not repeat the cause. */
    private static <T> String cell(GpuSnapshot gpu, Reading<T> reading, Function<T, String> text) {
        return answers(gpu) || reading instanceof Reading.Present<T> ? Values.cell(reading, text) : NOTHING;
    }

    private static boolean answers(GpuSnapshot gpu) {
        return gpu.state() == GpuState.ANSWERING;
    }

    private static String memory(GpuFrame frame) {
        Reading<Long> used = frame.reading(GpuMetric.MEMORY_USED);
        Reading<Long> total = frame.reading(GpuMetric.MEMORY_TOTAL);
        String usedText = Values.cell(used, Values::gibibytes);
        String totalText = Values.cell(total, bytes -> Values.gibibytes(bytes) + " GiB");
        return usedText.equals(totalText) ? usedText : usedText + " / " + totalText;
    }

    private static String codes(String subject, List<Finding> findings) {
        String codes = findings.stream()
                .filter(f -> f.subject().equals(subject) && f.outcome() != Outcome.PASS)
                .map(Finding::code)
                .collect(Collectors.joining(", "));
        return codes.isEmpty() ? "none" : codes;
    }

    private static String verdict(ScanReport report) {
        Outcome decisive = switch (report.verdict()) {
            case FIT -> Outcome.PASS;
            case NOT_FIT -> Outcome.FAIL;
            case UNDECIDED -> Outcome.UNKNOWN;
        };
        long count =
                report.findings().stream().filter(f -> f.outcome() == decisive).count();
        String why = switch (report.verdict()) {
            case FIT -> count == 1 ? "1 GPU answers" : count + " GPUs answer";
            case NOT_FIT -> count == 1 ? "1 fault" : count + " faults";
            case UNDECIDED ->
                report.findings().stream()
                        .filter(f -> f.outcome() == Outcome.UNKNOWN)
                        .map(Finding::code)
                        .distinct()
                        .collect(Collectors.joining(", "));
        };
        String word = report.verdict() == Verdict.UNDECIDED
                ? "could not decide"
                : report.verdict().text();
        return "verdict: " + word + " (" + why + ")";
    }
}
