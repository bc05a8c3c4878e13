package dev.gpuwarden.daemon.app;

import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.ArrayList;
import java.util.List;

/** Whether everything was looked at once. A GPU or a driver that is known not to answer has been looked at. */
public final class Readiness {

    private Readiness() {}

    /** What is still waited for; empty when ready. */
    public static List<String> pending(NodeSnapshot node) {
        List<String> pending = new ArrayList<>();
        if (node.driver() instanceof NodeSnapshot.DriverState.Opening) {
            pending.add("the driver is being opened");
        }
        for (GpuSnapshot gpu : node.gpus()) {
            if (gpu.state() == GpuState.STARTING) {
                pending.add(gpu.identity().label() + " was not read yet");
            }
        }
        return pending;
    }
}
