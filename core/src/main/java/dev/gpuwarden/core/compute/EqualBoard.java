package dev.gpuwarden.core.compute;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;

/**
 * The properties that two GPUs must have in common before their results are compared. Two absent readings are equal if cause, code and detail are.
 *
 * @param board the board's name
 * @param mig whether MIG is on
 * @param powerLimitMilliwatts the limit in force
 * @param ecc whether ECC is on
 */
public record EqualBoard(String board, Reading<Boolean> mig, Reading<Long> powerLimitMilliwatts, Reading<Boolean> ecc) {

    /** Returns the properties of a GPU. One without a name is equal to no other. */
    public static EqualBoard of(GpuSnapshot gpu) {
        return new EqualBoard(
                gpu.identity().name().asOptional().orElse(gpu.identity().label()),
                gpu.frame().reading(GpuMetric.MIG_MODE).map(EqualBoard::isOn),
                gpu.frame().reading(GpuMetric.POWER_LIMIT_ENFORCED),
                gpu.frame().reading(GpuMetric.ECC_MODE).map(EqualBoard::isOn));
    }

    private static boolean isOn(long mode) {
        return mode == 1;
    }
}
