package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.v1.Gpu;
import dev.gpuwarden.api.v1.Unreached;
import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.daemon.view.CheckSummary;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The text of `gpuwarden status`. Pure. */
record StatusText(StatusReport report) {

    private static final String KERNEL_LOG = "kernel-log";

    /** The bound on GPUs that do not answer and get a line each. */
    private static final int MOST_SILENT = 16;

    /** The bound on parts that are no fault yet and get a line each. */
    private static final int MOST_FAILING = 16;

    void print(Instant now, PrintWriter out) {
        report.notStored()
                .ifPresent(why -> out.println("WARNING     events are not stored: " + Table.escape(why)
                        + "; they are lost if the daemon ends"));
        out.println("node        " + Table.escape(report.node().getName()));
        out.println("daemon      gpuwarden " + Table.escape(report.node().getVersion()) + ", up "
                + ClientTimes.age(Duration.between(report.started(), now)));
        out.println("driver      " + Table.escape(driver(report.driver())));
        out.println("GPUs        " + Table.escape(gpus(report.gpus())));
        report.gpus().stream()
                .filter(gpu -> !StatusReport.state(gpu).equals("answering"))
                .limit(MOST_SILENT)
                .forEach(gpu -> out.println("            " + Table.escape(silent(gpu))));
        out.println("kernel log  " + Table.escape(kernelLog(report.results())));
        out.println("checks      " + checkCounts());
        for (Unreached each : report.node().getUnreachedList()) {
            out.println("unreached   " + Table.escape(each.getReceiver() + ": " + each.getWhy()));
        }
        out.println();
        if (!report.faults().isEmpty()) {
            StatusFaults.print(report.faults(), new ClientGpus(report.gpus()), report.damping(), now, out);
            if (report.faultsLeftOut() > 0) {
                out.println(report.faultsLeftOut() + " more faults did not fit into the daemon's answer");
            }
            out.println();
        }
        if (!report.complaints().isEmpty()) {
            FindingLines.print(report.complaints(), out);
            out.println();
        }
        damping(report.damping(), out);
        out.println(verdictLine());
    }

    /** Prints findings that are no fault yet, and why a single run may differ. */
    private static void damping(List<Damping> damping, PrintWriter out) {
        if (damping.isEmpty()) {
            return;
        }
        damping.stream()
                .filter(each -> each.phase() == Damping.Phase.FAILING)
                .limit(MOST_FAILING)
                .forEach(each ->
                        out.println(Table.escape("NO FAULT YET  " + each.check().id() + " " + each.code() + " of "
                                + each.subject().label() + ": " + each.text())));
        out.println(
                "'gpuwarden scan' runs once; a fault is raised and cleared after several runs, so the two may differ"
                        + " now");
        out.println();
    }

    private static String driver(DriverState state) {
        if (state instanceof DriverState.Running running) {
            return version(running.info());
        } else if (state instanceof DriverState.Silent silent) {
            return version(silent.info()) + ", does not answer: " + silent.detail();
        } else if (state instanceof DriverState.Unavailable none) {
            return "none: " + none.reason().name().toLowerCase(Locale.ROOT).replace('_', ' ')
                    + (none.detail().isEmpty() ? "" : ": " + none.detail());
        }
        return "is being opened";
    }

    private static String version(DriverInfo info) {
        return Values.cell(info.driverVersion(), version -> version)
                + info.cudaVersion().asOptional().map(cuda -> ", CUDA " + cuda).orElse("");
    }

    /** Returns "8, answering" or "8: 7 answering, 1 lost". */
    private static String gpus(List<Gpu> gpus) {
        Map<String, Long> states = gpus.stream()
                .collect(Collectors.groupingBy(
                        gpu -> StatusReport.state(gpu).replace('_', ' '), TreeMap::new, Collectors.counting()));
        return switch (states.size()) {
            case 0 -> "none";
            case 1 -> gpus.size() + " " + states.keySet().iterator().next();
            default ->
                gpus.size() + ": "
                        + states.entrySet().stream()
                                .map(state -> state.getValue() + " " + state.getKey())
                                .collect(Collectors.joining(", "));
        };
    }

    /** Returns a line for a GPU that does not answer, with the data that its replacement needs. */
    private static String silent(Gpu gpu) {
        List<String> parts = new ArrayList<>();
        parts.add(ClientGpus.label(gpu) + " " + StatusReport.state(gpu).replace('_', ' '));
        if (gpu.getName().hasValue()) {
            parts.add(gpu.getName().getValue());
        }
        if (gpu.getSerial().hasValue()) {
            parts.add("serial " + gpu.getSerial().getValue());
        }
        if (gpu.getUuid().hasValue()) {
            parts.add(gpu.getUuid().getValue());
        }
        return String.join(", ", parts);
    }

    private static String kernelLog(List<CheckResult> results) {
        return results.stream()
                .filter(result -> result.check().id().equals(KERNEL_LOG))
                .flatMap(result -> result.findings().stream())
                .map(Finding::message)
                .findFirst()
                .orElse("not checked");
    }

    private String checkCounts() {
        List<String> parts = new ArrayList<>();
        for (Outcome outcome : List.of(Outcome.FAIL, Outcome.UNKNOWN, Outcome.WARN, Outcome.PASS, Outcome.SKIPPED)) {
            if (report.count(outcome) > 0) {
                parts.add(report.count(outcome) + " " + outcome.name().toLowerCase(Locale.ROOT));
            }
        }
        if (!report.waiting().isEmpty()) {
            parts.add(report.waiting().size() + " not run yet");
        }
        return parts.isEmpty() ? "none" : String.join(", ", parts);
    }

    /** Returns the number of faults of other sources than checks, whose findings are the warnings. */
    private String notFatal() {
        long others = report.faults().stream()
                .map(Fault::cause)
                .filter(cause -> cause.strategy().actedOn() && !cause.metadata().containsKey(FindingEvents.CHECK))
                .map(HealthEvent::id)
                .distinct()
                .count();
        return others == 0
                ? ""
                : ", with " + (others == 1 ? "1 fault that is" : others + " faults that are") + " not fatal";
    }

    private String verdictLine() {
        List<Finding> findings = NodeVerdict.findings(report.results());
        return switch (report.verdict()) {
            case FIT ->
                "verdict: fit" + CheckSummary.warnings(findings) + notFatal() + " ("
                        + CheckSummary.count(report.count(Outcome.PASS), "check") + " passed)";
            case NOT_FIT ->
                "verdict: not fit (" + CheckSummary.count(report.fatal(), "fatal fault") + ", "
                        + CheckSummary.count(report.count(Outcome.FAIL), "failing check") + ")";
            case UNDECIDED -> {
                String codes =
                        report.reasons().stream().map(Finding::code).distinct().collect(Collectors.joining(", "));
                yield "verdict: could not decide (" + (codes.isEmpty() ? "nothing was checked" : codes) + ")";
            }
        };
    }
}
