package dev.gpuwarden.daemon.grpc;

import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A value that is good for a while, made anew at most that often however many ask. Thread-safe. */
final class CachedSupplier<T> implements Supplier<T> {

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

    /** Others wait while one makes it. */
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
