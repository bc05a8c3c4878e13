package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.model.GpuIdentity;
import io.prometheus.metrics.model.snapshots.Labels;

/** Labels of series about one GPU: the driver's index and the UUID. Everything else is in `gpuwarden_gpu_info`. */
final class GpuLabels {

    private GpuLabels() {}

    static Labels of(GpuIdentity gpu) {
        return Labels.of("gpu", Integer.toString(gpu.index()), "uuid", uuid(gpu));
    }

    /** Returns the UUID; empty if the GPU did not report it. */
    static String uuid(GpuIdentity gpu) {
        return gpu.uuid().asOptional().orElse("");
    }
}
