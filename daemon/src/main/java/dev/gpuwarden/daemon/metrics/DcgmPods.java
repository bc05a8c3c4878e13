package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.GpuIdentity.MigDevice;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Labels of the pod to which the kubelet assigned a GPU or a partition. A GPU that several pods share has none. A
 * series for each pod would count the GPU several times, and a series for one pod would attribute all the work to it.
 * Pure.
 */
record DcgmPods(List<GpuHolder> holders) {

    /** The names of partitions in device plugins that omit the UUID: NVIDIA's before driver 470, and Google's. */
    private static final Pattern INSTANCE =
            Pattern.compile("(?:MIG-GPU-[0-9a-fA-F-]{36}/|nvidia[0-9]{1,4}/gi)([0-9]{1,4})(?:/.*)?");

    static DcgmPods of(GpuHolders holders) {
        return new DcgmPods(holders.holders());
    }

    /** Returns the labels of a whole GPU; empty if no pod or more than one has it. */
    Labels of(GpuIdentity gpu) {
        return labels(gpu, holder -> true);
    }

    /** Returns the labels of a GPU instance. */
    Labels of(GpuIdentity gpu, int instance) {
        return labels(gpu, holder -> instanceOf(holder.deviceId(), gpu).equals(Optional.of(instance)));
    }

    private Labels labels(GpuIdentity gpu, Predicate<GpuHolder> which) {
        String uuid = GpuLabels.uuid(gpu);
        List<GpuHolder> of = holders.stream()
                .filter(holder -> holder.gpuUuid().equals(uuid))
                .filter(which)
                .toList();
        if (of.stream()
                        .map(holder -> holder.namespace() + "/" + holder.pod())
                        .distinct()
                        .count()
                != 1) {
            return Labels.EMPTY;
        }
        GpuHolder first = of.get(0);
        boolean one = of.stream().map(GpuHolder::container).distinct().count() == 1;
        // Several containers of one pod may share a claim.
        return Labels.of("namespace", first.namespace(), "pod", first.pod(), "container", one ? first.container() : "");
    }

    /** Returns the GPU instance of a device's name; empty if it is none of this GPU. */
    private static Optional<Integer> instanceOf(String deviceId, GpuIdentity gpu) {
        String id = deviceId.replaceFirst("::.*", "");
        for (MigDevice mig : gpu.mig()) {
            if (mig.uuid().equals(id)) {
                return mig.gpuInstance().asOptional();
            }
        }
        Matcher instance = INSTANCE.matcher(id);
        return instance.matches() ? Optional.of(Integer.parseInt(instance.group(1))) : Optional.empty();
    }
}
