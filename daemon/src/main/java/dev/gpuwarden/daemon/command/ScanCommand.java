package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.view.CheckView;
import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.Bounds;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.MeasuredGpus;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.daemon.view.CheckSummary;
import dev.gpuwarden.daemon.view.DriverView;
import dev.gpuwarden.daemon.view.GpuView;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs every check once on the node and reports whether the node is fit. */
@Command(
        name = "scan",
        description = "Run every check on this node once, and report whether it is fit to work.",
        exitCodeList = {"0:fit", "1:not fit", "2:wrong usage or configuration", "3:could not decide"})
public final class ScanCommand extends CheckingCommand {

    @Bounds(from = "1s")
    @Option(
            names = "--deadline",
            paramLabel = "TIME",
            description = "End within this time, for a job scheduler's prolog: what has not answered by then is UNKNOWN"
                    + " (exit code 3, unless a fault was found). Default: as long as the deadlines of GPUs and checks.")
    @Nullable Duration deadline;

    public ScanCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() {
        Run run = runChecks(checks.plan(checks.all(node.get()), GpuLoad.NONE), Optional.ofNullable(deadline));
        Report report = Report.of(run.node(), run.results());
        show(report.tree(), report::print);
        return ExitCode.of(report.verdict());
    }

    /** The results of a scan as a tree for JSON and YAML: gpuwarden.scan/v1, see docs/reference/scan-json.md. Pure. */
    record Report(NodeSnapshot node, List<CheckResult> results, Verdict verdict) {

        static final String SCHEMA = "gpuwarden.scan/v1";

        private static final String NOTHING = "-";
        private static final Set<Outcome> COMPLAINTS = Set.of(Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN);

        static Report of(NodeSnapshot node, List<CheckResult> results) {
            return new Report(node, results, NodeVerdict.of(results));
        }

        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("schema", SCHEMA);
            tree.put("verdict", verdict.label());
            tree.put("driver", DriverView.tree(node.driver()));
            tree.put(
                    "pciGpus",
                    Values.tree(
                            node.pciGpus(),
                            gpus -> gpus.stream().map(PciAddress::toString).toList()));
            tree.put("gpus", node.gpus().stream().map(GpuView::tree).toList());
            tree.put("findings", CheckView.findings(results));
            return tree;
        }

        void print(PrintWriter out) {
            List<GpuSnapshot> gpus = node.gpus();
            if (!gpus.isEmpty()) {
                Table table = new Table(
                        "GPU", "NAME", "PCI", "STATE", "TEMP", "POWER", "MEMORY USED/TOTAL", "UTIL", "FINDINGS");
                List<Finding> findings = NodeVerdict.findings(results);
                gpus.forEach(gpu -> rows(table, gpu, findings));
                table.print(out);
                out.println();
            }
            FindingLines.print(results, out);
            CheckSummary summary =
                    new CheckSummary(results, true, false, List.of(), MeasuredGpus.of(results, Set.of()), false);
            out.println("verdict: " + summary.conclusion(passed(gpus)));
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
                    cell(
                            gpu,
                            frame.reading(GpuMetric.POWER_USAGE),
                            p -> String.format(Locale.ROOT, "%.0f W", p / 1000.0)),
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

        /**
         * Returns a cell. The state of a GPU that does not answer gives the cause once; the cells after it do not repeat
         * it.
         */
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

        /** Returns the codes of complaints about this GPU, under any of its names. */
        private static String codes(String label, List<Finding> findings) {
            Set<Entity> names = findings.stream()
                    .filter(f -> f.subject().label().equals(label))
                    .flatMap(f -> f.subject().entities().stream())
                    .collect(Collectors.toSet());
            String codes = findings.stream()
                    .filter(f -> COMPLAINTS.contains(f.outcome()))
                    .filter(f -> f.subject().entities().stream().anyMatch(names::contains))
                    .map(Finding::code)
                    .distinct()
                    .collect(Collectors.joining(", "));
            return codes.isEmpty() ? "none" : codes;
        }

        private static String passed(List<GpuSnapshot> gpus) {
            long answering = gpus.stream().filter(Report::answers).count();
            return CheckSummary.count(answering, "GPU") + (answering == 1 ? " answers" : " answer");
        }
    }
}
