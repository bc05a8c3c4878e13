package dev.gpuwarden.daemon.telemetry;

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
 * GPUs again is tried until it succeeds or there is no driver to take them from.
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
     * @param broken the answer of a library that could not be initialised again; otherwise empty
     */
    record Outcome(boolean takenAgain, Optional<Reading.Absent<Boolean>> broken) {
        static final Outcome NONE = new Outcome(false, Optional.empty());
    }

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
            return new Outcome(false, Optional.of(broken));
        }
        released = next.gpus();
        next.done().complete(Optional.empty());
        return new Outcome(released.isEmpty(), Optional.empty());
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
        Reading<Boolean> done = calls.run("letting go of GPUs", () -> open.reinitialiseWith(kept));
        if (done instanceof Reading.Absent<Boolean> alone && alone.cause() == Absence.NOT_SUPPORTED) {
            String because = gpus.values().iterator().next() + " of another GPU: " + alone.detail();
            monitors.release(gpu -> Optional.of(gpus.getOrDefault(gpu.index(), because)));
            return calls.run("letting go of all GPUs", () -> open.reinitialiseWith(List.of()));
        }
        if (done instanceof Reading.Present<Boolean>) {
            monitors.takeAgain(open, gpus.keySet());
        }
        return done;
    }
}
