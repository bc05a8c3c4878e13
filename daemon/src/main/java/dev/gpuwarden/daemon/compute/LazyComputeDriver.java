package dev.gpuwarden.daemon.compute;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeOpening;
import dev.gpuwarden.core.port.ComputeOpening.Opened;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.DriverOpening.Unavailable;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.util.Threads;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The compute driver, opened by the first call of {@link #get}, since an open one takes memory of the process. A driver
 * that could not be opened is tried again by the next call. Thread-safe; a call blocks up to the deadline.
 */
public final class LazyComputeDriver implements Supplier<Reading<ComputeDriver>> {

    private final Supplier<ComputeProvider> provider;
    private final DriverOptions options;
    private final Duration deadline;
    /** The attempt under way, or the one that opened a driver. */
    private @Nullable FutureTask<ComputeOpening> attempt;

    public LazyComputeDriver(Supplier<ComputeProvider> provider, DriverOptions options, Duration deadline) {
        this.provider = provider;
        this.options = options;
        this.deadline = deadline;
    }

    @Override
    public Reading<ComputeDriver> get() {
        FutureTask<ComputeOpening> current = current();
        try {
            ComputeOpening opening = current.get(deadline.toNanos(), TimeUnit.NANOSECONDS);
            if (opening instanceof Opened opened) {
                return Reading.of(opened.driver());
            }
            forget(current);
            return absent((Unavailable) opening);
        } catch (TimeoutException e) {
            return Reading.absent(
                    Absence.STALE, 0, "the CUDA driver library did not start within " + deadline.toSeconds() + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Reading.absent(Absence.STALE, 0, "interrupted while the CUDA driver library starts");
        } catch (ExecutionException e) {
            forget(current);
            throw new IllegalStateException("opening the CUDA driver library", e.getCause());
        }
    }

    private synchronized FutureTask<ComputeOpening> current() {
        if (attempt == null) {
            attempt = new FutureTask<>(() -> provider.get().open(options));
            Threads.daemon("gpuwarden-cuda-open", attempt).start();
        }
        return attempt;
    }

    private synchronized void forget(FutureTask<ComputeOpening> failed) {
        if (attempt == failed) {
            attempt = null;
        }
    }

    private static Reading<ComputeDriver> absent(Unavailable none) {
        Absence cause = switch (none.reason()) {
            case LIBRARY_MISSING -> Absence.NOT_SUPPORTED;
            case NO_PERMISSION -> Absence.NO_PERMISSION;
            default -> Absence.FAILED;
        };
        return Reading.absent(cause, none.code(), none.detail());
    }
}
