package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.checks.telemetry.SamplerStats.Work;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The state of one GPU. The {@link WorkerPair threads} that read the GPU publish here; supervisor and readers query.
 * The lock is never held during a driver call.
 */
final class GpuMonitor {

    /** So long a pause of this process explains readings that are missing. */
    private static final long PAUSE_SHOWN_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Sampling sampling;
    private final int position;
    private final int positions;
    private volatile GpuBinding binding;

    private final GpuReadings readings;
    private GpuState seen = GpuState.STARTING;
    private GpuState logged = GpuState.STARTING;
    private boolean gone;
    /** Why the daemon let go of the GPU; null while it has not. Implies that it is gone for the workers. */
    private @Nullable String released;

    private boolean broken;
    private volatile boolean needsIdentity = true;
    private boolean identified;
    private boolean indexUnsure;
    private final WorkerPair workers;
    private final FrameListener listener;

    GpuMonitor(Sampling sampling, GpuBinding binding, int position, int positions) {
        this.sampling = sampling;
        this.binding = binding;
        this.position = position;
        this.positions = positions;
        this.readings = new GpuReadings(binding.identity());
        this.workers = new WorkerPair(sampling.clock(), sampling.counters());
        this.listener = sampling.listeners().get();
    }

    synchronized void start() {
        workers.begin(launch(""));
    }

    private GpuWorker launch(String suffix) {
        Schedule schedule = new Schedule(
                sampling.settings(), sampling.epochNanos(), sampling.clock().getAsLong(), position, positions);
        GpuWorker worker = new GpuWorker(this, sampling.clock(), schedule);
        sampling.launcher().launch("gpuwarden-gpu-" + binding.identity().index() + suffix, worker);
        return worker;
    }

    GpuBinding binding() {
        return binding;
    }

    Sampling sampling() {
        return sampling;
    }

    synchronized boolean identified() {
        return identified;
    }

    boolean needsIdentity() {
        return needsIdentity;
    }

    /** Requests a new identification from the worker: the GPU may have been partitioned since. */
    void refreshIdentity() {
        needsIdentity = true;
    }

    /** Accepts an identification. Returns false if the worker was replaced. */
    synchronized boolean identify(GpuWorker worker, GpuBinding asked, GpuIdentity seen) {
        if (!workers.isCurrent(worker)) {
            return false;
        }
        if (asked == binding && !indexUnsure) {
            needsIdentity = false;
            identified = true;
            GpuIdentity known = GpuMatcher.merge(binding.identity(), seen);
            if (!known.equals(binding.identity())) {
                bind(new GpuBinding(binding.driver(), known));
            }
        }
        return true;
    }

    /** Marks the GPU's index as unsure until it is bound again, because the library is being initialised again. */
    synchronized void markIndexUnsure() {
        indexUnsure = true;
    }

    /** Binds the monitor to the same GPU, perhaps at another index or with other partitions. */
    synchronized void bind(GpuBinding next) {
        readings.keepPartitions(binding.identity(), next.identity());
        binding = next;
        indexUnsure = false;
        if (gone) {
            gone = false;
            released = null;
            seen = GpuState.STARTING;
            workers.begin(launch(""));
        }
    }

    /** Marks the GPU as gone: the driver no longer lists it, or is gone itself. */
    synchronized void leave() {
        gone = true;
        released = null;
        workers.dismiss();
    }

    /** Ends the reading of the GPU until it is bound again. */
    synchronized void release(String reason) {
        leave();
        released = reason;
    }

    synchronized boolean isReleased() {
        return released != null;
    }

    synchronized void stop() {
        workers.stop();
    }

    /** Returns whether all threads ended in time. */
    boolean awaitEnd(long deadlineNanos) throws InterruptedException {
        List<GpuWorker> all;
        synchronized (this) {
            all = workers.all();
        }
        for (GpuWorker worker : all) {
            if (!worker.awaitEnd(TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime()))) {
                return false;
            }
        }
        return true;
    }

    /** Publishes a sample. Returns false if the worker was replaced; its sample is dropped. */
    synchronized boolean publish(
            GpuWorker worker,
            @Nullable GpuBinding sampled,
            Cadence cadence,
            GpuFrame fresh,
            GpuFrame[] freshMig,
            int refusedNow) {
        if (!workers.isCurrent(worker)) {
            return false;
        }
        if (sampled != binding || !readings.hasPartitions(freshMig)) {
            return true;
        }
        boolean moved = cadence != Cadence.SLOW && MemorySample.differ(readings.frame(), fresh);
        readings.publish(fresh, freshMig, refusedNow);
        if (cadence != Cadence.SLOW) {
            seen = FrameValidator.state(readings.frame());
        }
        if (cadence != Cadence.MEMORY) {
            listener.published(binding.identity(), cadence, readings.frame());
        }
        if (moved) {
            sampling.memory().changed();
        }
        return true;
    }

    synchronized boolean publishProcesses(
            GpuWorker worker, @Nullable GpuBinding listedFor, Reading<List<GpuProcess>> listed, long nowNanos) {
        if (!workers.isCurrent(worker)) {
            return false;
        }
        if (listedFor == binding) {
            readings.publishProcesses(listed, nowNanos);
        }
        return true;
    }

    /** Copies the published readings for a worker that starts, because a turn of one cadence publishes the whole frame. */
    synchronized void fill(GpuFrame scratch, GpuFrame[] migScratch) {
        readings.fill(scratch, migScratch);
    }

    /** Returns true once, so that a defect is logged once; its readings are counted. */
    synchronized boolean firstBroken() {
        boolean first = !broken;
        broken = true;
        return first;
    }

    /**
     * Returns whether a worker must skip this work. A replacement skips the work in which the thread before it hangs.
     * All workers skip work that uses an index which may mean another GPU.
     */
    synchronized boolean avoids(GpuWorker worker, Work work) {
        if (indexUnsure && (work == Work.PROCESSES || !(binding.identity().uuid() instanceof Reading.Present<?>))) {
            return true;
        }
        return work != Work.FAST && workers.otherIsIn(work, worker);
    }

    /** Returns whether a replaced thread that came back goes on; otherwise it must end. */
    synchronized boolean resume(GpuWorker worker) {
        return workers.resume(worker);
    }

    /** Replaces a hung thread where that is still allowed. Returns a line for the log if the state changed. */
    synchronized boolean supervise(long nowNanos) {
        workers.replaceHung(nowNanos, () -> launch("b"));
        return state(nowNanos) != logged;
    }

    /** Returns the change since the last call, as a line for the log; empty if there is none. */
    synchronized Optional<String> stateChange(String label, long nowNanos) {
        GpuState state = state(nowNanos);
        if (state == logged) {
            return Optional.empty();
        }
        logged = state;
        String detail = detail(state, nowNanos);
        return Optional.of(label + " is " + state.label() + (detail.isEmpty() ? "" : ": " + detail));
    }

    synchronized int hungThreads(long nowNanos) {
        return workers.hung(nowNanos);
    }

    synchronized boolean inDriver() {
        return workers.inDriver();
    }

    /** Returns whether everything was read once, or cannot be read in time. */
    synchronized boolean settled(long nowNanos) {
        return gone || readings.complete() || hungThreads(nowNanos) > 0;
    }

    synchronized GpuState state(long nowNanos) {
        if (gone) {
            return released == null ? GpuState.GONE : GpuState.RELEASED;
        }
        boolean hung = workers.hungIn(Work.FAST, nowNanos) != null || workers.hungIn(Work.SLOW, nowNanos) != null;
        return hung ? GpuState.HUNG : seen;
    }

    private String detail(GpuState state, long nowNanos) {
        return switch (state) {
            case STARTING, ANSWERING -> {
                String hung = workers.hungText(Work.PROCESSES, "listing its processes", nowNanos);
                yield hung.isEmpty() ? sampling.pauses().recent(PAUSE_SHOWN_NANOS, nowNanos) : hung;
            }
            case HUNG -> {
                String fast = workers.hungText(
                        Work.FAST, needsIdentity ? "identifying it" : "reading memory and health", nowNanos);
                yield fast.isEmpty() ? workers.hungText(Work.SLOW, "the slower sampling", nowNanos) : fast;
            }
            case LOST -> "the driver returns 15, GPU is lost";
            case RESET_REQUIRED -> "the driver returns 16, reset required";
            case UNREADABLE -> "every call fails, the first one with code " + FrameValidator.failure(readings.frame());
            case GONE -> "the driver no longer lists it";
            case RELEASED -> "released for " + released;
        };
    }

    /** Returns the memory alone, without a copy of all readings. */
    synchronized MemorySample memory(long nowNanos) {
        boolean stale = staleNow(Cadence.FAST, Work.FAST, nowNanos);
        return MemorySample.of(binding.identity(), readings.frame(), stale, readings.processesAtNanos());
    }

    synchronized GpuSnapshot snapshot(long nowNanos) {
        GpuState state = state(nowNanos);
        boolean[] stale = {staleNow(Cadence.FAST, Work.FAST, nowNanos), staleNow(Cadence.SLOW, Work.SLOW, nowNanos)};
        return readings.snapshot(
                binding.identity(), state, detail(state, nowNanos), stale, processes(nowNanos), nowNanos);
    }

    private boolean staleNow(Cadence cadence, Work work, long nowNanos) {
        return gone
                || workers.currentHangs(nowNanos) && workers.hungIn(work, nowNanos) != null
                || nowNanos - readings.frame().sampledAtNanos(cadence)
                        > sampling.settings().staleAfterNanos(work);
    }

    private Reading<List<GpuProcess>> processes(long nowNanos) {
        long at = readings.processesAtNanos();
        Reading<List<GpuProcess>> processes = readings.processes();
        if (at == 0 || !(processes instanceof Reading.Present<?>)) {
            return processes;
        }
        long age = nowNanos - at;
        if (gone || age > sampling.settings().staleAfterNanos(Work.PROCESSES)) {
            return Reading.absent(Absence.STALE, 0, "listed " + TimeUnit.NANOSECONDS.toSeconds(age) + " s ago");
        }
        return processes;
    }
}
