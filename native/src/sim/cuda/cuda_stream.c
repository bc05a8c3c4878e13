/* Streams. */
#include "cuda_graph.h"

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
        cu_pending_end(call->context, handle);
        cu_object_remove(call->context, CU_IS_STREAM, handle);
    }
    pthread_mutex_unlock(&cu_lock);
    return result;
}

/* The stream may belong to another context than the current one. With cu_lock held. */
static CUresult find_stream(cu_call_t *call, CUstream handle, cu_stream_t **stream)
{
    *stream = cu_stream(call, handle);
    CUresult result = CUDA_SUCCESS;
    if (!*stream) {
        *stream = handle;
        result = cu_call_about(call, CU_IS_STREAM, handle);
    }
    /* Nothing of it runs, so nothing can be waited for. */
    return result == CUDA_SUCCESS && (*stream)->capture
               ? cu_capture_break(*stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
               : result;
}

CU_IN_CONTEXT(cuStreamQuery, (CUstream handle), (handle))
{
    cu_stream_t *stream;
    int64_t end_ns = 0;
    pthread_mutex_lock(&cu_lock);
    CUresult result = find_stream(call, handle, &stream);
    if (result == CUDA_SUCCESS) {
        end_ns = stream->end_ns;
        result = cu_settled(call->context, stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    }
    pthread_mutex_unlock(&cu_lock);
    return result != CUDA_SUCCESS ? result : cu_reached(call, end_ns);
}

CU_IN_CONTEXT(cuStreamSynchronize, (CUstream handle), (handle))
{
    cu_stream_t *stream;
    pthread_mutex_lock(&cu_lock);
    CUresult result = find_stream(call, handle, &stream);
    pthread_mutex_unlock(&cu_lock);
    result = result == CUDA_SUCCESS ? cu_settle(call, stream) : result;
    return result != CUDA_SUCCESS ? result : cu_wait(call, stream->end_ns);
}

/* An event that was never recorded delays nothing. Waits for operations of other libraries, unlike the real one. A capture
 * has one stream here, so it waits for no event. The flags must be 0. */
CU_IN_CONTEXT(cuStreamWaitEvent, (CUstream handle, CUevent event, unsigned flags),
              (handle, event, flags))
{
    CU_NEED(flags == 0)
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_stream(call, handle);
    bool known = stream && cu_object_owner(CU_IS_EVENT, event);
    CUresult result = !known ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
    if (known && (stream->capture || event->captured)) {
        result = CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
        result = stream->capture ? cu_capture_break(stream, result) : result;
    }
    pthread_mutex_unlock(&cu_lock);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = cu_settle_event(call, event);
    result = result == CUDA_SUCCESS ? cu_settle(call, stream) : result;
    pthread_mutex_lock(&cu_lock);
    if (result == CUDA_SUCCESS && event->time_ns > stream->end_ns) {
        stream->end_ns = event->time_ns;
    }
    pthread_mutex_unlock(&cu_lock);
    return result;
}
