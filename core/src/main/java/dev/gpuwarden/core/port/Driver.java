package dev.gpuwarden.core.port;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The GPU driver of this node, called in this process.
 *
 * <p>Every call may block without limit and cannot be interrupted: call from a thread that may be lost. All calls are
 * thread-safe. No method throws for a driver's failure; failures are returned as absences.
 */
public interface Driver extends AutoCloseable {

    /** Returns versions and origin, read once at start. */
    DriverInfo info();

    /** Returns each optional function with its purpose, and whether this library has it. */
    List<Capability> capabilities();

    /** Returns answers of the library that were refused because they contradict themselves, the most recent last; bounded. */
    List<Refusal> refusals();

    /** Returns the number of GPUs that the driver lists. */
    Reading<Integer> count();

    /**
     * Returns the identity of one GPU. It queries this GPU alone, so that a hanging GPU does not hide the others. A GPU
     * that cannot be queried has absences.
     */
    GpuIdentity identify(int gpuIndex);

    /**
     * Returns the identities of all GPUs by index.
     *
     * @return absent where the driver cannot count them
     */
    default Reading<List<GpuIdentity>> enumerate() {
        return count().map(gpus ->
                IntStream.range(0, gpus).mapToObj(this::identify).toList());
    }

    /**
     * Shuts the library down and initialises it again, so that it sees GPUs that came back or went away. Samplers stay
     * valid and follow their GPU by its UUID, while indexes may change. Calls in progress in other threads may fail
     * once.
     */
    Reading<Boolean> reinitialise();

    /**
     * Shuts the library down and initialises it again with these GPUs alone. The process then holds no other GPU open until the
     * next {@link #reinitialise}. Indexes stay those of the given identities; calls for another GPU return RELEASED. A GPU
     * without a PCI address cannot be kept. To hold none, {@link #close} the driver.
     *
     * @param kept at least one
     * @return NOT_SUPPORTED if this system cannot open some GPUs alone; nothing has changed then
     */
    Reading<Boolean> reinitialiseWith(List<GpuIdentity> kept);

    /** Returns a sampler for the GPU with this index. It is not thread-safe: use one per worker thread. */
    Sampler sampler(int gpuIndex);

    /** Returns a sampler for one MIG partition: most readings are NOT_SUPPORTED there, memory is not. */
    Sampler migSampler(int gpuIndex, int migIndex);

    /**
     * Returns the processes that hold this GPU, with MIG partitions and MPS clients. The call is expensive: it takes a
     * lock in the driver.
     */
    Reading<List<GpuProcess>> processes(int gpuIndex);

    /** Returns the limits of memory for control groups. The object is there always; its answers state what the driver lacks. */
    CgroupLimits cgroupLimits();

    /** Returns critical events, mainly XIDs. Absent where the driver has none (WSL, no permission). */
    Reading<EventStream> events();

    /**
     * Ends the driver: the process then holds no file of it. Its library is unloaded after the calls under way, so that the next opening
     * reads an upgraded one. Later calls, also of samplers, return absences.
     */
    @Override
    void close();

    /** A reader of one GPU's readings. */
    interface Sampler extends AutoCloseable {
        /**
         * Fills every slot of the cadence, and nothing else, with a value or an absence, then the header. Blocks in the driver.
         * Allocates nothing on the JNI path.
         */
        void sample(Cadence cadence, GpuFrame frame);

        @Override
        void close();
    }

    /** A stream of events. */
    interface EventStream extends AutoCloseable {
        /** Waits for an event; empty after the timeout. */
        Optional<DriverEvent> await(Duration timeout);

        @Override
        void close();
    }

    /**
     * A critical event.
     *
     * @param type NVML's event type bit; 8 is an XID (nvml.h 13.3, nvmlEventTypeXidCriticalError)
     * @param data the XID for XID events; 999 = unknown
     */
    record DriverEvent(Reading<String> gpuUuid, long type, long data, Reading<Integer> gpuInstance) {}
}
