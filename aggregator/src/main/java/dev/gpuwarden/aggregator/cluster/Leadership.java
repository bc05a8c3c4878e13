package dev.gpuwarden.aggregator.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectorBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.lang.System.Logger.Level;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * One of several that run leads, by a Lease in the cluster. Given up when this is closed, so that another one goes on at once; one
 * that is killed is followed when its Lease has run out.
 */
public final class Leadership implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Leadership.class.getName());

    private final KubernetesClient client;
    private final String namespace;
    private final String name;
    private final String identity;
    private final LeaderElectionTimes times;
    private final Runnable begin;
    private final Runnable end;
    private final ExecutorService thread = Executors.newCachedThreadPool(task -> {
        Thread made = new Thread(task, "gpuwarden-leadership");
        made.setDaemon(true);
        return made;
    });
    private volatile boolean closed;
    private volatile CompletableFuture<?> term = CompletableFuture.completedFuture(null);

    private Leadership(
            KubernetesClient client,
            String namespace,
            String name,
            String identity,
            LeaderElectionTimes times,
            Runnable begin,
            Runnable end) {
        this.client = client;
        this.namespace = namespace;
        this.name = name;
        this.identity = identity;
        this.times = times;
        this.begin = begin;
        this.end = end;
    }

    static Leadership seek(
            KubernetesClient client,
            String namespace,
            String name,
            String identity,
            LeaderElectionTimes times,
            Runnable begin,
            Runnable end) {
        Leadership leadership = new Leadership(client, namespace, name, identity, times, begin, end);
        leadership.again();
        return leadership;
    }

    private synchronized void again() {
        if (closed) {
            return;
        }
        term = new LeaderElectorBuilder(client, thread)
                .withConfig(new LeaderElectionConfigBuilder()
                        .withName(name)
                        .withLock(new LeaseLock(namespace, name, identity))
                        .withLeaseDuration(times.leaseDuration())
                        .withRenewDeadline(times.renewDeadline())
                        .withRetryPeriod(times.retryPeriod())
                        .withReleaseOnCancel(true)
                        .withLeaderCallbacks(new LeaderCallbacks(this::began, this::ended, this::follows))
                        .build())
                .build()
                .start();
        var unused = term.whenComplete((any, cause) -> {
            if (!closed) {
                CompletableFuture.delayedExecutor(times.retryPeriod().toMillis(), TimeUnit.MILLISECONDS, thread)
                        .execute(this::again);
            }
        });
    }

    private void began() {
        LOG.log(Level.INFO, identity + " leads");
        begin.run();
    }

    private void ended() {
        LOG.log(Level.INFO, identity + " leads no more");
        end.run();
    }

    private void follows(String other) {
        if (!other.equals(identity)) {
            LOG.log(Level.INFO, other + " leads");
        }
    }

    /** Ends leading, then lets go of the Lease. */
    @Override
    public synchronized void close() {
        closed = true;
        term.cancel(true);
        try {
            // It writes the Lease in its own time.
            thread.shutdown();
            var unused = thread.awaitTermination(2, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
