package dev.gpuwarden.daemon.grpc;

import io.netty.channel.Channel;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A quota of the bytes that unfinished calls hold: requests that arrive or are served, and answers that are not read.
 * HTTP/2 limits them for each connection only, and far too high for a daemon of this size. If the quota is used up,
 * the connection that holds most for longer than 10 s is closed, so that no client can block the others. Thread-safe.
 */
final class MemoryQuota {

    /** Bytes: enough for two requests of the largest size with their objects. */
    static final long ROOM = 12L << 20;

    /** The time within which a client reads its answers. */
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

    /** Returns the bytes held now. */
    synchronized long held() {
        return held;
    }

    private synchronized boolean take(Account account, long bytes) {
        if (account.closed) {
            // gRPC may deliver a last piece after the end of the call.
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
            // This ends its calls soon, and they release their bytes.
            connection.close();
        }
    }

    /** The bytes that one call holds. */
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

        /** Reserves bytes. Returns false if there is no room: the call must end. */
        boolean take(long more) {
            return MemoryQuota.this.take(this, more);
        }

        boolean closed() {
            synchronized (MemoryQuota.this) {
                return closed;
            }
        }

        /** Releases the bytes after the end of the call. */
        void close() {
            MemoryQuota.this.give(this);
        }
    }
}
