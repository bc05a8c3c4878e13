package dev.gpuwarden.daemon.grpc;

import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A supplier that computes its value again only after a set time, however many callers there are. Thread-safe. */
final class CachedSupplier<T> implements Supplier<T> {

    /** The reuse time of a value that is computed once. */
    static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

    private final Supplier<T> source;
    private final long goodForNanos;
    private final LongSupplier nanoTime;
    private @Nullable T last;
    private long madeAt;

    CachedSupplier(Supplier<T> source, Duration goodFor, LongSupplier nanoTime) {
        this.source = source;
        this.goodForNanos = goodFor.toNanos();
        this.nanoTime = nanoTime;
    }

    /** Blocks while another caller computes the value. */
    @Override
    public synchronized T get() {
        long now = nanoTime.getAsLong();
        T value = last;
        if (value == null || now - madeAt >= goodForNanos) {
            value = source.get();
            last = value;
            madeAt = now;
        }
        return value;
    }
}
