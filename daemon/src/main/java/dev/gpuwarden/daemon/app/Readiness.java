package dev.gpuwarden.daemon.app;

import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.ArrayList;
import java.util.List;

/** Readiness of the daemon: everything was read once. A GPU or a driver that is known not to answer counts as read. */
public final class Readiness {

    private Readiness() {}

    /** Returns what is missing; empty when ready. */
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
