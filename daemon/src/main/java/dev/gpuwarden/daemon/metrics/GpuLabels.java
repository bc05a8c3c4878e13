package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.model.GpuIdentity;
import io.prometheus.metrics.model.snapshots.Labels;

/** Labels of series about one GPU: the driver's index and the UUID, everything else is in `gpuwarden_gpu_info`. */
final class GpuLabels {

    private GpuLabels() {}

    static Labels of(GpuIdentity gpu) {
        return Labels.of("gpu", Integer.toString(gpu.index()), "uuid", uuid(gpu));
    }

    /** The UUID, empty when the GPU could not be asked. */
    static String uuid(GpuIdentity gpu) {
        return gpu.uuid().asOptional().orElse("");
    }
}
