/* Events: points in the work of a stream, with the time at which it gets there. */
#include "cuda_graph.h"

CU_IN_CONTEXT(cuEventCreate, (CUevent * handle, unsigned flags), (handle, flags))
{
    CU_NEED(handle && flags <= 7)
    pthread_mutex_lock(&cu_lock);
    cu_event_t *event = cu_object_add(call->context, CU_IS_EVENT, sizeof *event);
    if (event) {
        event->no_timing = (flags & CU_EVENT_DISABLE_TIMING) != 0;
        *handle = event;
    }
    pthread_mutex_unlock(&cu_lock);
    return event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CU_IN_CONTEXT(cuEventDestroy_v2, (CUevent handle), (handle))
{
    pthread_mutex_lock(&cu_lock);
    CUresult result = cu_call_about(call, CU_IS_EVENT, handle);
    if (result == CUDA_SUCCESS) {
        cu_pending_forget(handle);
        cu_object_remove(call->context, CU_IS_EVENT, handle);
    }
    pthread_mutex_unlock(&cu_lock);
    return result;
}

CU_IN_CONTEXT(cuEventRecord, (CUevent event, CUstream handle), (event, handle))
{
    int64_t enqueued_ns = cu_enqueue_ns();
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_stream(call, handle);
    bool known = stream && cu_object_owner(CU_IS_EVENT, event) == call->context;
    CUresult result = known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    if (known) {
        cu_pending_forget(event);
        event->captured = stream->capture != NULL;
    }
    if (known && event->captured) { /* a point for other streams of the capture, without a time */
        result = stream->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
    } else if (known && !cu_settled(call->context, stream)) {
        bool added = cu_pending_record(call->context, stream, event, enqueued_ns);
        result = added ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    } else if (known) {
        cu_enqueue(call->context, stream, enqueued_ns, 0, NULL, NULL);
        event->time_ns = stream->end_ns;
    }
    pthread_mutex_unlock(&cu_lock);
    return result;
}

static CUresult time_of(cu_call_t *call, CUevent event, int64_t *time_ns)
{
    pthread_mutex_lock(&cu_lock);
    CUresult result = cu_call_about(call, CU_IS_EVENT, event);
    *time_ns = result == CUDA_SUCCESS ? event->time_ns : 0;
    if (result == CUDA_SUCCESS && event->captured) {
        result = CUDA_ERROR_CAPTURED_EVENT;
    } else if (result == CUDA_SUCCESS && event->record) {
        result = CUDA_ERROR_NOT_READY;
    }
    pthread_mutex_unlock(&cu_lock);
    return result;
}

CU_IN_CONTEXT(cuEventQuery, (CUevent event), (event))
{
    int64_t time_ns;
    CUresult result = cu_capture_unsafe();
    result = result == CUDA_SUCCESS ? time_of(call, event, &time_ns) : result;
    return result != CUDA_SUCCESS ? result : cu_reached(call, time_ns);
}

CU_IN_CONTEXT(cuEventSynchronize, (CUevent event), (event))
{
    int64_t time_ns;
    CUresult result = time_of(call, event, &time_ns);
    if (result == CUDA_ERROR_NOT_READY) {
        result = cu_settle_event(call, event);
        result = result == CUDA_SUCCESS ? time_of(call, event, &time_ns) : result;
    }
    return result != CUDA_SUCCESS ? result : cu_wait(call, time_ns);
}

CU_IN_CONTEXT(cuEventElapsedTime, (float *milliseconds, CUevent begin, CUevent end),
              (milliseconds, begin, end))
{
    int64_t begin_ns, end_ns;
    CU_NEED(milliseconds)
    CUresult result = time_of(call, begin, &begin_ns);
    result = result == CUDA_SUCCESS ? time_of(call, end, &end_ns) : result;
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (begin_ns == 0 || end_ns == 0 || begin->no_timing || end->no_timing) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (cu_host_ns() < begin_ns || cu_host_ns() < end_ns) {
        return CUDA_ERROR_NOT_READY;
    }
    *milliseconds = (float)((double)(end_ns - begin_ns) / 1e6);
    return CUDA_SUCCESS;
}
