package dev.gpuwarden.daemon.app;

import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.daemon.check.WorkSources;
import dev.gpuwarden.daemon.compute.LazyComputeDriver;
import dev.gpuwarden.daemon.history.RateFile;
import dev.gpuwarden.daemon.settings.CollectiveSettings;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import dev.gpuwarden.daemon.telemetry.SamplingSettings;

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
