package dev.gpuwarden.nat.telemetry;

/**
 * One value in the scratch memory after a call.
 *
 * @param offset in scratch memory, in bytes
 * @param slot of the frame
 * @param sum whether to add to the value that the same call has put into the slot already
 */
public record Take(int offset, Width width, int slot, boolean sum) {

    /** The type of the value in memory. The ordinal is the number in sampler.c. */
    public enum Width {
        U32,
        S32,
        U64,
        U8
    }
}
