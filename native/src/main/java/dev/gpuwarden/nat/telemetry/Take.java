package dev.gpuwarden.nat.telemetry;

/**
 * One value taken out of what a call left in scratch memory.
 *
 * @param offset in scratch memory, in bytes
 * @param slot of the frame
 * @param sum adds to what the same call has put into the slot already
 */
public record Take(int offset, Width width, int slot, boolean sum) {

    /** Type of the value in memory. The ordinal is the number that sampler.c knows. */
    public enum Width {
        U32,
        S32,
        U64,
        U8
    }
}
