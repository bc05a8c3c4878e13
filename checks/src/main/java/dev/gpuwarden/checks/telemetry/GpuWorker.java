package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.checks.telemetry.SamplerStats.Work;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.Plausibility;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread that reads one GPU from the driver. It owns its samplers and the frames that they fill, and publishes copies
 * to its {@link GpuMonitor}. So a thread that never returns from the driver holds nothing that others need. A turn of
 * {@link Cadence} work allocates nothing on the JNI path.
 */
final class GpuWorker implements Runnable {

    private static final System.Logger LOG = System.getLogger(GpuWorker.class.getName());
    private static final Work[] WORK = Work.values();

    private final GpuMonitor monitor;
    private final LongSupplier clock;
    private final Schedule schedule;
    private final GpuFrame scratch = new GpuFrame();
    private GpuFrame[] migScratch = {};
    private Driver.@Nullable Sampler sampler;
    private Driver.Sampler[] migSamplers = {};
    private @Nullable GpuBinding bound;
    private long listedAt;
    /** True if less memory was free than the watchdog expects. */
    private boolean hastened;

    /** System.nanoTime at the start of the call under way; 0 if there is none. */
    private volatile long callStarted;

    /** The same in the time that {@link PauseDetector} counts; written before {@link #callStarted}. */
    private volatile long callCounted;

    private volatile Work callWork = Work.FAST;
    /** True if the call under way is the first to this GPU, which may have to wake it up. */
    private volatile boolean firstCall;

    private volatile boolean stopped;
    private volatile @Nullable Thread thread;
    /** Start of the call that was last counted as hung; guarded by the monitor. */
    long countedCall;

    GpuWorker(GpuMonitor monitor, LongSupplier clock, Schedule schedule) {
        this.monitor = monitor;
        this.clock = clock;
        this.schedule = schedule;
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        try {
            while (!stopped) {
                long next = turn();
                long wait = next - clock.getAsLong();
                if (wait > 0 && !stopped) {
                    LockSupport.parkNanos(this, wait);
                    monitor.sampling().pauses().woke(next, clock.getAsLong());
                }
            }
        } finally {
            closeSamplers();
        }
    }

    /** Does the work that is due. Returns the time of the next turn. */
    long turn() {
        if (monitor.needsIdentity() && schedule.due(Work.FAST, clock.getAsLong())) {
            // The result of a thread that comes back from a hang was dropped: identify again before any reading.
            if (!identify() || !monitor.identified()) {
                return clock.getAsLong() + DriverGate.POLL_NANOS;
            }
        }
        boolean checked = schedule.due(Work.FAST, clock.getAsLong())
                && monitor.sampling().watch().has(monitor.binding().identity());
        for (Work work : WORK) {
            if (stopped) {
                break;
            }
            boolean due = schedule.due(work, clock.getAsLong())
                    || work == Work.PROCESSES && (checked || listsForBudgets(clock.getAsLong()));
            if (due && !turn(work)) {
                break;
            }
        }
        return monitor.sampling().gate().closed() ? clock.getAsLong() + DriverGate.POLL_NANOS : schedule.next();
    }

    /** Identifies the GPU. Returns false if the gate is closed or this thread was replaced. */
    private boolean identify() {
        GpuBinding wanted = monitor.binding();
        firstCall = !monitor.identified();
        if (!begin(Work.FAST)) {
            return false;
        }
        GpuIdentity identity;
        try {
            identity = wanted.driver().identify(wanted.identity().index());
        } catch (RuntimeException | LinkageError e) {
            broken(e);
            identity = wanted.identity();
        }
        end();
        return goesOn(monitor.identify(this, wanted, identity));
    }

    /** Takes one turn. Returns false if the gate is closed or this thread was replaced. */
    private boolean turn(Work work) {
        if (monitor.avoids(this, work)) {
            schedule.done(work, clock.getAsLong());
            return true;
        }
        if (!begin(work)) {
            return false;
        }
        long start = callStarted;
        boolean current;
        if (work == Work.PROCESSES) {
            Reading<List<GpuProcess>> listed = listProcesses();
            end();
            listedAt = clock.getAsLong();
            current = monitor.publishProcesses(this, bound, listed, listedAt);
        } else {
            Cadence cadence = cadence(work);
            sample(cadence);
            end();
            int refused = refuse(scratch, cadence);
            for (int i = 0; i < migScratch.length && cadence != Cadence.MEMORY; i++) {
                refused += refuse(migScratch[i], cadence);
            }
            current = monitor.publish(this, bound, cadence, scratch, migScratch, refused);
        }
        long now = clock.getAsLong();
        monitor.sampling().counters().turn(work, now - start);
        long missed = schedule.done(work, now);
        if (work == Work.FAST) {
            var unused = schedule.done(Work.MEMORY, now);
        }
        if (work == Work.FAST || work == Work.MEMORY) {
            hasten(now);
        }
        if (missed > 0) {
            monitor.sampling().counters().overrun(work, missed);
        }
        return goesOn(current);
    }

    private static Cadence cadence(Work work) {
        return switch (work) {
            case FAST -> Cadence.FAST;
            case SLOW -> Cadence.SLOW;
            case MEMORY -> Cadence.MEMORY;
            case PROCESSES -> throw new IllegalArgumentException("no cadence reads processes");
        };
    }

    /** Plans another reading soon if the watchdog needs one. */
    private void hasten(long now) {
        hastened = monitor.sampling().memory().hastens(monitor.binding().identity(), scratch);
        if (hastened) {
            schedule.hastenMemory(now + MemoryWatch.HASTE.toNanos());
        }
    }

    private boolean listsForBudgets(long now) {
        return now - listedAt >= MemoryWatch.LIST_AGE.toNanos()
                && (hastened
                        || monitor.sampling().memory().lists(monitor.binding().identity()));
    }

    private boolean goesOn(boolean current) {
        if (current) {
            return true;
        }
        if (monitor.resume(this)) {
            monitor.fill(scratch, migScratch);
            return true;
        }
        stopped = true;
        return false;
    }

    /** Refuses values that no board can have. The driver's adapter refuses contradictory values; both are counted. */
    private static int refuse(GpuFrame frame, Cadence cadence) {
        Plausibility.refuse(frame, cadence);
        return FrameValidator.implausible(frame, cadence);
    }

    private void sample(Cadence cadence) {
        try {
            Driver.Sampler own = bind();
            own.sample(cadence, scratch);
            for (int i = 0; i < migSamplers.length && cadence != Cadence.MEMORY; i++) {
                migSamplers[i].sample(cadence, migScratch[i]);
            }
        } catch (RuntimeException | LinkageError e) {
            broken(e);
            FrameValidator.fail(scratch, cadence, clock.getAsLong());
        }
    }

    private Reading<List<GpuProcess>> listProcesses() {
        try {
            bind();
            GpuBinding now = bound;
            return now == null
                    ? Reading.absent(Absence.PENDING)
                    : now.driver().processes(now.identity().index());
        } catch (RuntimeException | LinkageError e) {
            broken(e);
            return Reading.absent(Absence.FAILED, 0, String.valueOf(e.getMessage()));
        }
    }

    /** Opens samplers if the monitor's GPU changed or the library was initialised again. */
    private Driver.Sampler bind() {
        GpuBinding wanted = monitor.binding();
        Driver.Sampler open = sampler;
        if (open != null && wanted == bound) {
            return open;
        }
        closeSamplers();
        Driver driver = wanted.driver();
        int index = wanted.identity().index();
        int migs = wanted.identity().mig().size();
        Driver.Sampler[] openedMigs = new Driver.Sampler[migs];
        GpuFrame[] frames = new GpuFrame[migs];
        Driver.Sampler opened = driver.sampler(index);
        for (int i = 0; i < migs; i++) {
            openedMigs[i] =
                    driver.migSampler(index, wanted.identity().mig().get(i).index());
            frames[i] = new GpuFrame();
        }
        monitor.fill(scratch, frames);
        sampler = opened;
        migSamplers = openedMigs;
        migScratch = frames;
        bound = wanted;
        return opened;
    }

    private void closeSamplers() {
        Driver.Sampler open = sampler;
        sampler = null;
        bound = null;
        if (open != null) {
            open.close();
        }
        for (Driver.Sampler mig : migSamplers) {
            mig.close();
        }
        migSamplers = new Driver.Sampler[0];
        migScratch = new GpuFrame[0];
    }

    private void broken(Throwable e) {
        if (monitor.firstBroken()) {
            LOG.log(
                    Level.ERROR,
                    "sampling failed, a defect: " + monitor.binding().identity().label() + ": " + e,
                    e);
        }
    }

    /** Announces a call before it checks the gate, so that a thread that closes the gate either sees the call or stops it. */
    private boolean begin(Work work) {
        // A call for memory that hangs is one that fast turns make too.
        callWork = work == Work.MEMORY ? Work.FAST : work;
        long now = clock.getAsLong();
        callCounted = monitor.sampling().pauses().counted(now);
        callStarted = now;
        if (monitor.sampling().gate().closed()) {
            end();
            return false;
        }
        return true;
    }

    private void end() {
        callStarted = 0;
        firstCall = false;
    }

    /** Returns the start of the call under way; 0 if there is none. */
    long callStarted() {
        return callStarted;
    }

    Work callWork() {
        return callWork;
    }

    boolean stuck(long nowNanos) {
        Sampling sampling = monitor.sampling();
        return callStarted != 0
                && sampling.pauses().late(callCounted, sampling.settings().deadlineNanos(firstCall), nowNanos);
    }

    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }

    boolean awaitEnd(long millis) throws InterruptedException {
        Thread running = thread;
        if (running != null && running != Thread.currentThread()) {
            running.join(Math.max(1, millis));
            return !running.isAlive();
        }
        return true;
    }
}
