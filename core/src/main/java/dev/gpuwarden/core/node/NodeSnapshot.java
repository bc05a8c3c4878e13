package dev.gpuwarden.core.node;

import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.port.DriverOpening;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;

/**
 * The node's GPUs at one moment: what tables, metrics and verdicts are made from.
 *
 * @param driver the opened driver's facts, or why there is none
 * @param pciGpus NVIDIA display and 3D controllers on the PCI bus; absent where the bus cannot be read
 * @param gpus in the driver's order; empty when there is no driver
 */
public record NodeSnapshot(DriverState driver, Reading<List<PciAddress>> pciGpus, List<GpuSnapshot> gpus) {

    /** What is known of the driver. */
    public sealed interface DriverState {
        /** Opening it has not ended yet and is not late: nothing is known so far. */
        record Opening() implements DriverState {}

        record Running(DriverInfo info) implements DriverState {}

        record Unavailable(DriverOpening.Reason reason, int code, String detail) implements DriverState {}

        /** The library is loaded and initialised, and the driver does not answer what GPUs there are. */
        record Silent(DriverInfo info, String detail) implements DriverState {}
    }
}
