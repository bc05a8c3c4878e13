package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.Reading;

/**
 * Memory of one GPU or partition in bytes, as the driver reports it. {@code reserved} is absent where the driver does
 * not separate it.
 */
public record GpuMemory(Reading<Long> total, Reading<Long> reserved, Reading<Long> free, Reading<Long> used) {

    /**
     * Returns the memory in use without the driver's reserve, as far as the driver separates it. Version 1 of the call
     * does not, and its reserve stays in. Version 2 is documented both ways, so the GPU's own sum decides: where used
     * and free alone make up the total, the reserve is part of the used memory.
     */
    Reading<Long> clients() {
        if (total instanceof Reading.Present<Long> all
                && reserved instanceof Reading.Present<Long> kept
                && free instanceof Reading.Present<Long> left
                && used instanceof Reading.Present<Long> taken) {
            long apart = all.value() - taken.value() - left.value();
            boolean reserveIsInUsed = Math.abs(apart) < Math.abs(apart - kept.value());
            return reserveIsInUsed ? Reading.of(Math.max(0, taken.value() - kept.value())) : used;
        }
        return used;
    }
}
