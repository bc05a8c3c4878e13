package dev.gpuwarden.aggregator.client;

import dev.gpuwarden.core.util.Threads;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectorBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaderElectionRecord;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.Lock;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An election of one leader among replicas, by a Lease in the cluster. A leader that closes this releases the Lease, so another
 * replica takes over immediately. After a killed leader, another one takes over when the Lease has expired.
 *
 * <p>A leader that cannot renew the Lease stops at its deadline by the monotonic clock, even while its requests hang. fabric8's
 * elector checks the time only between requests.
 */
public final class LeaderElector implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(LeaderElector.class.getName());

    /** Attempts within the time to renew, so that one missing answer does not end the term. */
    private static final int ATTEMPTS = 2;

    private final KubernetesClient client;
    private final String namespace;
    private final String name;
    private final String identity;
    private final Times times;
    private final Runnable begin;
    private final Runnable end;
    private final AtomicInteger number = new AtomicInteger();
    private final ExecutorService thread = Executors.newCachedThreadPool(this::thread);
    private final ScheduledExecutorService watchdog = Executors.newSingleThreadScheduledExecutor(this::thread);
    private volatile boolean closed;
    private volatile CompletableFuture<?> term = CompletableFuture.completedFuture(null);
    private boolean leads;
    private @Nullable ScheduledFuture<?> deadline;

    private LeaderElector(
            KubernetesClient client,
            String namespace,
            String name,
            String identity,
            Times times,
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

    /** Returns an elector with its own client, whose requests end before the deadline. */
    static LeaderElector seek(
            Config config, String namespace, String name, String identity, Times times, Runnable begin, Runnable end) {
        int patienceMillis = (int) times.renewDeadline().toMillis() / ATTEMPTS;
        KubernetesClient client = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(config)
                        .withRequestTimeout(patienceMillis)
                        .withConnectionTimeout(patienceMillis)
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
        LeaderElector leadership = new LeaderElector(client, namespace, name, identity, times, begin, end);
        leadership.again();
        return leadership;
    }

    private Thread thread(Runnable task) {
        return Threads.daemon("gpuwarden-leadership-" + number.incrementAndGet(), task);
    }

    private synchronized void again() {
        if (closed) {
            return;
        }
        ObservedLease lease = new ObservedLease(new LeaseLock(namespace, name, identity), System::nanoTime);
        CompletableFuture<?> begun = new LeaderElectorBuilder(client, thread)
                .withConfig(new LeaderElectionConfigBuilder()
                        .withName(name)
                        .withLock(lease)
                        .withLeaseDuration(times.leaseDuration())
                        .withRenewDeadline(times.renewDeadline())
                        .withRetryPeriod(times.retryPeriod())
                        .withReleaseOnCancel(true)
                        .withLeaderCallbacks(new LeaderCallbacks(() -> began(lease), this::ended, this::follows))
                        .build())
                .build()
                .start();
        term = begun;
        var unused = begun.whenComplete((any, cause) -> {
            if (!closed) {
                CompletableFuture.delayedExecutor(times.retryPeriod().toMillis(), TimeUnit.MILLISECONDS, thread)
                        .execute(this::again);
            }
        });
    }

    private synchronized void began(ObservedLease lease) {
        if (leftNanos(lease) <= 0) {
            // This thread started later than the Lease allows. The watchdog ends the term.
            watch(lease);
            return;
        }
        leads = true;
        LOG.log(Level.INFO, identity + " leads");
        begin.run();
        watch(lease);
    }

    private long leftNanos(ObservedLease lease) {
        return lease.renewedNanos() + times.renewDeadline().toNanos() - System.nanoTime();
    }

    private synchronized void watch(ObservedLease lease) {
        long left = leftNanos(lease);
        if (left > 0) {
            try {
                deadline = watchdog.schedule(() -> watch(lease), left, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                // The elector is closing, which ends the term.
            }
            return;
        }
        LOG.log(
                Level.WARNING,
                identity + " could not renew its Lease for "
                        + times.renewDeadline().toSeconds() + " s");
        ended();
        // The cancel releases the Lease by a request that may hang as well.
        CompletableFuture<?> over = term;
        thread.execute(() -> over.cancel(true));
    }

    private synchronized void ended() {
        ScheduledFuture<?> watching = deadline;
        if (watching != null) {
            watching.cancel(false);
            deadline = null;
        }
        if (leads) {
            leads = false;
            LOG.log(Level.INFO, identity + " no longer leads");
            end.run();
        }
    }

    private void follows(String other) {
        if (!other.equals(identity)) {
            LOG.log(Level.INFO, other + " leads");
        }
    }

    /** Ends the leadership, then releases the Lease. Blocks for up to 2 s. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            ended();
        }
        term.cancel(true);
        watchdog.shutdownNow();
        try {
            // These threads write the Lease in their own time.
            thread.shutdown();
            var unused = thread.awaitTermination(2, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        client.close();
    }

    /**
     * The times of a leader election, under the names that Kubernetes gives them.
     *
     * @param leaseDuration time without a leader after a kill
     * @param renewDeadline time without a renewal after which a leader stops; well before another replica may lead
     * @param retryPeriod interval of the requests of each replica to the API server
     */
    public record Times(Duration leaseDuration, Duration renewDeadline, Duration retryPeriod) {

        public static final Times DEFAULT =
                new Times(Duration.ofSeconds(8), Duration.ofSeconds(5), Duration.ofSeconds(1));
    }

    /**
     * A Lease that this machine judges by its own clocks alone. Another leader's time begins when this machine reads a renewal.
     * The own time begins when this machine sends one. Thread-safe.
     */
    static final class ObservedLease implements Lock {

        private final Lock lease;
        private final LongSupplier nanoTime;
        private @Nullable LeaderElectionRecord seen;
        private ZonedDateTime seenAt = ZonedDateTime.now(ZoneOffset.UTC);
        private volatile long renewedNanos;

        ObservedLease(Lock lease, LongSupplier nanoTime) {
            this.lease = lease;
            this.nanoTime = nanoTime;
            renewedNanos = nanoTime.getAsLong();
        }

        /** Returns the time at which the last successful renewal was sent, by the given clock. */
        long renewedNanos() {
            return renewedNanos;
        }

        @Override
        public synchronized @Nullable LeaderElectionRecord get(KubernetesClient client) {
            LeaderElectionRecord now = lease.get(client);
            if (now == null) {
                return null;
            }
            if (!now.equals(seen)) {
                seen = now;
                seenAt = ZonedDateTime.now(ZoneOffset.UTC);
            }
            return new LeaderElectionRecord(
                    now.getHolderIdentity(),
                    now.getLeaseDuration(),
                    now.getAcquireTime(),
                    seenAt,
                    now.getLeaderTransitions());
        }

        @Override
        public void create(KubernetesClient client, LeaderElectionRecord record) {
            long sent = nanoTime.getAsLong();
            lease.create(client, record);
            renewed(record, sent);
        }

        @Override
        public void update(KubernetesClient client, LeaderElectionRecord record) {
            long sent = nanoTime.getAsLong();
            lease.update(client, record);
            renewed(record, sent);
        }

        private void renewed(LeaderElectionRecord record, long sent) {
            // A release is a write too, and renews nothing.
            if (identity().equals(record.getHolderIdentity())) {
                renewedNanos = sent;
            }
        }

        @Override
        public String identity() {
            return lease.identity();
        }

        @Override
        public String describe() {
            return lease.describe();
        }
    }
}
