/*
 * The functions that the simulated libcuda gives to other simulated libraries, by cuGetExportTable: operations that they carry out in threads of
 * their own, in the order of a stream, and the rates between GPUs. Real libcuda serves the CUDA runtime in the same way.
 */
#ifndef GPUWARDEN_CUDA_SHARED_H
#define GPUWARDEN_CUDA_SHARED_H

#include <stdbool.h>

#include "cuda_mirror.h"

/* Made for this project; the first byte of the table is its size, so that another version is refused. */
#define CUDA_SHARED_ID {{'g', 'p', 'u', 'w', 'a', 'r', 'd', 'e', 'n', '-', 's', 'i', 'm', '-', '0', '1'}}

/* Work that a graph runs on each launch, in the thread that launches it; `release` when the graph and what was made from it are gone. */
typedef struct {
    CUresult (*replay)(void *work, CUstream stream);
    void (*release)(void *work); /* without calls of libcuda */
    void *work;
} cuda_work_t;

/* An operation that was enqueued on a stream, until it is finished. */
typedef struct cu_pending *cuda_operation_t;

typedef struct {
    CUcontext context;
    int ordinal; /* among the visible devices */
    int slot;    /* in the table */
} cuda_place_t;

typedef struct {
    int64_t size;
    /*
     * The primary context of a device; for -1 the current one of this thread, or that of device 0, as in the CUDA runtime. It stays
     * retained.
     */
    CUresult (*place)(int ordinal, cuda_place_t *place);
    /* The present result of calls in this context. */
    CUresult (*health)(CUcontext context);
    /* Ends the context with a sticky error, as a kernel with that error does. */
    void (*fail)(CUcontext context, CUresult result);
    /* True if the bytes are in a live allocation of the context, or of the host. `slot`: the owner's, -1 for the host or none. */
    bool (*owns)(CUcontext context, const void *address, size_t bytes, int *slot);
    /* Memory of the current device. */
    CUresult (*allocate)(void **address, size_t bytes);
    CUresult (*release)(void *address);
    /* Enqueues an operation; copies, launches and waits of that stream wait for its end. */
    CUresult (*enqueue)(CUcontext context, CUstream stream, cuda_operation_t *operation);
    /*
     * Returns whether all work before the operation is done, after waiting for that at most so long, and from when on it may run:
     * nanoseconds of the monotonic clock, possibly in the past or in the future.
     */
    bool (*ready)(cuda_operation_t operation, int milliseconds, int64_t *ready_ns);
    /* Gives the operation its end on that clock, and frees it. */
    void (*finish)(cuda_operation_t operation, int64_t end_ns);
    /* MB/s of a copy to the GPU of that slot, or within the GPU. */
    int64_t (*rate)(CUcontext context, int slot);
    /* True if work on this stream is recorded for a graph. */
    bool (*captures)(CUcontext context, CUstream stream);
    /* Records work on such a stream. After a failure the work is still the caller's. */
    CUresult (*record)(CUcontext context, CUstream stream, const cuda_work_t *work);
} cuda_shared_t;

#endif
