package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.core.util.Threads;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Has each node looked at again at one time, the last that was set. Thread-safe. */
final class Alarms implements AutoCloseable {

    private final Consumer<String> again;
    private final Map<String, ScheduledFuture<?>> set = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor thread =
            new ScheduledThreadPoolExecutor(1, Threads.daemon("gpuwarden-drain-alarms"));

    Alarms(Consumer<String> again) {
        this.again = again;
        thread.setRemoveOnCancelPolicy(true);
    }

    void set(String node, Instant time, Instant now) {
        // A moment later than the time itself, which has to be over then.
        long millis = Duration.between(now, time).toMillis() + 1;
        try {
            ScheduledFuture<?> before =
                    set.put(node, thread.schedule(() -> again.accept(node), millis, TimeUnit.MILLISECONDS));
            if (before != null) {
                before.cancel(false);
            }
        } catch (RejectedExecutionException e) {
            // The program stops.
        }
    }

    void clear(String node) {
        ScheduledFuture<?> before = set.remove(node);
        if (before != null) {
            before.cancel(false);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
