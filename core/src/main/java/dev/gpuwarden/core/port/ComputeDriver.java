package dev.gpuwarden.core.port;

import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.List;

/**
 * The part of the GPU driver that runs work on GPUs, called in this process. GPUs are named by their UUIDs, since indexes differ from
 * those of the management library.
 *
 * <p>A measurement holds memory of its GPU and keeps it busy while it runs, and gives both back before it returns. A call that does not
 * return within its deadline is left behind: its readings are STALE. A GPU takes one measurement at a time: until it is over, others of this
 * driver are STALE without a call. No method throws for a driver's failure. All calls are thread-safe.
 */
public interface ComputeDriver {

    /** Returns the file that the loader took. */
    String libraryPath();

    /** Returns the UUIDs of the GPUs that this process may use, in the library's order. */
    List<String> gpus();

    /**
     * Returns the rates of copies between pinned memory of the host and these GPUs, in the order of the names. Several GPUs copy at the
     * same time.
     */
    List<Reading<CopyRates>> copy(List<String> gpuUuids, CopyWork work);

    /**
     * The size of a measurement of copies.
     *
     * @param bytes size of one copy, and of the memory that is taken on the host and on the GPU
     * @param busy time for which each direction is measured; one copy is the least
     * @param deadline after which the measurement is left behind
     */
    record CopyWork(int bytes, Duration busy, Duration deadline) {}

    /**
     * Measured rates of copies.
     *
     * @param toDevice bytes a second from host to GPU
     * @param toHost bytes a second from GPU to host
     */
    record CopyRates(double toDevice, double toHost) {

        /** Returns whether both are numbers above zero; a clock that stands still gives an infinite rate. */
        public boolean isPlausible() {
            return Double.isFinite(toDevice) && Double.isFinite(toHost) && toDevice > 0 && toHost > 0;
        }
    }
}
