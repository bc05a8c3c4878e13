package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.checks.history.NodeHistory;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicLong;

/** A simulated node read by the real driver library in virtual time: ten minutes take none. */
public final class DrivenNode implements AutoCloseable {

    /** Behind real time, with which the library stamps its readings, however short the machine has been up. */
    private final AtomicLong now = new AtomicLong(Duration.ofDays(-1).toNanos());

    private final List<GpuWorker> workers = new ArrayList<>();
    private final SimulatedNode node;
    private final NodeHistory history = new NodeHistory(Duration.ofSeconds(1), now::get);
    private final NodeSampler sampler;

    public DrivenNode(String scenario) {
        node = SimulatedNode.start(scenario);
        SamplingSettings settings = SamplingSettings.of(
                        Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofDays(1), Duration.ofSeconds(2))
                .withLibraryPath(node.libraryPath().toString());
        DriverProvider provider =
                ServiceLoader.load(DriverProvider.class).findFirst().orElseThrow();
        PciBus bus = new PciBus(NodePaths.of(node.procfs(), node.sysfs(), node.podLogs()));
        ThreadLauncher launcher = (name, body) -> {
            if (body instanceof GpuWorker worker) {
                workers.add(worker);
            }
        };
        sampler = new NodeSampler(provider, settings, bus, now::get, launcher, history);
        sampler.manager.step();
    }

    /** Samples for this time. */
    public void pass(Duration time) {
        for (long second = 0; second < time.toSeconds(); second++) {
            workers.forEach(GpuWorker::turn);
            now.addAndGet(Duration.ofSeconds(1).toNanos());
        }
    }

    public SimulatedNode simulated() {
        return node;
    }

    public NodeHistory history() {
        return history;
    }

    /** Returns a snapshot. Readings have the age in real time, which is close to 0. */
    public NodeSnapshot snapshot() {
        return sampler.snapshot();
    }

    @Override
    public void close() {
        sampler.close();
        node.close();
    }
}
