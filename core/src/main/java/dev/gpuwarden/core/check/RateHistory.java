package dev.gpuwarden.core.check;

import java.util.Collection;
import java.util.List;

/**
 * The earlier rates of each GPU in each kind of work. A GPU has a history for one set of settings at a time: rates with
 * another driver, power limit or clock are not comparable. Thread-safe.
 */
public interface RateHistory {

    /**
     * Returns the GPU's earlier rates with these settings, in the order in which they were kept; empty if it has none.
     *
     * @param gpu its UUID
     * @param work name of the measurement, which includes its unit
     * @param settings all that must be equal
     */
    List<Double> earlier(String gpu, String work, String settings);

    /** Keeps a rate. With other settings than before, the GPU's history of this work begins with it. */
    void keep(String gpu, String work, String settings, double rate);

    /** The earlier rates of one GPU in one kind of work, as {@link #earlier} returns them. */
    record Series(String gpu, String work, String settings, List<Double> rates) {}

    /** Returns all series of these GPUs, for a run of a check in another process. */
    List<Series> series(Collection<String> gpus);

    /** A history that keeps nothing. */
    RateHistory NONE = new RateHistory() {
        @Override
        public List<Double> earlier(String gpu, String work, String settings) {
            return List.of();
        }

        @Override
        public void keep(String gpu, String work, String settings, double rate) {}

        @Override
        public List<Series> series(Collection<String> gpus) {
            return List.of();
        }
    };
}
