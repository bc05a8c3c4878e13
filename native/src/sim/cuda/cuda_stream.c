/* Streams. */
#include "cuda_sim.h"

CU_IN_CONTEXT(cuStreamCreate, (CUstream * handle, unsigned flags), (handle, flags))
{
    CU_NEED(handle && flags <= CU_STREAM_NON_BLOCKING)
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_object_add(call->context, CU_IS_STREAM, sizeof *stream);
    if (stream) {
        stream->non_blocking = flags == CU_STREAM_NON_BLOCKING;
        *handle = stream;
    }
    pthread_mutex_unlock(&cu_lock);
    return stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CU_IN_CONTEXT(cuStreamDestroy_v2, (CUstream handle), (handle))
{
    pthread_mutex_lock(&cu_lock);
    CUresult result = cu_call_about(call, CU_IS_STREAM, handle);
    if (result == CUDA_SUCCESS) {
        cu_object_remove(call->context, CU_IS_STREAM, handle);
    }
    pthread_mutex_unlock(&cu_lock);
    return result;
}

/* The stream may belong to another context than the current one. */
static CUresult end_of(cu_call_t *call, CUstream handle, int64_t *end_ns)
{
    pthread_mutex_lock(&cu_lock);
    CUresult result = CUDA_SUCCESS;
    cu_stream_t *stream = cu_stream(call, handle);
    if (!stream) {
        result = cu_call_about(call, CU_IS_STREAM, handle);
        stream = handle;
    }
    *end_ns = result == CUDA_SUCCESS ? stream->end_ns : 0;
    pthread_mutex_unlock(&cu_lock);
    return result;
}

CU_IN_CONTEXT(cuStreamQuery, (CUstream handle), (handle))
{
    int64_t end_ns;
    CUresult result = end_of(call, handle, &end_ns);
    return result != CUDA_SUCCESS ? result : cu_reached(call, end_ns);
}

CU_IN_CONTEXT(cuStreamSynchronize, (CUstream handle), (handle))
{
    int64_t end_ns;
    CUresult result = end_of(call, handle, &end_ns);
    return result != CUDA_SUCCESS ? result : cu_wait(call, end_ns);
}

/* An event that was never recorded delays nothing. The flags must be 0. */
CU_IN_CONTEXT(cuStreamWaitEvent, (CUstream handle, CUevent event, unsigned flags),
              (handle, event, flags))
{
    CU_NEED(flags == 0)
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_stream(call, handle);
    bool known = stream && cu_object_owner(CU_IS_EVENT, event);
    if (known && event->time_ns > stream->end_ns) {
        stream->end_ns = event->time_ns;
    }
    pthread_mutex_unlock(&cu_lock);
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
