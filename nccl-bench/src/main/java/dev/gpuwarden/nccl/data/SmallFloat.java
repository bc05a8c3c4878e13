package dev.gpuwarden.nccl.data;

/**
 * A floating-point format of 8 or 16 bits: sign, exponent, fraction. Numbers are finite here, and within the range of the format.
 *
 * @param exponentBits bits of the exponent, whose bias is half of its range
 */
record SmallFloat(int exponentBits, int fractionBits) {

    static final SmallFloat HALF = new SmallFloat(5, 10);
    static final SmallFloat BFLOAT16 = new SmallFloat(8, 7);
    static final SmallFloat E4M3 = new SmallFloat(4, 3);
    static final SmallFloat E5M2 = new SmallFloat(5, 2);

    /** Returns the bits of the nearest number, to even at a tie. */
    int encode(double value) {
        int sign = value < 0 ? 1 << exponentBits + fractionBits : 0;
        double magnitude = Math.abs(value);
        if (magnitude == 0) {
            return sign;
        }
        int exponent = Math.max(Math.getExponent(magnitude), 1 - bias());
        long fraction = (long) Math.rint(Math.scalb(magnitude, fractionBits - exponent));
        // A carry of the rounding goes into the exponent by itself, and so does the missing hidden bit of a subnormal.
        return sign | (int) (((long) (exponent + bias() - 1) << fractionBits) + fraction);
    }

    private int bias() {
        return (1 << exponentBits - 1) - 1;
    }

    /** Returns a number that grows by one from each number of the format to the next larger one. */
    static long ordered(long bits, int width) {
        long sign = 1L << width - 1;
        return (bits & sign) == 0 ? bits : -(bits & sign - 1);
    }
}
