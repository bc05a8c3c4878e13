package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.WorkSources;
import dev.gpuwarden.checks.compute.LazyComputeDriver;
import dev.gpuwarden.checks.history.RateFile;
import dev.gpuwarden.checks.settings.CollectiveSettings;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.daemon.store.StoreSettings;

/** The drivers of the daemon's checks with a load on GPUs, each opened by its first use. */
record WorkDrivers(SamplingSettings sampling, CollectiveSettings collective, StoreSettings events) {

    /** Returns the sources of these checks. Reads the file of earlier rates. */
    WorkSources sources(NodeSampler sampler, GpuAccess access) {
        return new WorkSources(
                new LazyComputeDriver(DaemonCommands::compute, sampling.driverOptions(), sampling.openDeadline()),
                collective.driver(DaemonCommands::collectives, sampling.driverOptions(), sampling.openDeadline()),
                sampler::driver,
                RateFile.open(events.ratesFile()),
                access);
    }
}
