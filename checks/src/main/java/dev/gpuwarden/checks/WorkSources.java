package dev.gpuwarden.checks;

import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.RateHistory;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.Driver;
import java.util.function.Supplier;

/**
 * The sources of checks with a load on GPUs. Other checks do not use them, so that no library is opened for those.
 *
 * @param compute the driver that runs work on GPUs
 * @param collectives the library of collectives between GPUs
 * @param driver the management library, for readings during work
 * @param rates earlier rates of each GPU
 * @param access the permission to give work to GPUs
 */
public record WorkSources(
        Supplier<Reading<ComputeDriver>> compute,
        Supplier<Reading<CollectiveDriver>> collectives,
        Supplier<Reading<Driver>> driver,
        RateHistory rates,
        GpuAccess access) {

    public static final WorkSources NONE = new WorkSources(
            () -> Reading.absent(Absence.NOT_SUPPORTED, 0, "work on GPUs"),
            () -> Reading.absent(Absence.NOT_SUPPORTED, 0, "collectives between GPUs"),
            () -> Reading.absent(Absence.NOT_SUPPORTED, 0, "readings during work on GPUs"),
            RateHistory.NONE,
            GpuAccess.OPEN);

    /** Returns the same sources with another permission. */
    public WorkSources withAccess(GpuAccess permission) {
        return new WorkSources(compute, collectives, driver, rates, permission);
    }

    /** Returns the same sources with other earlier rates. */
    public WorkSources withRates(RateHistory earlier) {
        return new WorkSources(compute, collectives, driver, earlier, access);
    }
}
