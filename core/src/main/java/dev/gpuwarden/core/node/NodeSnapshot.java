package dev.gpuwarden.core.node;

import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;

/**
 * The node's GPUs at one moment: the source of tables, metrics and verdicts.
 *
 * @param driver the opened driver's facts, or the reason for a missing driver
 * @param pciGpus NVIDIA display and 3D controllers on the PCI bus; absent where the bus cannot be read
 * @param gpus in the driver's order; empty without a driver
 */
public record NodeSnapshot(DriverState driver, Reading<List<PciAddress>> pciGpus, List<GpuSnapshot> gpus) {

    /** The state of the driver. */
    public sealed interface DriverState {
        /** The driver is being opened, and is not late. */
        record Opening() implements DriverState {}

        record Running(DriverInfo info) implements DriverState {}

        record Unavailable(Reason reason, int code, String detail) implements DriverState {}

        /** The library is loaded and initialised, but the driver does not list the GPUs. */
        record Silent(DriverInfo info, String detail) implements DriverState {}
    }
}
