package dev.gpuwarden.checks.gpu;

/** A PCIe link by its number of lanes and its generation. */
record PcieLink(long lanes, long generation) {

    /** Gbit/s per lane and generation, line coding deducted (PCI-SIG; generation 6 and 7 approximately). */
    private static final double[] LANE_RATE = {0, 2.0, 4.0, 7.877, 15.754, 31.508, 60.5, 121};

    /** Returns Gbit/s in each direction; 0 where the generation is 0, which is none. */
    double gigabits() {
        return lanes * LANE_RATE[(int) Math.min(generation, LANE_RATE.length - 1)];
    }

    /** Returns GB/s in each direction. */
    double gigabytes() {
        return gigabits() / 8;
    }

    @Override
    public String toString() {
        return "generation " + generation + " with " + lanes + " lanes";
    }
}
