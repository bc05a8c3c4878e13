package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.watchdog.budget.TermsSource;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** Budgets of pods on this node, with one thread that asks the kubelet and reports the node's amount. */
public final class PodBudgets implements AutoCloseable {

    private static final long EACH_MILLIS = 500;

    private final GpuAllocation allocation;
    private final Advertiser advertiser;
    private final PodTerms terms;
    private final Actuator eviction;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread = Threads.daemon("gpuwarden-vram-pods", this::run);

    private PodBudgets(
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
    }

    /**
     * Starts the thread.
     *
     * @param kubelet asks the kubelet for the allocation of GPUs; may block
     * @param grace longest grace period of a pod that is evicted
     */
    public static PodBudgets start(
            PodControl cluster,
            Supplier<Reading<GpuHolders>> kubelet,
            Supplier<NodeSnapshot> node,
            Advertiser advertiser,
            Duration grace) {
        PodBudgets budgets = new PodBudgets(cluster, kubelet, node, advertiser, grace);
        budgets.thread.start();
        return budgets;
    }

    public TermsSource terms() {
        return terms;
    }

    public Actuator eviction() {
        return eviction;
    }

    private void run() {
        try {
            do {
                advertiser.run();
                allocation.look();
            } while (!ended.await(EACH_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        ended.countDown();
        Threads.join(thread, TimeUnit.SECONDS.toMillis(3));
    }
}
