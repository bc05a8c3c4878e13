package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.scenario.Change;
import dev.gpuwarden.testkit.scenario.Generation;
import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.NodeControl.StormWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A node with simulated GPUs: a driver library to load, and folders in place of /proc, /sys and /var/log/pods.
 *
 * <p>A process may have several: each has its own copy of the library, which finds its state beside itself. Load it by
 * {@link #libraryPath()}, or give {@link #environment()} to a child process. Thread-safe.
 */
public final class SimulatedNode implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(SimulatedNode.class.getName());

    /** Less than the time by which a process may seem younger than its connection. */
    private static final long UPTIME_MILLIS = 200;

    private final Scenario scenario;
    private final NodeFolder folder;
    private final NodeControl control;
    private final KernelLogInput input;
    private final ScheduledExecutorService clock =
            Executors.newSingleThreadScheduledExecutor(Threads.daemon("simulated-node-uptime"));
    private final List<CompletableFuture<Void>> storms = new ArrayList<>();
    private int nextStep;
    private boolean closed;
    private @Nullable ScheduledExecutorService player;

    private SimulatedNode(Scenario scenario, NodeFolder folder, NodeControl control, KernelLogInput input) {
        this.scenario = scenario;
        this.folder = folder;
        this.control = control;
        this.input = input;
        var unused =
                clock.scheduleWithFixedDelay(this::advanceUptime, UPTIME_MILLIS, UPTIME_MILLIS, TimeUnit.MILLISECONDS);
    }

    /**
     * Creates the node of a scenario in a new temporary folder. Its timeline stands still until {@link #play()} or
     * {@link #advanceTo}.
     *
     * @param scenario a name from `sim list`, or the path of a YAML file
     */
    public static SimulatedNode start(String scenario) {
        return start(Scenarios.find(scenario, NativeFiles.find().vocabulary()));
    }

    public static SimulatedNode start(Scenario scenario) {
        return Unchecked.get(() -> start(scenario, Files.createTempDirectory("gpuwarden-node-")));
    }

    /** @param root a folder that is empty or does not exist yet; {@link #close()} deletes it */
    public static SimulatedNode start(String scenario, Path root) {
        return start(Scenarios.find(scenario, NativeFiles.find().vocabulary()), root);
    }

    static SimulatedNode start(Scenario scenario, Path root) {
        NodeFolder folder = new NodeFolder(root.toAbsolutePath());
        try {
            NodeControl control = NodeBuilder.build(scenario, folder, NativeFiles.find(), Clock.systemUTC());
            return new SimulatedNode(
                    scenario, folder, control, KernelLogInput.open(folder.kernelLogInput, control::log));
        } catch (RuntimeException e) {
            Tree.delete(root);
            throw e;
        }
    }

    public Scenario scenario() {
        return scenario;
    }

    /** Returns the node's folder. */
    public Path root() {
        return folder.root;
    }

    /** Returns the absolute path of the driver library. A library that is loaded by this path belongs to this node alone. */
    public Path libraryPath() {
        return folder.library;
    }

    /**
     * Returns the absolute path of the program `nvidia-smi`, which lists the node's GPUs, sets their persistence mode and resets them. It
     * needs no environment variables, and root or `GPUWARDEN_SIM_ROOT=1` for all but a list. It is in no PATH; a test may delete it.
     */
    public Path nvidiaSmi() {
        return folder.smi;
    }

    /**
     * Returns the absolute path of the program `gpu-service`, which uses all GPUs of the node, as a service of a GPU operator does, from
     * its first line of output until SIGTERM. Its argument is a name.
     */
    public Path gpuService() {
        return folder.service;
    }

    /** Returns the folder with the files of the GPUs, `nvidiaN`, which processes hold open while they use a GPU, in place of /dev. */
    public Path devices() {
        return folder.dev;
    }

    /** Returns the folder in place of /proc. */
    public Path procfs() {
        return folder.proc;
    }

    /** Returns the folder in place of /sys. */
    public Path sysfs() {
        return folder.sys;
    }

    /** Returns the folder in place of /var/log/pods. */
    public Path podLogs() {
        return folder.pods;
    }

    /** Returns the file in place of /dev/kmsg, with records as the device delivers them. */
    public Path kernelLog() {
        return folder.kernelLog;
    }

    /**
     * Returns the file that programs write as they write /dev/kmsg, a FIFO: each line becomes a record of user space, with the level of
     * `<N>` before it. Lines beyond 200 a second are counted in one line.
     */
    public Path kernelLogInput() {
        return folder.kernelLogInput;
    }

    /** Writes a line of the kernel to its log; `<3>` before the text is the level. */
    public void logKernel(String text) {
        control.log(false, List.of(text));
    }

    /** Writes a line to /dev/kmsg as a privileged process. */
    public void logUser(String text) {
        control.log(true, List.of(text));
    }

    /** Returns the environment variables with which a child process, gpuwarden's or any other, uses this node. */
    public Map<String, String> environment() {
        return folder.environment();
    }

    /** Returns the node's changes and counters. */
    public NodeControl control() {
        return control;
    }

    /** Applies one change, as {@link NodeControl#set(String, String)}. */
    public void set(String key, String value) {
        control.set(key, value);
    }

    /**
     * Restarts the node: another boot id, an uptime of a minute, a new kernel log, no processes of the scenario, and GPUs without what a
     * restart heals. Real processes that use the node go on.
     */
    public void reboot() {
        control.set("node.reboot", "yes");
    }

    /**
     * Upgrades the driver, kernel modules and library, to the default version of a generation. Libraries of another version that are
     * loaded already go on, but answer 18, version mismatch, when they are started again.
     */
    public void installDriver(Generation driver) {
        NodeBuilder.installDriver(driver, folder, NativeFiles.find(), control.table());
    }

    /** Sets all timestamps of the driver to this time from now on, so that outputs can be compared byte by byte. */
    public void freezeTime(Instant time) {
        control.set("node.frozen-time", time.toString());
    }

    /** Applies all changes of the timeline up to this time after the start. An earlier time does nothing. */
    public synchronized void advanceTo(Duration time) {
        while (!closed && nextStep < scenario.timeline().size()) {
            Scenario.Step step = scenario.timeline().get(nextStep);
            if (step.at().compareTo(time) > 0) {
                return;
            }
            control.apply(step.changes(), step.logs());
            step.changes().forEach(this::storm);
            nextStep++;
        }
    }

    /** Writes a storm at its own pace while the timeline plays, otherwise before this returns. */
    private void storm(Change change) {
        if (change instanceof Change.Storm storm) {
            StormWriter writer = control.storm(storm.storm(), false);
            if (player == null) {
                writer.writeAll();
            } else {
                storms.add(writer.play(player));
            }
        } else if (change instanceof Change.EndStorms) {
            storms.forEach(storm -> storm.cancel(false));
            storms.clear();
        }
    }

    /** Plays the timeline in real time from now on. */
    public void play() {
        play(Duration.ZERO.minusNanos(1), Duration.ofDays(365_000));
    }

    /**
     * Plays the steps of the timeline between these two times, both excluded, in real time from now on. The first of them also
     * applies the steps before it.
     */
    public synchronized void play(Duration after, Duration before) {
        if (closed) {
            return;
        }
        if (player == null) {
            player = Executors.newSingleThreadScheduledExecutor(Threads.daemon("simulated-node-timeline"));
        }
        for (Scenario.Step step : scenario.timeline()) {
            if (step.at().compareTo(after) > 0 && step.at().compareTo(before) < 0) {
                Duration delay = step.at().minus(after);
                var unused = player.schedule(() -> playTo(step.at()), delay.toMillis(), TimeUnit.MILLISECONDS);
            }
        }
    }

    private void advanceUptime() {
        try {
            control.advanceUptime();
        } catch (RuntimeException e) {
            // Another program restarts the node, and writes the time of its boot now.
            LOG.log(System.Logger.Level.DEBUG, "uptime of " + scenario.name(), e);
        }
    }

    private void playTo(Duration time) {
        try {
            advanceTo(time);
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "timeline of " + scenario.name() + " at " + time, e);
        }
    }

    /** Ends all faults, so that threads that hang in one return, and deletes the folder. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (player != null) {
            player.shutdownNow();
        }
        stopClock();
        input.close();
        control.release();
        Tree.delete(folder.root);
    }

    /** Waits for the last write, so that none comes after the folder is deleted. */
    private void stopClock() {
        clock.shutdown();
        try {
            if (!clock.awaitTermination(10, TimeUnit.SECONDS)) {
                LOG.log(System.Logger.Level.WARNING, "the uptime of " + scenario.name() + " is still being written");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
