package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.port.Opening;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The thread that opens the driver, lists its GPUs, and opens or initialises it again when the driver or a GPU went
 * away. Every one of these calls may hang. Then this thread is late, the driver's state reports it, and no other thread
 * waits for it.
 */
final class DriverManager implements Runnable {

    private static final System.Logger LOG = System.getLogger(DriverManager.class.getName());
    private static final long LONGEST_RECOVERY_NANOS = TimeUnit.HOURS.toNanos(1);

    private final DriverProvider provider;
    private final PciBus pciBus;
    private final Sampling sampling;
    private final LongSupplier clock;
    private final Recovery recovery;
    private final GpuRegistry monitors;
    private final DriverCalls calls;
    private final ReleasedGpus released;

    private volatile @Nullable Driver driver;
    private volatile DriverState state = new DriverState.Opening();
    private volatile Reading<List<PciAddress>> pciGpus = Reading.absent(Absence.PENDING);
    private volatile boolean stopped;
    private volatile @Nullable Thread thread;
    private long inventoryDue;
    /** True if the bus shows other GPUs than at the last decision about recovery. */
    private boolean busChanged;

    DriverManager(DriverProvider provider, PciBus pciBus, Sampling sampling) {
        this.provider = provider;
        this.pciBus = pciBus;
        this.sampling = sampling;
        this.clock = sampling.clock();
        this.monitors = new GpuRegistry(sampling);
        this.calls = new DriverCalls(sampling, monitors);
        this.released = new ReleasedGpus(monitors, calls);
        this.recovery = new Recovery(sampling.settings().recoveryInterval.toNanos(), LONGEST_RECOVERY_NANOS);
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        while (!stopped) {
            long wait = step() - clock.getAsLong();
            if (wait > 0 && !stopped) {
                LockSupport.parkNanos(this, wait);
            }
        }
        shutDown();
    }

    /** Takes one step. Returns the time of the next one. */
    long step() {
        SamplingSettings settings = sampling.settings();
        applyRelease();
        if (released.any()) {
            // An inventory or a recovery would open the GPUs again.
            return clock.getAsLong() + settings.recoveryInterval.toNanos();
        }
        if (driver == null) {
            open();
            if (driver == null) {
                return clock.getAsLong() + settings.retryInterval.toNanos();
            }
        } else {
            recover();
        }
        long now = clock.getAsLong();
        if (driver != null && now - inventoryDue >= 0 && !stopped) {
            inventory();
            inventoryDue = clock.getAsLong() + settings.inventoryInterval.toNanos();
        }
        if (driver == null || state instanceof DriverState.Silent) {
            inventoryDue = now + settings.retryInterval.toNanos();
            return inventoryDue;
        }
        return now + Math.min(settings.inventoryInterval.toNanos(), settings.recoveryInterval.toNanos());
    }

    private void open() {
        pciGpus = pciBus.gpus();
        sampling.counters().driverOpenings.incrementAndGet();
        Opening<Driver> opening = calls.run(
                "opening the driver", () -> provider.open(sampling.settings().driverOptions()));
        if (opening instanceof Opening.Opened<Driver> opened) {
            driver = opened.driver();
            inventoryDue = clock.getAsLong();
            LOG.log(Level.INFO, "driver opened: " + text(opened.driver().info()));
        } else if (opening instanceof Opening.Unavailable<Driver> none) {
            monitors.leaveReleased();
            unavailable(new DriverState.Unavailable(none.reason(), none.code(), none.detail()));
        }
    }

    private static String text(DriverInfo info) {
        return info.name() + " " + info.libraryVersion().asOptional().orElse("of unknown version") + " from "
                + info.libraryPath().asOptional().orElse("an unknown file") + ", driver "
                + info.driverVersion().asOptional().orElse("unknown") + ", read through " + info.samplerPath();
    }

    private void unavailable(DriverState.Unavailable next) {
        if (!next.equals(state)) {
            LOG.log(Level.WARNING, "no driver: " + next.reason() + ", " + next.detail());
        }
        state = next;
    }

    /**
     * Compares the number of GPUs that the driver lists with the known ones, and requests a new identification of each
     * by its own thread. One GPU that hangs would hide all others in this thread. Skipped while a call hangs.
     */
    private void inventory() {
        Driver open = driver;
        if (open == null) {
            return;
        }
        Reading<List<PciAddress>> before = pciGpus;
        pciGpus = pciBus.gpus();
        busChanged |= !before.equals(pciGpus);
        if (monitors.anyHung(clock.getAsLong())) {
            return;
        }
        Reading<Integer> counted = calls.run("counting the GPUs", open::count);
        if (counted instanceof Reading.Absent<Integer> none) {
            LOG.log(Level.WARNING, "the driver does not list its GPUs: " + none.text());
            state = new DriverState.Silent(open.info(), none.text());
            return;
        }
        int count = counted.asOptional().orElse(0);
        if (monitors.isEmpty()) {
            monitors.begin(open, count);
        } else if (count == monitors.listed(clock.getAsLong()) && monitors.readFrom(open, clock.getAsLong())) {
            monitors.forEach(GpuMonitor::refreshIdentity);
        } else {
            list(open, false);
            return;
        }
        state = new DriverState.Running(open.info());
    }

    /** Identifies all GPUs one after the other, when their order is in doubt. */
    private void list(Driver open, boolean handlesChanged) {
        Reading<List<GpuIdentity>> listed = calls.run("listing the GPUs", open::enumerate);
        if (listed instanceof Reading.Present<List<GpuIdentity>> gpus) {
            monitors.apply(open, gpus.value(), handlesChanged);
            state = new DriverState.Running(open.info());
        } else if (listed instanceof Reading.Absent<List<GpuIdentity>> none) {
            LOG.log(Level.WARNING, "the driver does not list its GPUs: " + none.text());
            state = new DriverState.Silent(open.info(), none.text());
        }
    }

    private void recover() {
        Driver open = driver;
        if (open == null) {
            return;
        }
        long now = clock.getAsLong();
        boolean silent = state instanceof DriverState.Silent;
        boolean wanted = silent || monitors.missing(pciGpus.asOptional().orElse(List.of()), now);
        boolean blocked = monitors.anyHung(clock.getAsLong());
        boolean due = recovery.due(now, wanted, busChanged, blocked);
        busChanged = false;
        if (due || silent && !blocked) {
            reinitialise(open);
        }
    }

    /**
     * Initialises the library again while workers wait outside. Then they go on by themselves: samplers follow their
     * GPUs, only indexes may have moved.
     */
    private void reinitialise(Driver open) {
        Optional<Reading<Boolean>> done =
                calls.whileWorkersWait(() -> calls.run("initialising the library again", open::reinitialise));
        if (done.isEmpty()) {
            return;
        }
        if (done.get() instanceof Reading.Absent<Boolean> failed) {
            abandon(open, failed);
            return;
        }
        monitors.forEach(GpuMonitor::markIndexUnsure);
        listAgain(open);
    }

    private void listAgain(Driver open) {
        list(open, true);
        inventoryDue = clock.getAsLong() + sampling.settings().inventoryInterval.toNanos();
    }

    /**
     * Lets go of these GPUs and no others: the process holds none of them open afterwards. The other GPUs are read again as soon as
     * the library has started.
     *
     * @param gpus the reasons by index; continues "released for". Empty: all GPUs are read again
     * @return the cause of a failure; empty after success. After a failed release all GPUs of before are read. Taking all again is
     *     repeated until it succeeds. Completed by the manager's thread
     */
    CompletableFuture<Optional<String>> release(Map<Integer, String> gpus) {
        CompletableFuture<Optional<String>> done = released.request(gpus);
        LockSupport.unpark(thread);
        return done;
    }

    private void applyRelease() {
        Driver open = driver;
        ReleasedGpus.Outcome outcome = released.apply(Optional.ofNullable(open));
        if (open == null) {
            return;
        }
        if (outcome.closed()) {
            // The state stays as it was: a release is no fault.
            driver = null;
        }
        outcome.broken().ifPresent(failed -> abandon(open, failed));
        if (outcome.takenAgain()) {
            listAgain(open);
        }
    }

    /** Drops a driver whose library could be shut down but not initialised; the next step opens it again. */
    private void abandon(Driver open, Reading.Absent<Boolean> failed) {
        monitors.forEach(GpuMonitor::leave);
        driver = null;
        Opening.Reason reason = switch (failed.code()) {
            case 4 -> Opening.Reason.NO_PERMISSION;
            case 9 -> Opening.Reason.DRIVER_NOT_LOADED;
            case 18 -> Opening.Reason.VERSION_MISMATCH;
            default -> Opening.Reason.FAILED;
        };
        unavailable(new DriverState.Unavailable(reason, failed.code(), failed.text()));
        calls.run("closing the driver", () -> {
            open.close();
            return true;
        });
    }

    private void shutDown() {
        // Monitors may have been started since the request to stop.
        monitors.forEach(GpuMonitor::stop);
        Driver open = driver;
        if (open == null) {
            return;
        }
        // nvmlShutdown waits for calls under way. If one hangs, the library stays as it is, and the process ends
        // anyway.
        if (calls.workersOutside()) {
            calls.run("closing the driver", () -> {
                open.close();
                return true;
            });
        }
    }

    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }

    boolean awaitEnd(long millis) throws InterruptedException {
        Thread running = thread;
        if (running == null) {
            return true;
        }
        running.join(Math.max(1, millis));
        return !running.isAlive();
    }

    // Reader side.

    DriverState state(long nowNanos) {
        DriverState known = state;
        Optional<String> late = calls.late(nowNanos);
        if (late.isEmpty()) {
            return known;
        }
        Driver open = driver;
        if (open == null) {
            return new DriverState.Unavailable(Opening.Reason.FAILED, 0, late.get());
        }
        boolean costsReadings = monitors.isEmpty() || sampling.gate().closed();
        return costsReadings ? new DriverState.Silent(open.info(), late.get()) : known;
    }

    Reading<List<PciAddress>> pciGpus() {
        return pciGpus;
    }

    List<GpuMonitor> monitors() {
        return monitors.all();
    }

    Optional<Driver> driver() {
        return Optional.ofNullable(driver);
    }
}
