package dev.gpuwarden.checks;

import dev.gpuwarden.checks.access.SingleRunAccess;
import dev.gpuwarden.checks.compute.LazyCollectiveDriver;
import dev.gpuwarden.checks.compute.LazyComputeDriver;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.checks.telemetry.LazyDriver;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.checks.telemetry.SingleReading;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.check.RateHistory;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.CollectiveOptions;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.ServiceLoader;
import java.util.function.Supplier;

/** Runs checks on nodes, for tests. */
public final class CheckContexts {

    private CheckContexts() {}

    /** Runs a check once on a simulated node. */
    public static List<Finding> run(HealthCheck check, SimulatedNode node) {
        return check.run(context(node, Limits.NONE));
    }

    /** Returns the context of a check on a simulated node that is read once. */
    public static CheckContext context(SimulatedNode node, Limits limits) {
        return context(snapshot(node), paths(node), limits);
    }

    public static CheckContext context(NodeSnapshot snapshot, NodePaths paths, Limits limits) {
        return CheckEnvironment.once(snapshot, limits, Expectations.NONE, paths)
                .context(snapshot, new CounterHistory(), "check", progress -> {});
    }

    /** Returns the same context with the node's drivers for work on GPUs. */
    public static CheckContext computing(SimulatedNode node, Limits limits) {
        return computing(node, limits, RateHistory.NONE);
    }

    public static CheckContext computing(SimulatedNode node, Limits limits, RateHistory rates) {
        NodeSnapshot snapshot = snapshot(node);
        return computing(node, limits, rates, withoutPods());
    }

    /** Returns the permission of a command on a node without pods. */
    public static GpuAccess withoutPods() {
        return new SingleRunAccess(
                () -> Reading.of(new GpuHolders(Instant.now(), List.of(), List.of(), 0)), pid -> "process " + pid);
    }

    public static CheckContext computing(SimulatedNode node, Limits limits, GpuAccess access) {
        return computing(node, limits, RateHistory.NONE, access);
    }

    /** Returns the same context with these earlier rates, and with this permission to give work to GPUs. */
    public static CheckContext computing(SimulatedNode node, Limits limits, RateHistory rates, GpuAccess access) {
        return computing(node, snapshot(node), limits, rates, access);
    }

    /** Returns the same context with an earlier reading of the node. */
    public static CheckContext computing(
            SimulatedNode node, NodeSnapshot snapshot, Limits limits, RateHistory rates, GpuAccess access) {
        return environment(node, snapshot, limits, rates, access)
                .context(snapshot, new CounterHistory(), "check", progress -> {});
    }

    /** Returns the environment of checks on a node that is read once, in which they keep notes between their runs. */
    public static CheckEnvironment environment(
            SimulatedNode node, NodeSnapshot snapshot, Limits limits, RateHistory rates, GpuAccess access) {
        DriverOptions options = new DriverOptions(List.of(node.libraryPath().toString()), SamplerPath.AUTO);
        LazyComputeDriver compute = new LazyComputeDriver(
                () -> ServiceLoader.load(ComputeProvider.class).findFirst().orElseThrow(),
                options,
                Duration.ofSeconds(10));
        String folder = String.valueOf(node.libraryPath().getParent());
        LazyCollectiveDriver collectives = new LazyCollectiveDriver(
                () -> ServiceLoader.load(CollectiveProvider.class).findFirst().orElseThrow(),
                new CollectiveOptions(List.of(folder), options),
                Duration.ofSeconds(10));
        return CheckEnvironment.once(snapshot, limits, Expectations.NONE, paths(node))
                .withWork(new WorkSources(compute, collectives, driver(node), rates, access));
    }

    private static Supplier<Reading<Driver>> driver(SimulatedNode node) {
        return new LazyDriver(
                () -> ServiceLoader.load(DriverProvider.class).findFirst().orElseThrow(),
                new DriverOptions(List.of(node.libraryPath().toString()), SamplerPath.AUTO),
                Duration.ofSeconds(10));
    }

    public static NodePaths paths(SimulatedNode node) {
        return NodePaths.of(node.procfs(), node.sysfs(), node.podLogs());
    }

    /** Reads a node once with the driver library; calls that hang are given up soon. */
    public static NodeSnapshot snapshot(SimulatedNode node) {
        // Long enough for a first read beside other test JVMs.
        Duration soon = Duration.ofSeconds(2);
        SamplingSettings settings = SamplingSettings.of(
                        Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofSeconds(15), soon)
                .withPatience(Duration.ofMinutes(1), soon, soon, Duration.ofSeconds(30))
                .withLibraryPath(node.libraryPath().toString());
        DriverProvider provider =
                ServiceLoader.load(DriverProvider.class).findFirst().orElseThrow();
        return SingleReading.once(provider, settings, new PciBus(paths(node)), NodeSampler::snapshot);
    }
}
