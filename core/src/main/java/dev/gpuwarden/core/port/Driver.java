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
 * The GPU driver of this node, reached in this process.
 *
 * <p>Every call may block for as long as the driver likes, without a way to interrupt it: call from a thread that may be lost.
 * All calls are thread-safe. Nothing here throws for what a driver may do; failures come back as absences.
 */
public interface Driver extends AutoCloseable {

    /** Versions and origin, read once at start. */
    DriverInfo info();

    /** Each optional function with what it is for and whether this library has it. */
    List<Capability> capabilities();

    /** Answers of the library that were refused because they contradict themselves, most recent last; bounded. */
    List<Refusal> refusals();

    /** How many GPUs the driver lists. */
    Reading<Integer> count();

    /**
     * What the GPU with this index is. Asks this GPU alone, so that one that hangs does not hide the others; one that cannot be
     * asked is described by its absences.
     */
    GpuIdentity identify(int gpuIndex);

    /**
     * Asks all GPUs, by index, what they are.
     *
     * @return absent when the driver cannot even count them
     */
    default Reading<List<GpuIdentity>> enumerate() {
        return count().map(gpus ->
                IntStream.range(0, gpus).mapToObj(this::identify).toList());
    }

    /**
     * Shuts the library down and initialises it again, so that GPUs that came back or went away are seen. Samplers
     * stay valid and follow their GPU by its UUID, while indexes may come to mean other GPUs. Calls that are under way in other
     * threads may fail once.
     */
    Reading<Boolean> reinitialise();

    /** A sampler for the GPU with this index. Not thread-safe: one per worker thread. */
    Sampler sampler(int gpuIndex);

    /** A sampler for one MIG partition: most readings are NOT_SUPPORTED there, memory is not. */
    Sampler migSampler(int gpuIndex, int migIndex);

    /** The processes that hold this GPU, MIG partitions and MPS clients included. Dear: takes a lock in the driver. */
    Reading<List<GpuProcess>> processes(int gpuIndex);

    /** Critical events, XIDs foremost. Absent where the driver has none (WSL, no permission). */
    Reading<EventStream> events();

    @Override
    void close();

    /** Takes one GPU's readings. */
    interface Sampler extends AutoCloseable {
        /**
         * Fills every slot of the cadence, and nothing else, with a value or an absence, then the header. Blocks in the driver.
         * Allocates nothing on the JNI path.
         */
        void sample(Cadence cadence, GpuFrame frame);

        @Override
        void close();
    }

    /** Events as they come. */
    interface EventStream extends AutoCloseable {
        /** Waits at most this long; empty when nothing came. */
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
