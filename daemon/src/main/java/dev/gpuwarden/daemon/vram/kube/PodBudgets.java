package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.util.LoopThread;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.watchdog.budget.TermsSource;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** Budgets of pods on this node, with one thread that asks the kubelet and reports the node's amount. */
public final class PodBudgets implements AutoCloseable {

    private static final long EACH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final GpuAllocation allocation;
    private final Advertiser advertiser;
    private final PodTerms terms;
    private final Actuator eviction;
    private final LoopThread thread = new LoopThread("gpuwarden-vram-pods", this::turn);

    /**
     * Starts the thread.
     *
     * @param kubelet asks the kubelet for the allocation of GPUs; may block
     * @param grace longest grace period of a pod that is evicted
     */
    public PodBudgets(
            PodControl cluster,
            Supplier<Reading<GpuHolders>> kubelet,
            Supplier<NodeSnapshot> node,
            Advertiser advertiser,
            Duration grace) {
        IntSupplier gpus = () -> node.get().gpus().size();
        this.allocation = new GpuAllocation(cluster::pods, kubelet, gpus, System::nanoTime);
        this.terms = new PodTerms(cluster::pods, allocation, gpus);
        this.eviction = cluster.eviction(terms, grace);
        this.advertiser = advertiser;
        thread.start();
    }

    public TermsSource terms() {
        return terms;
    }

    public Actuator eviction() {
        return eviction;
    }

    private long turn() {
        advertiser.run();
        allocation.look();
        return EACH_NANOS;
    }

    @Override
    public void close() {
        thread.close(Duration.ofSeconds(3));
    }
}
