/*
 * The time that simulated work takes. An operation is executed in the thread that enqueues it, and is given a begin and an end on
 * the host's monotonic clock; waiting for it sleeps until that end. The copying itself may take longer than the simulated GPU
 * would: that time is kept apart by thread, so that it delays nothing that is enqueued later.
 */
#include <time.h>

#include "cuda_sim.h"

static _Thread_local int64_t spent_ns;

int64_t cu_host_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t cu_enqueue_ns(void)
{
    return cu_host_ns() - spent_ns;
}

void cu_spent_since(int64_t began_ns)
{
    spent_ns += cu_host_ns() - began_ns;
}

static int64_t later(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

/* The default stream waits for every stream that is not non-blocking, and those wait for it. */
static int64_t stream_end(const cu_context_t *context, const cu_stream_t *stream)
{
    int64_t end_ns = stream->end_ns;
    if (stream != &context->standard) {
        return stream->non_blocking ? end_ns : later(end_ns, context->standard.end_ns);
    }
    for (const cu_object_t *object = context->objects; object; object = object->next) {
        const cu_stream_t *other = (const cu_stream_t *)object;
        if (object->kind == CU_IS_STREAM && !other->non_blocking) {
            end_ns = later(end_ns, other->end_ns);
        }
    }
    return end_ns;
}

/* Between two waits a stream has no gaps: what delays the host there delays no GPU whose work is enqueued. */
int64_t cu_stream_ready(const cu_context_t *context, const cu_stream_t *stream, int64_t enqueued_ns)
{
    int64_t end_ns = stream_end(context, stream);
    return stream->epoch == context->epoch && stream->end_ns != 0 ? end_ns
                                                                   : later(end_ns, enqueued_ns);
}

void cu_enqueue(cu_context_t *context, cu_stream_t *stream, int64_t enqueued_ns, int64_t duration_ns,
                int64_t *engine, int64_t *other_engine)
{
    int64_t begin_ns = cu_stream_ready(context, stream, enqueued_ns);
    begin_ns = later(begin_ns, engine ? *engine : 0);
    begin_ns = later(begin_ns, other_engine ? *other_engine : 0);
    stream->end_ns = begin_ns + duration_ns;
    stream->epoch = context->epoch;
    if (engine) {
        *engine = stream->end_ns;
    }
    if (other_engine) {
        *other_engine = stream->end_ns;
    }
}

int64_t cu_work_end(const cu_context_t *context)
{
    pthread_mutex_lock(&cu_lock);
    int64_t end_ns = context->standard.end_ns;
    for (const cu_object_t *object = context->objects; object; object = object->next) {
        if (object->kind == CU_IS_STREAM) {
            end_ns = later(end_ns, ((const cu_stream_t *)object)->end_ns);
        }
    }
    pthread_mutex_unlock(&cu_lock);
    return end_ns;
}

CUresult cu_reached(cu_call_t *call, int64_t end_ns)
{
    if (cu_host_ns() < end_ns) {
        return CUDA_ERROR_NOT_READY;
    }
    spent_ns = 0;
    pthread_mutex_lock(&cu_lock);
    call->context->epoch++;
    pthread_mutex_unlock(&cu_lock);
    return CUDA_SUCCESS;
}

CUresult cu_wait(cu_call_t *call, int64_t end_ns)
{
    enum { SLICE_NS = 10000000 }; /* how late a lost GPU is seen */
    CUresult result = cu_health(call->table, call->context);
    for (int64_t now; result == CUDA_SUCCESS && (now = cu_host_ns()) < end_ns;) {
        int64_t until = end_ns - now < SLICE_NS ? end_ns : now + SLICE_NS;
        struct timespec time = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
        result = cu_health(call->table, call->context);
    }
    return result != CUDA_SUCCESS ? result : cu_reached(call, end_ns);
}
