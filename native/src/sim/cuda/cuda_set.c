/* Filling memory of a device with a value. */
#include <string.h>

#include "cuda_graph.h"

typedef struct {
    CUdeviceptr to;
    uint32_t value;
    size_t width, count;
} fill_t;

static cu_replay_t replay;

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
    bool captured = stream && stream->capture;
    fill_t recorded = {to, value, width, count};
    CUresult result = captured ? cu_capture(stream, replay, NULL, &recorded, sizeof recorded) : CUDA_SUCCESS;
    pthread_mutex_unlock(&cu_lock);
    if (!stream || captured) {
        return captured ? result : CUDA_ERROR_INVALID_HANDLE;
    }
    result = cu_settle(call, stream);
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

static CUresult replay(cu_call_t *call, CUstream stream, void *work)
{
    const fill_t *recorded = work;
    return fill(call, recorded->to, recorded->value, recorded->width, recorded->count, stream);
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
