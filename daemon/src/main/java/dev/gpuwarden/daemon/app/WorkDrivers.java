package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.Sources;
import dev.gpuwarden.checks.history.RateFile;
import dev.gpuwarden.checks.settings.LibrarySettings;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.RateHistory;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.daemon.store.StoreSettings;

/** The drivers of the daemon's checks with a load on GPUs, each opened by its first use. */
record WorkDrivers(SamplingSettings sampling, LibrarySettings libraries, StoreSettings events) {

    /** Returns the sources of these checks. Reads the file of earlier rates. */
    Sources sources(NodeSampler sampler, GpuAccess access) {
        RateFile rates = RateFile.open(events.ratesFile());
        return libraries
                .addTo(Sources.NONE, sampling)
                .with(Driver.class, sampler::driver)
                .with(RateHistory.class, () -> Reading.of(rates))
                .with(GpuAccess.class, () -> Reading.of(access));
    }
}
