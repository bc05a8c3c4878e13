package dev.gpuwarden.checks.compute;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.util.Threads;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A library, opened by the first call of {@link #get}, since an open one takes memory of the process. One that could not be
 * opened is tried again by the next call. Thread-safe; a call blocks up to the deadline.
 *
 * @param <D> the driver of the library
 */
public final class LazyLibrary<D> implements Supplier<Reading<D>> {

    private final String what;
    private final Supplier<Opening<D>> open;
    private final Duration deadline;
    /** The attempt under way, or the one that opened a driver. */
    private @Nullable FutureTask<Opening<D>> attempt;

    /**
     * @param what the library, for messages
     * @param open opens it; called on a thread of its own, and may block in the driver
     */
    public LazyLibrary(String what, Supplier<Opening<D>> open, Duration deadline) {
        this.what = what;
        this.open = open;
        this.deadline = deadline;
    }

    @Override
    public Reading<D> get() {
        FutureTask<Opening<D>> current = current();
        try {
            Opening<D> opening = current.get(deadline.toNanos(), TimeUnit.NANOSECONDS);
            if (opening instanceof Opening.Unavailable<D>) {
                forget(current);
            }
            return opening.reading();
        } catch (TimeoutException e) {
            return Reading.absent(Absence.STALE, 0, what + " did not start within " + deadline.toSeconds() + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Reading.absent(Absence.STALE, 0, "interrupted while " + what + " starts");
        } catch (ExecutionException e) {
            forget(current);
            throw new IllegalStateException("opening " + what, e.getCause());
        }
    }

    private synchronized FutureTask<Opening<D>> current() {
        if (attempt == null) {
            attempt = new FutureTask<>(open::get);
            Threads.daemon("gpuwarden-library-open", attempt).start();
        }
        return attempt;
    }

    private synchronized void forget(FutureTask<Opening<D>> failed) {
        if (attempt == failed) {
            attempt = null;
        }
    }
}
