package dev.gpuwarden.daemon.holders;

import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Threads;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The holders of the GPUs for displays that do not act on them. It queries the kubelet each time and waits briefly:
 * if the kubelet is slow or restarts, an answer of the last minute is returned. At most one query runs. Thread-safe.
 */
public final class CachedGpuHolders implements Supplier<Reading<GpuHolders>> {

    /** The longest wait: the kubelet answers from memory, within milliseconds. */
    private static final Duration PATIENCE = Duration.ofMillis(300);

    private static final Duration GOOD_FOR = Duration.ofMinutes(1);

    private final Supplier<Reading<GpuHolders>> lookup;
    private final LongSupplier nanoTime;
    private final Duration patience;
    private @Nullable CompletableFuture<Reading<GpuHolders>> running;
    private Reading<GpuHolders> last = Reading.absent(Absence.PENDING);
    private long lastAt;

    /** @param lookup queries the kubelet; may block, and runs in a thread of its own */
    public CachedGpuHolders(Supplier<Reading<GpuHolders>> lookup) {
        this(lookup, System::nanoTime, PATIENCE);
    }

    CachedGpuHolders(Supplier<Reading<GpuHolders>> lookup, LongSupplier nanoTime, Duration patience) {
        this.lookup = lookup;
        this.nanoTime = nanoTime;
        this.patience = patience;
    }

    @Override
    public synchronized Reading<GpuHolders> get() {
        CompletableFuture<Reading<GpuHolders>> asked = running;
        if (asked == null) {
            asked = CompletableFuture.supplyAsync(
                    lookup, query -> Threads.daemon("gpuwarden-holders", query).start());
            running = asked;
        }
        Reading<GpuHolders> answer = await(asked);
        if (asked.isDone()) {
            running = null;
        }
        if (answer instanceof Reading.Present<GpuHolders>) {
            last = answer;
            lastAt = nanoTime.getAsLong();
            return answer;
        }
        boolean recent = nanoTime.getAsLong() - lastAt <= GOOD_FOR.toNanos();
        return last instanceof Reading.Present<GpuHolders> && recent ? last : answer;
    }

    private Reading<GpuHolders> await(CompletableFuture<Reading<GpuHolders>> asked) {
        try {
            return asked.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return Reading.absent(
                    Absence.PENDING, 0, "the kubelet has not answered within " + patience.toMillis() + " ms");
        } catch (ExecutionException e) {
            return Reading.absent(Absence.FAILED, 0, String.valueOf(e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Reading.absent(Absence.FAILED, 0, "interrupted");
        }
    }
}
