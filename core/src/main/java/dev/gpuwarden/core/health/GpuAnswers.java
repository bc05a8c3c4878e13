package dev.gpuwarden.core.health;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The check whether each GPU answers. PASS needs a reading. Pure.
 *
 * <p>Some errors contain nothing about the GPU's state, so that one run with them proves no fault. A GPU of which every call failed for
 * a time has one. A GPU that was lost or hung keeps that fault until a call succeeds.
 */
public final class GpuAnswers {

    private static final String HUNG_REMEDY = "search the kernel log for XIDs; a hung GPU mostly needs a reboot";
    private static final String LOST_REMEDY =
            "it fell off the bus: drain the node and reboot; if it comes back lost, replace the board";

    private static final Set<Absence> NOT_OFFERED =
            EnumSet.of(Absence.NOT_SUPPORTED, Absence.NO_SYMBOL, Absence.NO_DATA, Absence.OFF);

    private GpuAnswers() {}

    /** Returns the findings of a single run. */
    public static List<Finding> judge(NodeSnapshot node) {
        PartNames names = PartNames.of(node);
        return node.gpus().stream().map(gpu -> judge(gpu, Earlier.NONE, names)).toList();
    }

    /**
     * The findings of earlier runs.
     *
     * @param fault the state of the GPU when it last was lost or hung, if no call succeeded since; STARTING otherwise
     * @param unreadable whether every call failed for so long that it is a fault
     */
    public record Earlier(GpuState fault, boolean unreadable) {
        public static final Earlier NONE = new Earlier(GpuState.STARTING, false);
    }

    /** Returns whether this run read something of the GPU, so that faults of earlier runs are over. */
    public static boolean answers(GpuSnapshot gpu) {
        return gpu.state() == GpuState.ANSWERING
                && (GpuReadings.anyQuickReading(gpu.frame()) || offersNothing(gpu.frame()));
    }

    /** Returns whether the driver answered each query, each time that this board has no such reading. */
    private static boolean offersNothing(GpuFrame frame) {
        for (int i = 0; i < GpuMetric.count(); i++) {
            if (GpuMetric.of(i).cadence() == Cadence.FAST && !NOT_OFFERED.contains(frame.absence(i))) {
                return false;
            }
        }
        return true;
    }

    /** @param names the names of the node's GPUs, for instructions */
    public static Finding judge(GpuSnapshot gpu, Earlier earlier, PartNames names) {
        String detail = gpu.detail().isEmpty() ? "" : ": " + gpu.detail();
        String label = gpu.identity().label();
        return switch (gpu.state()) {
            case ANSWERING -> answers(gpu) ? passed(gpu) : unread(gpu, detail);
            case UNREADABLE -> unreadable(gpu, detail, earlier);
            case STARTING ->
                Finding.unknown(
                        "gpu-starting",
                        Subject.of(gpu.identity()),
                        label + ": has not been read yet" + detail,
                        "wait for the first sample");
            case HUNG ->
                fault(
                        gpu,
                        "gpu-hung",
                        "expected an answer within the deadline, but the driver hangs" + detail,
                        HUNG_REMEDY,
                        RecommendedAction.RESTART_BM);
            case LOST ->
                fault(
                        gpu,
                        "gpu-lost",
                        "expected answers, but the GPU is lost" + detail,
                        LOST_REMEDY,
                        RecommendedAction.RESTART_BM);
            case RESET_REQUIRED ->
                fault(
                        gpu,
                        "reset-required",
                        "expected answers, but the GPU needs a reset" + detail,
                        names.reset(gpu.identity()),
                        RecommendedAction.COMPONENT_RESET);
            case GONE ->
                fault(
                        gpu,
                        "gpu-gone",
                        "was there before, and the driver no longer lists it",
                        "search the kernel log for it; drain the node and reboot",
                        RecommendedAction.RESTART_BM);
            case RELEASED ->
                Finding.skipped(
                        "gpu-released", Subject.of(gpu.identity()), label + ": gpuwarden does not read it" + detail);
        };
    }

    private static Finding passed(GpuSnapshot gpu) {
        return Finding.pass(
                "gpu-answering", Subject.of(gpu.identity()), gpu.identity().label() + ": answers");
    }

    private static Finding unread(GpuSnapshot gpu, String detail) {
        Absence cause = gpu.frame().absence(GpuFrame.slot(GpuMetric.TEMPERATURE));
        return Finding.unknown(
                cause == Absence.STALE ? "gpu-stale" : "gpu-unread",
                Subject.of(gpu.identity()),
                gpu.identity().label() + ": expected a reading, but there is none: temperature: " + cause.text()
                        + detail,
                "see the check gpu-readings");
    }

    private static Finding unreadable(GpuSnapshot gpu, String detail, Earlier earlier) {
        if (earlier.fault() == GpuState.LOST || earlier.fault() == GpuState.HUNG) {
            boolean lost = earlier.fault() == GpuState.LOST;
            return fault(
                    gpu,
                    lost ? "gpu-lost" : "gpu-hung",
                    "expected answers, but the GPU was " + (lost ? "lost" : "hung") + " and no call has succeeded since"
                            + detail,
                    lost ? LOST_REMEDY : HUNG_REMEDY,
                    RecommendedAction.RESTART_BM);
        }
        if (earlier.unreadable()) {
            return fault(
                    gpu,
                    "gpu-unreadable",
                    "expected answers, but the driver returns errors alone" + detail,
                    "search the kernel log for its address; drain the node and reboot; if it persists, replace the board",
                    RecommendedAction.RESTART_BM);
        }
        return Finding.unknown(
                "gpu-unreadable",
                Subject.of(gpu.identity()),
                gpu.identity().label() + ": expected answers, but the driver returns errors alone" + detail,
                "wait: it is a fault if it lasts");
    }

    private static Finding fault(
            GpuSnapshot gpu, String code, String message, String remedy, RecommendedAction action) {
        // The board's supplier requires this before a replacement.
        String serial = gpu.identity()
                .serial()
                .asOptional()
                .map(text -> "; board serial " + text)
                .orElse("");
        return Finding.fail(
                code, Subject.of(gpu.identity()), gpu.identity().label() + ": " + message + serial, remedy, action);
    }
}
