package dev.gpuwarden.daemon.app;

import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.RateHistory;
import dev.gpuwarden.daemon.check.WorkSources;
import dev.gpuwarden.daemon.compute.LazyComputeDriver;
import dev.gpuwarden.daemon.settings.CollectiveSettings;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import dev.gpuwarden.daemon.telemetry.SamplingSettings;

/** The drivers of the daemon's checks with a load on GPUs, each opened by its first use. */
final class WorkDrivers {

    private WorkDrivers() {}

    static WorkSources of(
            SamplingSettings sampling,
            CollectiveSettings collective,
            NodeSampler sampler,
            RateHistory rates,
            GpuAccess access) {
        return new WorkSources(
                new LazyComputeDriver(DaemonCommands::compute, sampling.driverOptions(), sampling.openDeadline()),
                collective.driver(DaemonCommands::collectives, sampling.driverOptions(), sampling.openDeadline()),
                sampler::driver,
                rates,
                access);
    }
}
