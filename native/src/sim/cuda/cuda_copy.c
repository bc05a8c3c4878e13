/* Copies. The bytes move when the operation is enqueued; its time is that of the simulated links. */
#include <string.h>

#include "cuda_graph.h"

typedef struct {
    void *target;
    const void *source;
    size_t bytes;
    int64_t mbps;
    int64_t *engine, *other_engine;
    int gpu;          /* whose memory is read or written; between two GPUs the first one's */
    const char *name; /* for results that are wrong */
} copy_t;

static cu_replay_t replay;

static CUresult run(cu_call_t *call, const copy_t *copy, CUstream handle, bool wait)
{
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_stream(call, handle);
    bool captured = stream && stream->capture;
    CUresult recorded = captured ? cu_capture(stream, replay, NULL, copy, sizeof *copy) : CUDA_SUCCESS;
    pthread_mutex_unlock(&cu_lock);
    if (!stream || captured) {
        return captured ? recorded : CUDA_ERROR_INVALID_HANDLE;
    }
    CUresult result = cu_settle(call, stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    int64_t enqueued_ns = cu_enqueue_ns(), began_ns = cu_host_ns();
    cu_wrong_copy(&call->table->gpu[copy->gpu], copy->name, copy->target, copy->source, copy->bytes);
    cu_spent_since(began_ns);
    pthread_mutex_lock(&cu_lock);
    cu_enqueue(call->context, stream, enqueued_ns, cu_duration_ns(copy->bytes, copy->mbps), copy->engine,
               copy->other_engine);
    int64_t end_ns = stream->end_ns;
    pthread_mutex_unlock(&cu_lock);
    return wait ? cu_wait(call, end_ns) : CUDA_SUCCESS;
}

static CUresult replay(cu_call_t *call, CUstream stream, void *work)
{
    return run(call, work, stream, false);
}

static CUresult to_device(cu_call_t *call, CUdeviceptr to, const void *from, size_t bytes,
                          CUstream stream, bool wait)
{
    cu_context_t *owner = cu_memory_owner(to, bytes);
    if (bytes == 0) {
        return CUDA_SUCCESS;
    }
    CU_NEED(from)
    if (!owner) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    copy_t copy = {(void *)to, from, bytes, cu_rate_to_device(&call->table->gpu[owner->slot]),
                   &owner->engine_end_ns[CU_TO_DEVICE], NULL, owner->slot, "copy_to_device"};
    return run(call, &copy, stream, wait);
}

static CUresult to_host(cu_call_t *call, void *to, CUdeviceptr from, size_t bytes, CUstream stream,
                        bool wait)
{
    cu_context_t *owner = cu_memory_owner(from, bytes);
    if (bytes == 0) {
        return CUDA_SUCCESS;
    }
    CU_NEED(to)
    if (!owner) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    copy_t copy = {to, (const void *)from, bytes, cu_rate_to_host(&call->table->gpu[owner->slot]),
                   &owner->engine_end_ns[CU_TO_HOST], NULL, owner->slot, "copy_to_host"};
    return run(call, &copy, stream, wait);
}

/* Within a device, or between two: over NVLink where there is one, else over PCIe. */
static CUresult between(cu_call_t *call, CUdeviceptr to, CUdeviceptr from, size_t bytes,
                        CUstream stream, bool wait)
{
    cu_context_t *target = cu_memory_owner(to, bytes), *source = cu_memory_owner(from, bytes);
    if (bytes == 0) {
        return CUDA_SUCCESS;
    }
    if (!target || !source) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    copy_t copy = {.target = (void *)to, .source = (const void *)from, .bytes = bytes, .gpu = source->slot,
                   .name = target == source ? "copy_within" : "copy_to_peer"};
    if (target == source) {
        copy.mbps = cu_rate_memory(&call->table->gpu[target->slot]);
        copy.engine = &target->engine_end_ns[CU_IN_MEMORY];
    } else {
        CUresult result = cu_health(call->table, target);
        result = result == CUDA_SUCCESS ? cu_health(call->table, source) : result;
        if (result != CUDA_SUCCESS) {
            return cu_poison(call->context, result);
        }
        bool linked = cu_linked(call->table, source->slot, target->slot);
        copy.mbps = cu_rate_peer(call->table, source->slot, target->slot);
        copy.engine = &source->engine_end_ns[linked ? CU_TO_PEER : CU_TO_HOST];
        copy.other_engine = &target->engine_end_ns[linked ? CU_FROM_PEER : CU_TO_DEVICE];
    }
    return run(call, &copy, stream, wait);
}

CU_IN_CONTEXT(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes))
{
    return to_device(call, to, from, bytes, NULL, true);
}

CU_IN_CONTEXT(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
              (to, from, bytes, stream))
{
    return to_device(call, to, from, bytes, stream, false);
}

CU_IN_CONTEXT(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes))
{
    return to_host(call, to, from, bytes, NULL, true);
}

CU_IN_CONTEXT(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream),
              (to, from, bytes, stream))
{
    return to_host(call, to, from, bytes, stream, false);
}

/* Within memory the host does not wait, unlike for the other copies without a stream. */
CU_IN_CONTEXT(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes))
{
    return between(call, to, from, bytes, NULL, false);
}

CU_IN_CONTEXT(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
              (to, from, bytes, stream))
{
    return between(call, to, from, bytes, stream, false);
}

/* The addresses name the devices already; the contexts must only be some. */
static CUresult peer(cu_call_t *call, CUdeviceptr to, CUcontext target, CUdeviceptr from,
                     CUcontext source, size_t bytes, CUstream stream)
{
    return cu_is_context(target) && cu_is_context(source)
               ? between(call, to, from, bytes, stream, false)
               : CUDA_ERROR_INVALID_CONTEXT;
}

CU_IN_CONTEXT(cuMemcpyPeer,
              (CUdeviceptr to, CUcontext target, CUdeviceptr from, CUcontext source, size_t bytes),
              (to, target, from, source, bytes))
{
    return peer(call, to, target, from, source, bytes, NULL);
}

CU_IN_CONTEXT(cuMemcpyPeerAsync,
              (CUdeviceptr to, CUcontext target, CUdeviceptr from, CUcontext source, size_t bytes,
               CUstream stream),
              (to, target, from, source, bytes, stream))
{
    return peer(call, to, target, from, source, bytes, stream);
}
