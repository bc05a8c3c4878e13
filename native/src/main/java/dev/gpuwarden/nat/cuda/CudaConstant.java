package dev.gpuwarden.nat.cuda;

/** Numbers of cuda.h that are passed to the library, by their names there. `CudaHeadersTest` compares them with the header. */
public enum CudaConstant {
    /** A stream that does not wait for the default one. */
    CU_STREAM_NON_BLOCKING(1),
    /** A capture that only forbids unsafe calls of its own thread. */
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL(1),
    CU_EVENT_DEFAULT(0),
    /** A wait for the event does not take the processor. */
    CU_EVENT_BLOCKING_SYNC(1),
    /** In kHz. */
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE(36),
    /** In bits. */
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH(37),
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR(75),
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR(76);

    private final int number;

    CudaConstant(int number) {
        this.number = number;
    }

    /** Returns the number for the library. */
    public int number() {
        return number;
    }
}
