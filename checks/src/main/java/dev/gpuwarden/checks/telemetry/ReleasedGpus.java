package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The GPUs that the process holds no file of: those asked for, and those of now. A release that fails is given up. Taking all
 * GPUs again is tried until it succeeds or there is no driver to take them from. After a release of all GPUs there is none, so
 * that the driver can be replaced.
 */
final class ReleasedGpus {

    private final GpuRegistry monitors;
    private final DriverCalls calls;
    private Request asked = new Request(Map.of());

    /** The reasons by index. Only the manager's thread uses it. */
    private Map<Integer, String> released = Map.of();

    private record Request(Map<Integer, String> gpus, CompletableFuture<Optional<String>> done) {
        Request(Map<Integer, String> gpus) {
            this(Map.copyOf(gpus), new CompletableFuture<>());
        }
    }

    /**
     * The effect of a request on the driver.
     *
     * @param takenAgain the library has started again with all GPUs; their order is in doubt
     * @param closed the driver is closed, and opened again after the release
     * @param broken the answer of a library that could not be initialised again; otherwise empty
     */
    record Outcome(boolean takenAgain, boolean closed, Optional<Reading.Absent<Boolean>> broken) {
        static final Outcome NONE = new Outcome(false, false, Optional.empty());
    }

    /** The answer after the driver was closed. */
    private static final Reading<Boolean> CLOSED = Reading.of(false);

    ReleasedGpus(GpuRegistry monitors, DriverCalls calls) {
        this.monitors = monitors;
        this.calls = calls;
    }

    /** For any thread; {@link DriverManager#release} describes it. */
    CompletableFuture<Optional<String>> request(Map<Integer, String> gpus) {
        Request next = new Request(gpus);
        swap(next).done().complete(Optional.of("another request came first"));
        return next.done();
    }

    private synchronized Request swap(Request next) {
        Request before = asked;
        asked = next;
        return before;
    }

    private synchronized Request asked() {
        return asked;
    }

    /** True while the driver may not open all GPUs. */
    boolean any() {
        return !released.isEmpty();
    }

    /** Carries out what is asked for and has not been done. */
    Outcome apply(Optional<Driver> driver) {
        Request next = asked();
        if (driver.isEmpty() || next.gpus().equals(released)) {
            if (!next.gpus().isEmpty() && !next.gpus().equals(released)) {
                // A closed driver opens none of them, not even those that are no longer asked for.
                monitors.stayReleased(gpu -> reason(next.gpus(), gpu, ""));
            }
            released = next.gpus();
            next.done().complete(Optional.empty());
            return Outcome.NONE;
        }
        Optional<Reading<Boolean>> answer = calls.whileWorkersWait(() -> restart(driver.get(), next.gpus()));
        if (answer.isEmpty()) {
            giveUp(next, "a call into the driver has not returned, and only the end of this process ends it");
            return Outcome.NONE;
        }
        if (answer.get() instanceof Reading.Absent<Boolean> broken) {
            giveUp(next, "the driver library did not start again: " + broken.text());
            return new Outcome(false, false, Optional.of(broken));
        }
        released = next.gpus();
        next.done().complete(Optional.empty());
        return new Outcome(released.isEmpty(), answer.get().equals(CLOSED), Optional.empty());
    }

    private void giveUp(Request request, String failure) {
        synchronized (this) {
            if (asked == request && !request.gpus().isEmpty()) {
                asked = new Request(released);
            }
        }
        request.done().complete(Optional.of(failure));
    }

    private Reading<Boolean> restart(Driver open, Map<Integer, String> gpus) {
        if (gpus.isEmpty()) {
            return calls.run("taking GPUs again", open::reinitialise);
        }
        monitors.release(gpu -> Optional.ofNullable(gpus.get(gpu.index())));
        List<GpuIdentity> kept = monitors.all().stream()
                .map(monitor -> monitor.binding().identity())
                .filter(gpu -> !gpus.containsKey(gpu.index()))
                .toList();
        if (kept.isEmpty()) {
            return close(open);
        }
        Reading<Boolean> done = calls.run("letting go of GPUs", () -> open.reinitialiseWith(kept));
        if (done instanceof Reading.Absent<Boolean> alone && alone.cause() == Absence.NOT_SUPPORTED) {
            monitors.release(gpu -> Optional.of(reason(gpus, gpu, ": " + alone.detail())));
            return close(open);
        }
        if (done instanceof Reading.Present<Boolean>) {
            monitors.takeAgain(open, gpus.keySet());
        }
        return done;
    }

    private Reading<Boolean> close(Driver open) {
        return calls.run("closing the driver", () -> {
            open.close();
            return CLOSED;
        });
    }

    /** Returns the reason of a GPU, or for one that is not asked for that of another. */
    private static String reason(Map<Integer, String> gpus, GpuIdentity gpu, String detail) {
        return gpus.getOrDefault(gpu.index(), gpus.values().iterator().next() + " of another GPU" + detail);
    }
}
