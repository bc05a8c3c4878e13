package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The last known allocation of GPUs to containers. The kubelet is asked after each new list of budgets, and every ten seconds; it
 * is not asked while no pod has a budget, or the node has one GPU. One thread calls {@link #look}; others may read.
 */
final class GpuAllocation implements Supplier<Reading<GpuHolders>> {

    private static final long EACH_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Supplier<Reading<Pods>> pods;
    private final Supplier<Reading<GpuHolders>> kubelet;
    private final IntSupplier gpus;
    private final LongSupplier nanoTime;
    private Reading<Pods> before = Reading.absent(Absence.PENDING);
    private long readAt;
    private volatile Reading<GpuHolders> last = Reading.absent(Absence.PENDING, 0, "the kubelet was not asked yet");

    /** @param kubelet asks the kubelet; may block */
    GpuAllocation(
            Supplier<Reading<Pods>> pods,
            Supplier<Reading<GpuHolders>> kubelet,
            IntSupplier gpus,
            LongSupplier nanoTime) {
        this.pods = pods;
        this.kubelet = kubelet;
        this.gpus = gpus;
        this.nanoTime = nanoTime;
    }

    /** Does not block. */
    @Override
    public Reading<GpuHolders> get() {
        return last;
    }

    /** Asks the kubelet if it is time to. Blocks while it does. */
    void look() {
        Reading<Pods> list = pods.get();
        boolean needed = gpus.getAsInt() > 1
                && list.asOptional().filter(all -> !all.byUid().isEmpty()).isPresent();
        if (needed && (!list.equals(before) || nanoTime.getAsLong() - readAt >= EACH_NANOS)) {
            last = kubelet.get();
            readAt = nanoTime.getAsLong();
            before = list;
        }
    }
}
