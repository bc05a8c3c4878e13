package dev.gpuwarden.core.health;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.List;

/** The check whether the driver requests a recovery action for a GPU (nvml.h 13.3, nvmlDeviceGpuRecoveryAction_t). Pure. */
public final class RecoveryAction {

    private RecoveryAction() {}

    /** Returns a finding for every GPU: a GPU that is lost otherwise may still report the action that it needs. */
    public static List<Finding> judge(NodeSnapshot node) {
        return EachGpu.where(
                node,
                gpu -> gpu.state() == GpuState.ANSWERING || gpu.frame().present(GpuMetric.RECOVERY_ACTION),
                RecoveryAction::judge);
    }

    /** Returns the finding for one GPU. 0 means that no action is needed. Older drivers lack the query. */
    static Finding judge(GpuSnapshot gpu) {
        GpuFrame frame = gpu.frame();
        Subject subject = Subject.of(gpu.identity());
        String label = gpu.identity().label();
        if (frame.present(GpuMetric.RECOVERY_ACTION)) {
            long action = frame.raw(GpuMetric.RECOVERY_ACTION);
            return action == 0
                    ? Finding.pass("no-recovery-action", subject, label + ": the driver requests no recovery action")
                    : Finding.fail(
                            "recovery-action",
                            subject,
                            label + ": expected recovery action 0, but the driver requests " + words(action) + " ("
                                    + action + ")",
                            remedy(action),
                            recommended(action));
        }
        Absence cause = frame.absence(GpuFrame.slot(GpuMetric.RECOVERY_ACTION));
        return switch (cause) {
            case NOT_SUPPORTED, NO_SYMBOL, NO_DATA ->
                Finding.skipped(
                        "recovery-action-unsupported", subject, label + ": no recovery action: " + cause.text());
            case IMPLAUSIBLE ->
                Finding.unknown(
                        "recovery-action-unknown",
                        subject,
                        label + ": expected a recovery action from 0 to 5, but the driver's answer was refused: "
                                + cause.text(),
                        "see doctor for what the library answered");
            default ->
                Finding.unknown(
                        "recovery-action-unknown",
                        subject,
                        label + ": expected a recovery action from 0 to 5, but there is none: " + cause.text(),
                        "see doctor");
        };
    }

    private static String words(long action) {
        return switch ((int) action) {
            case 1 -> "a GPU reset";
            case 2 -> "a node reboot";
            case 3 -> "draining its peer-to-peer clients";
            case 4 -> "draining and a GPU reset";
            case 5 -> "recovering the IMEX domain";
            default -> "an action that this version does not support";
        };
    }

    private static RecommendedAction recommended(long action) {
        return switch ((int) action) {
            case 1, 4 -> RecommendedAction.COMPONENT_RESET;
            case 2 -> RecommendedAction.RESTART_BM;
            default -> RecommendedAction.CONTACT_SUPPORT;
        };
    }

    private static String remedy(long action) {
        return switch ((int) action) {
            case 1 -> "stop its clients, then reset it";
            case 2 -> "drain the node and reboot";
            case 3 -> "stop work that uses several GPUs of this node";
            case 4 -> "drain the node, then reset the GPU";
            case 5 -> "restart the IMEX domain of this node";
            default -> "see the driver's release notes";
        };
    }
}
