package dev.gpuwarden.core.health;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What the snapshot of one GPU says about its fitness. Pure. */
final class GpuAssessment {

    private GpuAssessment() {}

    /** @param leftOver where a GPU of this node must be that cannot tell its address itself */
    static List<Finding> assess(GpuSnapshot gpu, Optional<PciAddress> leftOver) {
        List<Finding> findings = new ArrayList<>();
        state(gpu).map(finding -> located(finding, gpu, leftOver)).ifPresent(findings::add);
        recoveryAction(gpu).ifPresent(findings::add);
        unreadable(gpu).ifPresent(findings::add);
        boolean fine = findings.isEmpty();
        implausible(gpu).ifPresent(findings::add);
        if (fine) {
            findings.add(finding(gpu, Outcome.PASS, "gpu-answering", "answers", ""));
        }
        return findings;
    }

    static Optional<Finding> state(GpuSnapshot gpu) {
        String detail = gpu.detail().isEmpty() ? "" : ": " + gpu.detail();
        return switch (gpu.state()) {
            case ANSWERING -> Optional.empty();
            case STARTING ->
                Optional.of(finding(
                        gpu,
                        Outcome.UNKNOWN,
                        "gpu-starting",
                        "has not been read yet" + detail,
                        "wait for the first sample"));
            case HUNG ->
                fault(
                        gpu,
                        "gpu-hung",
                        "expected an answer within the deadline, but the driver hangs" + detail,
                        "look for XIDs in the kernel log; a hung GPU mostly needs a reboot");
            case LOST ->
                fault(
                        gpu,
                        "gpu-lost",
                        "expected answers, but the GPU is lost" + detail,
                        "it fell off the bus: drain the node and reboot; if it comes back lost, replace the board");
            case RESET_REQUIRED ->
                fault(
                        gpu,
                        "reset-required",
                        "expected answers, but the GPU needs a reset" + detail,
                        "stop its clients, then: nvidia-smi --gpu-reset -i "
                                + gpu.identity().label());
            case GONE ->
                fault(
                        gpu,
                        "gpu-gone",
                        "was there before, and the driver no longer lists it",
                        "look for it in the kernel log; drain the node and reboot");
        };
    }

    private static Finding located(Finding finding, GpuSnapshot gpu, Optional<PciAddress> leftOver) {
        if (leftOver.isEmpty() || gpu.identity().pci() instanceof Reading.Present<?>) {
            return finding;
        }
        String message =
                finding.message() + "; it must be " + leftOver.get() + ", which no other GPU claims on the PCI bus";
        return new Finding(finding.outcome(), finding.code(), finding.subject(), message, finding.remedy());
    }

    /** 0 is "nothing to do". Older drivers do not have the question, which is no finding. */
    static Optional<Finding> recoveryAction(GpuSnapshot gpu) {
        GpuFrame frame = gpu.frame();
        if (frame.present(GpuMetric.RECOVERY_ACTION)) {
            long action = frame.raw(GpuMetric.RECOVERY_ACTION);
            return action == 0 ? Optional.empty() : fault(gpu, "recovery-action", asksFor(action), remedy(action));
        }
        Absence cause = frame.absence(GpuFrame.slot(GpuMetric.RECOVERY_ACTION));
        if (cause != Absence.IMPLAUSIBLE) {
            return Optional.empty();
        }
        return Optional.of(finding(
                gpu,
                Outcome.UNKNOWN,
                "recovery-action-unknown",
                "expected a recovery action from 0 to 5, but the driver's answer was refused: " + cause.text(),
                "see doctor for what the library answered"));
    }

    private static String asksFor(long action) {
        // nvml.h 13.3, nvmlDeviceGpuRecoveryAction_t
        String name = switch ((int) action) {
            case 1 -> "a GPU reset";
            case 2 -> "a node reboot";
            case 3 -> "draining its peer-to-peer clients";
            case 4 -> "draining and a GPU reset";
            case 5 -> "recovering the IMEX domain";
            default -> "an action that this version does not know";
        };
        return "expected recovery action 0, but the driver asks for " + name + " (" + action + ")";
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

    /** A GPU of which no quick reading can be had was not looked at. Other states explain themselves. */
    static Optional<Finding> unreadable(GpuSnapshot gpu) {
        if (state(gpu).isPresent()) {
            return Optional.empty();
        }
        for (int i = 0; i < GpuMetric.count(); i++) {
            if (GpuMetric.of(i).cadence() == Cadence.FAST && gpu.frame().present(i)) {
                return Optional.empty();
            }
        }
        int slot = GpuFrame.slot(GpuMetric.TEMPERATURE);
        Absence cause = gpu.frame().absence(slot);
        int code = gpu.frame().code(slot);
        return Optional.of(finding(
                gpu,
                Outcome.UNKNOWN,
                cause == Absence.STALE ? "gpu-stale" : "gpu-unreadable",
                "expected readings, but there is none: temperature: " + cause.text()
                        + (code == 0 ? "" : " (code " + code + ")"),
                "see doctor"));
    }

    static Optional<Finding> implausible(GpuSnapshot gpu) {
        List<String> refused = new ArrayList<>();
        for (int i = 0; i < GpuMetric.count(); i++) {
            if (gpu.frame().absence(i) == Absence.IMPLAUSIBLE) {
                refused.add(GpuMetric.of(i).label());
            }
        }
        if (refused.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(finding(
                gpu,
                Outcome.WARN,
                "implausible-values",
                "the library answers values that cannot be true; refused: " + shortened(refused),
                "see doctor; check that library and driver are of the same version"));
    }

    private static String shortened(List<String> names) {
        int shown = 5;
        return names.size() <= shown + 1
                ? String.join(", ", names)
                : String.join(", ", names.subList(0, shown)) + " and " + (names.size() - shown) + " more";
    }

    private static Optional<Finding> fault(GpuSnapshot gpu, String code, String message, String remedy) {
        return Optional.of(finding(gpu, Outcome.FAIL, code, message, remedy));
    }

    private static Finding finding(GpuSnapshot gpu, Outcome outcome, String code, String message, String remedy) {
        String label = gpu.identity().label();
        return new Finding(outcome, code, label, label + ": " + message, remedy);
    }
}
