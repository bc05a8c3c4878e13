package dev.gpuwarden.aggregator.client;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaderElectionRecord;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.Lock;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A Lease that is judged by this machine's clocks alone. Another leader's time begins when this machine sees a renewal, and the own
 * time when this machine sends one. Thread-safe.
 */
final class ObservedLease implements Lock {

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

    /** When the last renewal that succeeded was sent, by the clock that was given. */
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
        // Letting go of it is a write too.
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
