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
import dev.gpuwarden.checks.view.CheckView;
import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.daemon.view.DriverView;
import dev.gpuwarden.daemon.view.FaultView;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

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
}
