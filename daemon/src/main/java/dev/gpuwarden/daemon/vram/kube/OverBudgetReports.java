package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.OverBudget;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Reports the pods above their budgets to the aggregator, which names them to pods that wait for VRAM. One thread. */
public final class OverBudgetReports implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(OverBudgetReports.class.getName());

    private static final long EACH_SECONDS = 10;

    /** Steps of the reported amount, so that small changes of use are no news. */
    private static final long STEP_MIB = 128;

    private static final String POD = "pod:";

    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(Threads.daemon("gpuwarden-vram-over-budget"));

    private OverBudgetReports() {}

    /**
     * Starts the thread.
     *
     * @param cluster gets them
     * @param watchdog state of each GPU; does not block for long
     */
    public static OverBudgetReports start(PodControl cluster, Supplier<List<VramStatus>> watchdog) {
        OverBudgetReports reports = new OverBudgetReports();
        var unused = reports.thread.scheduleWithFixedDelay(
                () -> report(cluster, watchdog), 1, EACH_SECONDS, TimeUnit.SECONDS);
        return reports;
    }

    /** Never throws, because an exception would end the task without a word. */
    private static void report(PodControl cluster, Supplier<List<VramStatus>> watchdog) {
        try {
            cluster.overBudget(of(watchdog.get()));
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "pods above their VRAM budgets were not reported; this is a defect", e);
        }
    }

    /** Returns the pods above their budgets. They are unknown if the tenants of a GPU are. */
    static OverBudget of(List<VramStatus> gpus) {
        Map<String, Long> bytes = new HashMap<>();
        for (VramStatus gpu : gpus) {
            var tenants = gpu.decision().seen().tenants().asOptional();
            if (tenants.isEmpty()) {
                return VramCodec.overBudgetUnknown();
            }
            for (Tenant tenant : tenants.get()) {
                if (tenant.id().startsWith(POD) && tenant.overBytes() > 0) {
                    bytes.merge(tenant.id().substring(POD.length()), tenant.overBytes(), Long::sum);
                }
            }
        }
        Map<String, Long> mib = new HashMap<>();
        bytes.forEach((uid, over) -> mib.put(uid, (over >> 20) / STEP_MIB * STEP_MIB));
        mib.values().removeIf(over -> over == 0);
        return gpus.isEmpty() ? VramCodec.overBudgetUnknown() : VramCodec.overBudget(mib);
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
