package dev.gpuwarden.core.port;

import dev.gpuwarden.core.compute.CopiedData;
import dev.gpuwarden.core.compute.MemoryResult;
import dev.gpuwarden.core.compute.MemoryWork;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ProductWork;
import dev.gpuwarden.core.compute.VectorResult;
import dev.gpuwarden.core.compute.VectorWork;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

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
     * Returns the rates of copies from GPUs to other GPUs, in the order of the pairs. All pairs copy at the same time, so a GPU can be the
     * source of one.
     */
    List<Reading<PeerRate>> copyToPeers(List<PeerPair> pairs, CopyWork work);

    /**
     * Returns the results of a memory test of these GPUs, in the order of the names.
     *
     * @param stopped asked often and by several threads: true ends the test between two pieces, and results have what was tested until then
     */
    List<Reading<MemoryResult>> testMemory(List<String> gpuUuids, MemoryWork work, BooleanSupplier stopped);

    /**
     * Returns the bandwidth of these GPUs' memory by y = a x + y, in the order of the names, with a verification of y.
     *
     * @param stopped like that of {@link #testMemory}; but a result that is not complete is absent
     */
    List<Reading<VectorResult>> measureVectors(List<String> gpuUuids, VectorWork work, BooleanSupplier stopped);

    /**
     * Returns the rates of these GPUs' products of matrices, in the order of the names, with verifications and digests of the products.
     *
     * @param stopped like that of {@link #measureVectors}
     */
    List<Reading<ProductResult>> measureProducts(List<String> gpuUuids, ProductWork work, BooleanSupplier stopped);

    /**
     * Takes memory of a GPU and holds it, as a workload does. Blocks in the driver, 30 s at most. No measurement of this driver runs on that
     * GPU until it is closed.
     *
     * @param bytes above 0; the context takes memory of its own in addition
     * @return absent with the driver's code, 2 on a full GPU, if nothing is held
     */
    Reading<HeldMemory> hold(String gpuUuid, long bytes);

    /**
     * Returns the file and version of NVIDIA's library of matrix products, or why there is none. The first call searches and loads it.
     */
    default Reading<String> matrixLibrary() {
        return Reading.absent(Absence.NOT_SUPPORTED, 0, "a library of matrix products");
    }

    /**
     * Returns whether no work on this GPU is left behind in the driver after its deadline. Does not block. True for a GPU that is not
     * listed.
     */
    boolean isIdle(String gpuUuid);

    /**
     * Returns whether an error stays: each later call of this process on the GPU returns it too. 214 ECC and 220 NVLink are published as
     * such. cuda.h 13.5 has these: 226 contained error, 700 illegal address, 702 time-out of a kernel, 710 assertion, 714 to 719 faults
     * of a kernel, 721 tensor memory, 810 the end of an MPS client, 911 an external device.
     */
    static boolean poisons(int code) {
        return switch (code) {
            case 214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911 -> true;
            default -> false;
        };
    }

    /**
     * The size of a measurement of copies.
     *
     * @param bytes size of one copy, and of the memory that is taken on the host and on the GPU
     * @param busy time for which each direction is measured; one copy is the least
     * @param deadline after which the measurement is left behind
     */
    record CopyWork(int bytes, Duration busy, Duration deadline) {}

    /** A GPU that copies, and the GPU that it copies to. */
    record PeerPair(String fromUuid, String toUuid) {}

    /**
     * The measured rate of copies between two GPUs.
     *
     * @param direct whether the GPUs have access to each other; otherwise copies go through the host's memory
     * @param data that the host wrote to the first GPU, and read from the second one after the last copy
     */
    record PeerRate(double bytesPerSecond, boolean direct, CopiedData data) {}

    /**
     * Measured rates of copies.
     *
     * @param toDevice bytes a second from host to GPU
     * @param toHost bytes a second from GPU to host
     * @param data that the host wrote, and that came back by the last copies
     */
    record CopyRates(double toDevice, double toHost, CopiedData data) {

        /** Returns whether both are numbers above zero; a clock that stands still gives an infinite rate. */
        public boolean isPlausible() {
            return Double.isFinite(toDevice) && Double.isFinite(toHost) && toDevice > 0 && toHost > 0;
        }
    }
}
