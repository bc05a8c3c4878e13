package dev.gpuwarden.checks;

import dev.gpuwarden.checks.access.SingleRunAccess;
import dev.gpuwarden.checks.compute.LazyLibrary;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
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
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveOptions;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.port.Provider;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

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
                .context(snapshot, new CounterHistory(), "check", false, progress -> {}, proven -> {});
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
                .context(snapshot, new CounterHistory(), "check", false, progress -> {}, proven -> {});
    }

    /** Returns the environment of checks on a node that is read once, in which they keep notes between their runs. */
    public static CheckEnvironment environment(
            SimulatedNode node, NodeSnapshot snapshot, Limits limits, RateHistory rates, GpuAccess access) {
        DriverOptions options = new DriverOptions(List.of(node.libraryPath().toString()), SamplerPath.AUTO);
        String folder = String.valueOf(node.libraryPath().getParent());
        CheckEnvironment once = CheckEnvironment.once(snapshot, limits, Expectations.NONE, paths(node));
        return once.with(once.sources()
                .with(ComputeDriver.class, library("CUDA", ComputeProvider.class, options))
                .with(
                        CollectiveDriver.class,
                        library("NCCL", CollectiveProvider.class, new CollectiveOptions(List.of(folder), options)))
                .with(Driver.class, library("NVML", DriverProvider.class, options))
                .with(RateHistory.class, () -> Reading.of(rates))
                .with(GpuAccess.class, () -> Reading.of(access)));
    }

    private static <D, O> LazyLibrary<D> library(String what, Class<? extends Provider<D, O>> port, O options) {
        return new LazyLibrary<>(what, () -> Provider.of(port).open(options), Duration.ofSeconds(10));
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
        return SingleReading.once(
                Provider.of(DriverProvider.class), settings, new PciBus(paths(node)), NodeSampler::snapshot);
    }
}
