package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOpening;
import dev.gpuwarden.core.port.DriverOpening.Opened;
import dev.gpuwarden.core.port.DriverOpening.Unavailable;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.util.Threads;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * The management library for a command, opened once by the first {@link #get} and open until the command ends.
 * Thread-safe; a call blocks up to the deadline.
 */
public final class LazyDriver implements Supplier<Reading<Driver>> {

    private final FutureTask<DriverOpening> opening;
    private final Duration deadline;
    private boolean started;

    public LazyDriver(Supplier<DriverProvider> provider, DriverOptions options, Duration deadline) {
        this.opening = new FutureTask<>(() -> provider.get().open(options));
        this.deadline = deadline;
    }

    @Override
    public Reading<Driver> get() {
        start();
        try {
            DriverOpening opened = opening.get(deadline.toNanos(), TimeUnit.NANOSECONDS);
            return opened instanceof Opened open
                    ? Reading.of(open.driver())
                    : Reading.absent(Absence.FAILED, ((Unavailable) opened).code(), ((Unavailable) opened).detail());
        } catch (TimeoutException e) {
            return Reading.absent(Absence.STALE, 0, "the driver did not open within " + deadline.toSeconds() + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Reading.absent(Absence.STALE, 0, "interrupted while the driver opens");
        } catch (ExecutionException e) {
            throw new IllegalStateException("opening the driver", e.getCause());
        }
    }

    private synchronized void start() {
        if (!started) {
            started = true;
            Threads.daemon("gpuwarden-open", opening).start();
        }
    }
}
