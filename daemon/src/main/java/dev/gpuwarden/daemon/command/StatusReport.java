package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.CheckCodec;
import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.NodeCodec;
import dev.gpuwarden.api.ReadingCodec;
import dev.gpuwarden.api.v1.Check;
import dev.gpuwarden.api.v1.Gpu;
import dev.gpuwarden.api.v1.ListFaultsResponse;
import dev.gpuwarden.api.v1.Node;
import dev.gpuwarden.api.v1.Unreached;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.daemon.view.CheckSummary;
import dev.gpuwarden.daemon.view.CheckView;
import dev.gpuwarden.daemon.view.DriverView;
import dev.gpuwarden.daemon.view.FaultView;
import dev.gpuwarden.daemon.view.Values;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The status that a daemon reports of its node: gpuwarden.status/v1, see docs/reference/status-json.md. Pure.
 *
 * @param faultsLeftOut faults that did not fit into the answer
 * @param results results of the checks that have run
 * @param waiting checks that have not run
 * @param damping findings that are not yet raised or cleared; also empty if the daemon is too old to report them
 * @param notStored why events are not stored now; empty if they are
 */
record StatusReport(
        Node node,
        List<Gpu> gpus,
        List<Fault> faults,
        int faultsLeftOut,
        List<CheckResult> results,
        List<String> waiting,
        List<Damping> damping,
        Optional<String> notStored) {

    static final String SCHEMA = "gpuwarden.status/v1";

    private static final String KERNEL_LOG = "kernel-log";

    /** The bound on GPUs that do not answer and get a line each. */
    private static final int MOST_SILENT = 16;

    /** The bound on parts that are no fault yet and get a line each. */
    private static final int MOST_FAILING = 16;

    /** @throws java.time.DateTimeException if a time is outside of the format's range */
    static StatusReport of(Node node, List<Gpu> gpus, ListFaultsResponse faults, List<Check> checks, boolean storing) {
        return new StatusReport(
                node,
                gpus,
                faults.getFaultsList().stream().map(FaultCodec::fromWire).toList(),
                faults.getLeftOut(),
                checks.stream()
                        .filter(Check::hasLast)
                        .map(check -> CheckCodec.fromWire(check.getLast(), CheckCodec.fromWire(check)))
                        .toList(),
                checks.stream()
                        .filter(check -> !check.hasLast())
                        .map(Check::getId)
                        .toList(),
                checks.stream()
                        .flatMap(check -> CheckCodec.damping(check).stream())
                        .toList(),
                // A daemon of an earlier version reports the fact alone.
                storing
                        ? Optional.empty()
                        : Optional.of(
                                node.getNotStored().isEmpty() ? "the daemon logs the cause" : node.getNotStored()));
    }

    Verdict verdict() {
        return CheckCodec.fromWire(node.getVerdict());
    }

    DriverState driver() {
        return NodeCodec.fromWire(node.getDriver());
    }

    Instant started() {
        return Instant.ofEpochSecond(
                node.getDaemonStarted().getSeconds(), node.getDaemonStarted().getNanos());
    }

    /** Returns results that complain or are unknown. */
    List<CheckResult> complaints() {
        return results.stream()
                .filter(result -> result.outcome() != Outcome.PASS && result.outcome() != Outcome.SKIPPED)
                .toList();
    }

    /** Returns the number of fatal faults that may be acted on. */
    long fatal() {
        return faults.stream()
                .filter(Fault::decides)
                .map(Fault::cause)
                .distinct()
                .count();
    }

    long count(Outcome outcome) {
        return results.stream().filter(result -> result.outcome() == outcome).count();
    }

    /** Returns why the node is not fit, as the daemon reports it. */
    List<Finding> reasons() {
        return node.getReasonsList().stream().map(CheckCodec::fromWire).toList();
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("node", node.getName());
        tree.put("verdict", verdict().label());
        tree.put("bootId", node.getBootId());
        tree.put("version", node.getVersion());
        tree.put("started", started().toString());
        tree.put("driver", DriverView.tree(driver()));
        tree.put(
                "pciGpus",
                Values.tree(
                        NodeCodec.pciGpus(node.getPciGpus()),
                        all -> all.stream().map(PciAddress::toString).toList()));
        tree.put("gpus", gpus.stream().map(StatusReport::tree).toList());
        tree.put("faults", FaultView.trees(faults, new ClientGpus(gpus).parts(), damping));
        tree.put("faultsLeftOut", faultsLeftOut);
        tree.put("checkOutcomes", outcomes());
        tree.put("checks", complaints().stream().map(CheckView::tree).toList());
        tree.put("damping", damping.stream().map(CheckView::tree).toList());
        tree.put("storing", notStored.isEmpty());
        tree.put("notStored", notStored.orElse(""));
        tree.put(
                "unreached",
                node.getUnreachedList().stream().map(StatusReport::tree).toList());
        return tree;
    }

    private static Map<String, Object> tree(Unreached each) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("receiver", each.getReceiver());
        tree.put("why", each.getWhy());
        return tree;
    }

    private Map<String, Object> outcomes() {
        Map<String, Object> counts = new LinkedHashMap<>();
        for (Outcome outcome : Outcome.values()) {
            counts.put(outcome.name().toLowerCase(Locale.ROOT), count(outcome));
        }
        counts.put("waiting", waiting.size());
        return counts;
    }

    private static Map<String, Object> tree(Gpu gpu) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("index", gpu.getIndex());
        tree.put("uuid", Values.tree(ReadingCodec.text(gpu.getUuid())));
        tree.put("pci", Values.tree(ReadingCodec.text(gpu.getPciAddress())));
        tree.put("name", Values.tree(ReadingCodec.text(gpu.getName())));
        tree.put("serial", Values.tree(ReadingCodec.text(gpu.getSerial())));
        tree.put("state", state(gpu));
        tree.put("detail", gpu.getStateDetail());
        return tree;
    }

    /** Returns the GPU's state as {@code scan} spells it. */
    static String state(Gpu gpu) {
        return switch (gpu.getState()) {
            case GPU_STATE_STARTING -> "starting";
            case GPU_STATE_ANSWERING -> "answering";
            case GPU_STATE_HUNG -> "hung";
            case GPU_STATE_LOST -> "lost";
            case GPU_STATE_RESET_REQUIRED -> "reset_required";
            case GPU_STATE_GONE -> "gone";
            case GPU_STATE_RELEASED -> "released";
            case GPU_STATE_UNREADABLE -> "unreadable";
            case GPU_STATE_UNSPECIFIED, UNRECOGNIZED -> "unknown";
        };
    }

    void print(Instant now, PrintWriter out) {
        notStored.ifPresent(why -> out.println(
                "WARNING     events are not stored: " + Table.escape(why) + "; they are lost if the daemon ends"));
        out.println("node        " + Table.escape(node.getName()));
        out.println("daemon      gpuwarden " + Table.escape(node.getVersion()) + ", up "
                + ClientTimes.age(Duration.between(started(), now)));
        out.println("driver      " + Table.escape(driver(driver())));
        out.println("GPUs        " + Table.escape(gpus(gpus)));
        gpus.stream()
                .filter(gpu -> !StatusReport.state(gpu).equals("answering"))
                .limit(MOST_SILENT)
                .forEach(gpu -> out.println("            " + Table.escape(silent(gpu))));
        out.println("kernel log  " + Table.escape(kernelLog(results)));
        out.println("checks      " + checkCounts());
        for (Unreached each : node.getUnreachedList()) {
            out.println("unreached   " + Table.escape(each.getReceiver() + ": " + each.getWhy()));
        }
        out.println();
        if (!faults.isEmpty()) {
            StatusFaults.print(faults, new ClientGpus(gpus), damping, now, out);
            if (faultsLeftOut > 0) {
                out.println(faultsLeftOut + " more faults did not fit into the daemon's answer");
            }
            out.println();
        }
        if (!complaints().isEmpty()) {
            FindingLines.print(complaints(), out);
            out.println();
        }
        damping(damping, out);
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
            if (count(outcome) > 0) {
                parts.add(count(outcome) + " " + outcome.name().toLowerCase(Locale.ROOT));
            }
        }
        if (!waiting.isEmpty()) {
            parts.add(waiting.size() + " not run yet");
        }
        return parts.isEmpty() ? "none" : String.join(", ", parts);
    }

    /** Returns the number of faults of other sources than checks, whose findings are the warnings. */
    private String notFatal() {
        long others = faults.stream()
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
        List<Finding> findings = NodeVerdict.findings(results);
        return switch (verdict()) {
            case FIT ->
                "verdict: fit" + CheckSummary.warnings(findings) + notFatal() + " ("
                        + FindingLines.count(count(Outcome.PASS), "check") + " passed)";
            case NOT_FIT ->
                "verdict: not fit (" + FindingLines.count(fatal(), "fatal fault") + ", "
                        + FindingLines.count(count(Outcome.FAIL), "failing check") + ")";
            case UNDECIDED -> {
                String codes = reasons().stream().map(Finding::code).distinct().collect(Collectors.joining(", "));
                yield "verdict: could not decide (" + (codes.isEmpty() ? "nothing was checked" : codes) + ")";
            }
        };
    }
}
