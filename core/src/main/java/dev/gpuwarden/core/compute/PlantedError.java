package dev.gpuwarden.core.compute;

import java.util.random.RandomGenerator;

/**
 * An element that the host makes wrong before a comparison, as proof that the comparison finds it: a positive control. The host computes the
 * right bits itself and reads what is there, so it also sees an element that is wrong already. Pure.
 *
 * @param index of the element, as reports of the comparison count it
 * @param expected the right bits
 * @param before the bits in memory before
 * @param during the bits in memory during the comparison: {@code before} with one other bit, or {@code before} itself if that is wrong
 */
public record PlantedError(long index, long expected, long before, long during) {

    /** Chooses the bit of an element that has this many. */
    public static PlantedError of(long index, long expected, long before, int bits, RandomGenerator random) {
        long during = before == expected ? before ^ 1L << random.nextInt(bits) : before;
        return new PlantedError(index, expected, before, during);
    }

    /**
     * Chooses a place: the first element, the last one, one of the last part, or any one, each as often.
     *
     * @param elements above 0
     * @param part elements of the last part, such as the last block of a launch
     */
    public static long place(long elements, long part, RandomGenerator random) {
        return switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> elements - 1;
            case 2 -> elements - 1 - random.nextLong(Math.min(part, elements));
            default -> random.nextLong(elements);
        };
    }

    /** Returns whether memory must be written before and after the comparison; false if the element is wrong already. */
    public boolean isWritten() {
        return before != during;
    }

    /** Returns what the comparison must report, and did not. */
    String text() {
        return "element " + Long.toUnsignedString(index)
                + (isWritten() ? ", which the host made" : ", which the host read as") + " 0x"
                + Long.toHexString(during)
                + " in place of 0x" + Long.toHexString(expected);
    }
}
