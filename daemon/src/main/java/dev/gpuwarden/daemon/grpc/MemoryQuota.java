package dev.gpuwarden.daemon.grpc;

import io.netty.channel.Channel;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that calls hold which have not ended: requests that are still arriving or worked on, answers that nobody reads.
 * HTTP/2 bounds them for one connection only, and far too high for a daemon of this size. Where the room is used up, whoever
 * has held most for long enough loses his connection, so that nobody can hold it for ever. Thread-safe.
 */
final class MemoryQuota {

    /** Enough for two requests of the largest size with the objects made of them. */
    static final long ROOM = 12L << 20;

    /** An honest client takes what it asked for at once. */
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    private final LongSupplier nanoTime;
    private final Set<Account> accounts = new LinkedHashSet<>();
    private long held;

    MemoryQuota(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    Account open() {
        return new Account(nanoTime.getAsLong());
    }

    /** How much is held now. */
    synchronized long held() {
        return held;
    }

    private synchronized boolean take(Account account, long bytes) {
        if (account.closed) {
            // gRPC may hand over a last piece after it has told that the call ended.
            return false;
        }
        if (held + bytes > ROOM) {
            evict();
            if (held + bytes > ROOM) {
                return false;
            }
        }
        accounts.add(account);
        account.bytes += bytes;
        held += bytes;
        return true;
    }

    private synchronized void give(Account account) {
        account.closed = true;
        if (accounts.remove(account)) {
            held -= account.bytes;
            account.bytes = 0;
        }
    }

    private void evict() {
        Account most = null;
        for (Account account : accounts) {
            boolean old = nanoTime.getAsLong() - account.since > PATIENCE_NANOS;
            if (old && (most == null || account.bytes > most.bytes)) {
                most = account;
            }
        }
        Channel connection = most == null ? null : most.connection;
        if (connection != null) {
            // Ends its calls soon, and those give back what they hold.
            connection.close();
        }
    }

    /** What one call holds. */
    final class Account {
        private final long since;
        private volatile @Nullable Channel connection;
        private long bytes;
        private boolean closed;

        private Account(long since) {
            this.since = since;
        }

        void on(@Nullable Channel channel) {
            connection = channel;
        }

        /** False where there is no room: the call must end. */
        boolean take(long more) {
            return MemoryQuota.this.take(this, more);
        }

        boolean closed() {
            synchronized (MemoryQuota.this) {
                return closed;
            }
        }

        /** The call has ended. */
        void close() {
            MemoryQuota.this.give(this);
        }
    }
}
