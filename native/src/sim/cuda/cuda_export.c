/* Tables of private functions, by a 16-byte id. */
#include <string.h>

#include "cuda_shared.h"
#include "cuda_graph.h"

static CUresult place(int ordinal, cuda_place_t *place)
{
    cu_context_t *context = ordinal < 0 ? cu_current() : NULL;
    if (!context) {
        CUresult result = cuInit(0);
        result = result == CUDA_SUCCESS ? cuDevicePrimaryCtxRetain(&context, ordinal < 0 ? 0 : ordinal) : result;
        result = result == CUDA_SUCCESS && ordinal < 0 ? cuCtxSetCurrent(context) : result;
        if (result != CUDA_SUCCESS) {
            return result;
        }
    }
    *place = (cuda_place_t){context, context->ordinal, context->slot};
    return cu_health(sim_table(), context);
}

static CUresult health(CUcontext context)
{
    pthread_mutex_lock(&cu_lock);
    CUresult result = context->retained > 0 ? cu_health(sim_table(), context) : CUDA_ERROR_INVALID_CONTEXT;
    pthread_mutex_unlock(&cu_lock);
    return result;
}

static void fail(CUcontext context, CUresult result)
{
    pthread_mutex_lock(&cu_lock);
    cu_poison(context, result);
    pthread_mutex_unlock(&cu_lock);
}

static bool owns(CUcontext context, const void *address, size_t bytes, int *slot)
{
    const cu_context_t *owner = cu_memory_owner((CUdeviceptr)(uintptr_t)address, bytes);
    *slot = owner ? owner->slot : -1;
    return owner ? owner == context : cu_host_owns(address, bytes);
}

static CUresult allocate(void **address, size_t bytes)
{
    CUdeviceptr allocated = 0;
    CUresult result = cuMemAlloc_v2(&allocated, bytes);
    *address = (void *)(uintptr_t)allocated;
    return result;
}

static CUresult release(void *address)
{
    return cuMemFree_v2((CUdeviceptr)(uintptr_t)address);
}

static CUresult enqueue(CUcontext context, CUstream handle, cuda_operation_t *operation)
{
    cu_call_t call = {.table = sim_table(), .context = context};
    int64_t enqueued_ns = cu_enqueue_ns();
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_stream(&call, handle);
    *operation = stream ? cu_pending_begin(context, stream, enqueued_ns) : NULL;
    pthread_mutex_unlock(&cu_lock);
    return !stream ? CUDA_ERROR_INVALID_HANDLE : *operation ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static bool captures(CUcontext context, CUstream handle)
{
    cu_call_t call = {.table = sim_table(), .context = context};
    pthread_mutex_lock(&cu_lock);
    const cu_stream_t *stream = cu_stream(&call, handle);
    bool capturing = stream && stream->capture;
    pthread_mutex_unlock(&cu_lock);
    return capturing;
}

static CUresult replay(cu_call_t *call, CUstream stream, void *work)
{
    (void)call;
    const cuda_work_t *of = work;
    return of->replay(of->work, stream);
}

static void end(void *work)
{
    const cuda_work_t *of = work;
    of->release(of->work);
}

static CUresult record(CUcontext context, CUstream handle, const cuda_work_t *work)
{
    cu_call_t call = {.table = sim_table(), .context = context};
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_stream(&call, handle);
    CUresult result = stream && stream->capture ? cu_capture(stream, replay, end, work, sizeof *work)
                                                : CUDA_ERROR_ILLEGAL_STATE;
    pthread_mutex_unlock(&cu_lock);
    return result;
}

static int64_t rate(CUcontext context, int slot)
{
    const sim_table_t *table = sim_table();
    return slot == context->slot ? cu_rate_memory(&table->gpu[slot])
                                 : cu_rate_peer(table, context->slot, slot);
}

static const CUuuid shared_id = CUDA_SHARED_ID;
static const cuda_shared_t shared = {
    sizeof shared, place, health, fail, owns, allocate, release, enqueue, cu_pending_ready, cu_pending_finish, rate,
    captures, record,
};

/* NVIDIA documents neither ids nor the result for an unknown one. */
CU_ANYWHERE(cuGetExportTable, CU_ALWAYS, (const void **table, const CUuuid *id), (table, id))
{
    (void)call;
    CU_NEED(table && id)
    if (memcmp(id, &shared_id, sizeof *id) != 0) {
        return CUDA_ERROR_NOT_FOUND;
    }
    *table = &shared;
    return CUDA_SUCCESS;
}
