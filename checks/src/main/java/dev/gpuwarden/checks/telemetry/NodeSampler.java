package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.GpuPlaces;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.Capability;
import dev.gpuwarden.core.port.CgroupLimits;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.port.Refusal;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A sampler of this node with a thread for each GPU. It opens the driver again when the driver comes and goes. No
 * method but {@link #awaitFirst} waits for the driver.
 */
public final class NodeSampler implements AutoCloseable {

    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(3);

    private static final System.Logger LOG = System.getLogger(NodeSampler.class.getName());
    private static final long AWAIT_POLL_NANOS = 2_000_000;
    private static final long CLOSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1200);

    private final SamplingSettings settings;
    private final LongSupplier clock;
    private final ThreadLauncher launcher;
    private final SamplerCounters counters;
    final DriverManager manager;
    private final long epoch;
    final PauseDetector pauses;
    private final ProcessWatch watch = new ProcessWatch();
    private final MemoryWatch memoryWatch = new MemoryWatch();
    private volatile Runnable whenChanged = () -> {};
    private volatile GpuIdentityStore names = new GpuIdentityStore(KnownGpus.NONE, known -> {});
    /** True after the names from before were given. */
    private volatile boolean remembers;

    private int lastStates;
    private volatile boolean stopped;
    private volatile @Nullable Thread supervisor;

    public NodeSampler(DriverProvider provider, SamplingSettings settings, PciBus pciBus) {
        this(provider, settings, pciBus, FrameListener.NONE);
    }

    /** @param listeners supplies one listener for each GPU, before the GPU is identified */
    public NodeSampler(
            DriverProvider provider, SamplingSettings settings, PciBus pciBus, Supplier<FrameListener> listeners) {
        this(provider, settings, pciBus, System::nanoTime, ThreadLauncher.threads(), listeners);
    }

    NodeSampler(
            DriverProvider provider,
            SamplingSettings settings,
            PciBus pciBus,
            LongSupplier clock,
            ThreadLauncher launcher,
            Supplier<FrameListener> listeners) {
        settings.validate();
        this.settings = settings;
        this.clock = clock;
        this.launcher = launcher;
        this.counters = new SamplerCounters(this::hungThreads);
        this.epoch = clock.getAsLong();
        this.pauses = new PauseDetector(clock, settings.deadline);
        this.manager = new DriverManager(
                provider,
                pciBus,
                new Sampling(
                        settings,
                        clock,
                        epoch,
                        counters,
                        new DriverGate(),
                        launcher,
                        listeners,
                        watch,
                        memoryWatch,
                        pauses));
    }

    /** Returns the start of the time grid of turns, in {@code System.nanoTime}. Work on this grid shares their wake-ups. */
    public long epochNanos() {
        return epoch;
    }

    /** Returns the GPUs whose processes are listed with each fast turn; a caller may add to them. */
    public ProcessWatch watch() {
        return watch;
    }

    /** Returns the readings that the VRAM watchdog needs beyond the schedule; it may change them. */
    public MemoryWatch memoryWatch() {
        return memoryWatch;
    }

    /**
     * Sets a listener that runs on the supervisor's thread within a second after the state of a GPU or of the driver
     * changed. It must not block.
     */
    public void whenStatesChange(Runnable listener) {
        whenChanged = listener;
    }

    /** Starts the threads. Does not block. */
    public void start() {
        launcher.launch("gpuwarden-pauses", pauses);
        launcher.launch("gpuwarden-driver", manager);
        launcher.launch("gpuwarden-supervisor", this::superviseAll);
    }

    /**
     * Waits until every GPU was read once and its processes listed, or until that is known to fail: no driver, or a
     * call that hangs.
     *
     * @return whether that was reached in time
     */
    public boolean awaitFirst(Duration timeout) {
        return awaitFirst(timeout, (what, waited) -> {});
    }

    boolean awaitFirst(Duration timeout, SingleReading.Progress progress) {
        long start = System.nanoTime();
        long report = PROGRESS_NANOS;
        while (!settled()) {
            long waited = System.nanoTime() - start;
            if (waited >= timeout.toNanos() || stopped) {
                return false;
            }
            if (waited >= report) {
                report += PROGRESS_NANOS;
                progress.waiting(unsettled(), Duration.ofNanos(waited));
            }
            LockSupport.parkNanos(this, AWAIT_POLL_NANOS);
        }
        return true;
    }

    private boolean settled() {
        long now = clock.getAsLong();
        return !(manager.state(now) instanceof DriverState.Opening)
                && manager.monitors().stream().allMatch(s -> s.settled(now));
    }

    private String unsettled() {
        long now = clock.getAsLong();
        return manager.state(now) instanceof DriverState.Opening
                ? "the driver"
                : manager.monitors().stream()
                        .filter(monitor -> !monitor.settled(now))
                        .map(monitor -> "GPU " + monitor.binding().identity().index())
                        .collect(Collectors.joining(", "));
    }

    /** Returns the node's readings now, as an immutable copy. */
    public NodeSnapshot snapshot() {
        return snapshot(manager.monitors(), clock.getAsLong());
    }

    /** Returns the memory of each GPU, in the order of the snapshot's GPUs. For callers several times a second. */
    public List<MemorySample> memory() {
        long now = clock.getAsLong();
        return manager.monitors().stream().map(monitor -> monitor.memory(now)).toList();
    }

    private NodeSnapshot snapshot(List<GpuMonitor> monitors, long now) {
        List<GpuSnapshot> gpus =
                monitors.stream().map(monitor -> monitor.snapshot(now)).toList();
        NodeSnapshot reported = new NodeSnapshot(manager.state(now), manager.pciGpus(), gpus);
        return GpuPlaces.located(reported, names.learn(reported));
    }

    /** The GPUs as {@link #snapshot} names them; while the driver lists none, those that were known before. Does not block. */
    public List<GpuIdentity> gpus() {
        List<GpuIdentity> listed =
                snapshot().gpus().stream().map(GpuSnapshot::identity).toList();
        return listed.isEmpty() ? names.identities() : listed;
    }

    /** From now on GPUs that do not report who they are have the names that they had before. */
    public void useIdentities(GpuIdentityStore memory) {
        names = memory;
        remembers = true;
    }

    /**
     * Lets go of these GPUs and no others, for example for their reset. The other GPUs are read on.
     *
     * @param gpus the reasons by the driver's index; continues "released for". Empty: all GPUs are read again
     * @return the cause of a failure, after which nothing has changed; empty after success. A later call completes it too
     */
    public CompletableFuture<Optional<String>> release(Map<Integer, String> gpus) {
        return manager.release(gpus);
    }

    public SamplerStats stats() {
        return counters;
    }

    /** Returns the open driver, for calls on threads that may be lost; absent while there is none. Does not block. */
    public Reading<Driver> driver() {
        return manager.driver()
                .<Reading<Driver>>map(Reading::of)
                .orElseGet(() -> Reading.absent(Absence.PENDING, 0, "no driver is open"));
    }

    /** Returns the capabilities of the driver library; empty while there is none. */
    public List<Capability> capabilities() {
        return manager.driver().map(Driver::capabilities).orElse(List.of());
    }

    /** Returns the driver library's refused answers; empty while there is none. */
    public List<Refusal> refusals() {
        return manager.driver().map(Driver::refusals).orElse(List.of());
    }

    /** Returns the driver's events from now on. */
    public DriverEvents events() {
        return new DriverEvents(manager::driver);
    }

    private int hungThreads() {
        long now = clock.getAsLong();
        return manager.monitors().stream()
                .mapToInt(monitor -> monitor.hungThreads(now))
                .sum();
    }

    private void superviseAll() {
        supervisor = Thread.currentThread();
        // States are reported without this thread. It replaces threads, half a deadline late at most.
        long period = Math.max(settings.deadline.toNanos() / 2, TimeUnit.MILLISECONDS.toNanos(5));
        long next = clock.getAsLong();
        while (!stopped) {
            long now = clock.getAsLong();
            supervise(now);
            int states = states(now);
            if (states != lastStates) {
                lastStates = states;
                whenChanged.run();
            }
            next = Math.max(next + period, now);
            LockSupport.parkNanos(this, next - now);
        }
    }

    /** Returns a hash that differs, almost certainly, if any state differs. Allocates nothing. */
    private int states(long nowNanos) {
        List<GpuMonitor> monitors = manager.monitors();
        int states = manager.state(nowNanos).getClass().hashCode();
        for (int i = 0; i < monitors.size(); i++) {
            states = 31 * states + 7 + monitors.get(i).state(nowNanos).ordinal();
        }
        return states;
    }

    void supervise(long nowNanos) {
        pauses.report(nowNanos);
        List<GpuMonitor> monitors = manager.monitors();
        boolean changed = false;
        for (int i = 0; i < monitors.size(); i++) {
            changed |= monitors.get(i).supervise(nowNanos);
        }
        if (changed) {
            stateChanges(nowNanos).forEach(line -> LOG.log(Level.INFO, line));
        }
    }

    /** A line for each GPU whose state changed since the last call. One that may get its address yet waits for it. */
    List<String> stateChanges(long nowNanos) {
        List<GpuMonitor> monitors = manager.monitors();
        List<GpuSnapshot> gpus = snapshot(monitors, nowNanos).gpus();
        boolean named = remembers && settled()
                || nowNanos - epoch >= settings.firstReadings().toNanos();
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < monitors.size(); i++) {
            GpuIdentity gpu = gpus.get(i).identity();
            if (named || gpu.pci() instanceof Reading.Present<?>) {
                monitors.get(i).stateChange(gpu.label(), nowNanos).ifPresent(lines::add);
            }
        }
        return lines;
    }

    /** Returns the driver's limits of memory for control groups. Their calls may block; absent while no driver is open. */
    public Reading<CgroupLimits> cgroupLimits() {
        return manager.driver()
                .map(open -> Reading.of(open.cgroupLimits()))
                .orElse(Reading.absent(Absence.PENDING, 0, "the driver is not open"));
    }

    /** Stops within about a second. Threads that hang in the driver are left behind. */
    @Override
    public void close() {
        stopped = true;
        pauses.stop();
        LockSupport.unpark(supervisor);
        List<GpuMonitor> monitors = manager.monitors();
        monitors.forEach(GpuMonitor::stop);
        manager.stop();
        long giveUp = System.nanoTime() + CLOSE_NANOS;
        try {
            for (GpuMonitor monitor : monitors) {
                if (!monitor.awaitEnd(giveUp)) {
                    String gpu = monitor.binding().identity().label();
                    LOG.log(Level.WARNING, "a thread is left in the driver: " + gpu);
                }
            }
            if (!manager.awaitEnd(TimeUnit.NANOSECONDS.toMillis(giveUp - System.nanoTime()))) {
                LOG.log(Level.WARNING, "the driver did not close in time");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
