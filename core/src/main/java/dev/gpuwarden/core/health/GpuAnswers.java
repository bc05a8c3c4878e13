package dev.gpuwarden.core.health;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;

/** The check whether each GPU answers. Pure. */
public final class GpuAnswers {

    private GpuAnswers() {}

    public static List<Finding> judge(NodeSnapshot node) {
        return node.gpus().stream().map(GpuAnswers::judge).toList();
    }

    private static Finding judge(GpuSnapshot gpu) {
        String detail = gpu.detail().isEmpty() ? "" : ": " + gpu.detail();
        String label = gpu.identity().label();
        return switch (gpu.state()) {
            case ANSWERING -> Finding.pass("gpu-answering", Subject.of(gpu.identity()), label + ": answers");
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
                        "search the kernel log for XIDs; a hung GPU mostly needs a reboot",
                        RecommendedAction.RESTART_BM);
            case LOST ->
                fault(
                        gpu,
                        "gpu-lost",
                        "expected answers, but the GPU is lost" + detail,
                        "it fell off the bus: drain the node and reboot; if it comes back lost, replace the board",
                        RecommendedAction.RESTART_BM);
            case RESET_REQUIRED ->
                fault(
                        gpu,
                        "reset-required",
                        "expected answers, but the GPU needs a reset" + detail,
                        "stop its clients, then: nvidia-smi --gpu-reset -i "
                                + gpu.identity().selector(),
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
