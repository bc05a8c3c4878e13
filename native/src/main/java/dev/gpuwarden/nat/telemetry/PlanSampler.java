package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.nat.nvml.NvmlLibrary;
import dev.gpuwarden.nat.nvml.NvmlReturn;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The common part of both interpreters: it finds the device, and keeps native memory until the last call has left it. A
 * sampler may be closed by another thread while its own thread hangs in the driver; the memory is then freed when that
 * call returns, or never.
 */
abstract class PlanSampler implements Driver.Sampler {

    private enum State {
        IDLE,
        SAMPLING,
        CLOSING,
        CLOSED
    }

    private final Target target;
    private final @Nullable ProfileReader profile;
    private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);

    PlanSampler(Target target, Optional<ProfileReader> profile) {
        this.target = target;
        this.profile = profile.orElse(null);
    }

    @Override
    public final void sample(Cadence cadence, GpuFrame frame) {
        if (!frame.buffer().isDirect()) {
            throw new IllegalArgumentException("a copy of a frame cannot be filled");
        }
        if (!state.compareAndSet(State.IDLE, State.SAMPLING)) {
            throw new IllegalStateException("sampler is " + state.get());
        }
        NvmlLibrary library = plan(cadence).library();
        boolean entered = library.enter();
        try {
            if (!entered) {
                int code = NvmlReturn.UNINITIALIZED;
                refuse(cadence, frame, Absence.ofNvmlReturn(code), code);
            } else if (!target.resolve()) {
                refuse(cadence, frame, target.cause(), target.code());
            } else if (!run(cadence, target.handle(), frame)) {
                target.forget();
            } else if (profile != null && cadence == Cadence.SLOW) {
                profile(profile, frame);
            }
        } finally {
            if (entered) {
                library.leave();
            }
            if (!state.compareAndSet(State.SAMPLING, State.IDLE)) {
                state.set(State.CLOSED);
                release();
            }
        }
    }

    private void refuse(Cadence cadence, GpuFrame frame, Absence cause, int code) {
        long start = System.nanoTime();
        plan(cadence).closeAll(frame, cause, code);
        frame.sampled(cadence, start, System.nanoTime(), 1);
    }

    @Override
    public final void close() {
        if (state.compareAndSet(State.IDLE, State.CLOSED)) {
            release();
        } else {
            state.compareAndSet(State.SAMPLING, State.CLOSING);
        }
    }

    /** Runs the profile reader, whose calls and time count as part of the sampling. */
    private void profile(ProfileReader reader, GpuFrame frame) {
        long start = frame.sampledAtNanos(Cadence.SLOW) - frame.durationNanos(Cadence.SLOW);
        int calls = reader.read(target, frame);
        frame.sampled(Cadence.SLOW, start, System.nanoTime(), frame.calls() + calls);
    }

    private void release() {
        free();
        if (profile != null) {
            profile.free();
        }
    }

    abstract BoundPlan plan(Cadence cadence);

    /**
     * Runs the plan and writes the header.
     *
     * @return false where the library reported that it is not initialised
     */
    abstract boolean run(Cadence cadence, long device, GpuFrame frame);

    /** Frees native memory. Called once, after the last call has left it. */
    abstract void free();
}
