/* Filling memory of a device with a value. */
#include <string.h>

#include "cuda_sim.h"

/* Writes `count` values of `width` bytes. Twice the rate of a copy, which also reads. */
static CUresult fill(cu_call_t *call, CUdeviceptr to, uint32_t value, size_t width, size_t count,
                     CUstream handle)
{
    CU_NEED(to % width == 0 && count <= SIZE_MAX / width)
    size_t bytes = width * count;
    cu_context_t *owner = cu_memory_owner(to, bytes);
    if (bytes == 0) {
        return CUDA_SUCCESS;
    }
    if (!owner) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_stream(call, handle);
    pthread_mutex_unlock(&cu_lock);
    if (!stream) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    CUresult result = cu_settle(call, stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    int64_t enqueued_ns = cu_enqueue_ns(), began_ns = cu_host_ns();
    if (width == 1) {
        memset((void *)to, (int)value, bytes);
    } else {
        uint32_t *words = (uint32_t *)to;
        for (size_t i = 0; i < count; i++) {
            words[i] = value;
        }
    }
    cu_spent_since(began_ns);
    int64_t duration_ns = cu_duration_ns(bytes, 2 * cu_rate_memory(&call->table->gpu[owner->slot]));
    pthread_mutex_lock(&cu_lock);
    cu_enqueue(call->context, stream, enqueued_ns, duration_ns, &owner->engine_end_ns[CU_IN_MEMORY], NULL);
    pthread_mutex_unlock(&cu_lock);
    return CUDA_SUCCESS;
}

CU_IN_CONTEXT(cuMemsetD8_v2, (CUdeviceptr to, unsigned char value, size_t count), (to, value, count))
{
    return fill(call, to, value, 1, count, NULL);
}

CU_IN_CONTEXT(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream),
              (to, value, count, stream))
{
    return fill(call, to, value, 1, count, stream);
}

CU_IN_CONTEXT(cuMemsetD32_v2, (CUdeviceptr to, unsigned value, size_t count), (to, value, count))
{
    return fill(call, to, value, 4, count, NULL);
}

CU_IN_CONTEXT(cuMemsetD32Async, (CUdeviceptr to, unsigned value, size_t count, CUstream stream),
              (to, value, count, stream))
{
    return fill(call, to, value, 4, count, stream);
}
