/*
 * Operations that another library carries out in its own threads, and events recorded behind them. Each context has one list of
 * them in the order of their enqueueing. Everything else of libcuda is executed when it is enqueued, so it waits for them first.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "cuda_sim.h"

/* Some operation was finished. A wait checks again after SLICE_NS at the latest, and sees a lost GPU then. */
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
enum { SLICE_NS = 10000000 };

/* The default stream waits for the streams that are not non-blocking, and they wait for it. */
static bool related(const cu_context_t *context, const cu_stream_t *one, const cu_stream_t *other)
{
    return one == other || (one == &context->standard && other && !other->non_blocking)
           || (other == &context->standard && one && !one->non_blocking);
}

/* True if no operation before `end` delays this stream. NULL: any stream; NULL: the end of the list. */
static bool settled(const cu_context_t *context, const cu_stream_t *stream, const cu_pending_t *end)
{
    for (const cu_pending_t *one = context->pending; one && one != end; one = one->next) {
        if (one->operation && (!stream || related(context, one->stream, stream))) {
            return false;
        }
    }
    return true;
}

bool cu_settled(const cu_context_t *context, const cu_stream_t *stream)
{
    return settled(context, stream, NULL);
}

static void wait_slice(int64_t nanoseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t end = until.tv_nsec + nanoseconds;
    until.tv_sec += (time_t)(end / 1000000000);
    until.tv_nsec = (long)(end % 1000000000);
    pthread_cond_timedwait(&finished, &cu_lock, &until);
}

CUresult cu_settle(cu_call_t *call, const cu_stream_t *stream)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&cu_lock);
    while (result == CUDA_SUCCESS && !cu_settled(call->context, stream)) {
        wait_slice(SLICE_NS);
        result = cu_health(call->table, call->context);
    }
    pthread_mutex_unlock(&cu_lock);
    return result;
}

CUresult cu_settle_event(cu_call_t *call, const cu_event_t *event)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&cu_lock);
    while (result == CUDA_SUCCESS && event->record) {
        wait_slice(SLICE_NS);
        result = cu_health(call->table, call->context);
    }
    pthread_mutex_unlock(&cu_lock);
    return result;
}

static cu_pending_t *append(cu_context_t *context, cu_stream_t *stream, int64_t enqueued_ns)
{
    cu_pending_t *added = calloc(1, sizeof *added);
    if (!added) {
        return NULL;
    }
    bool busy = false;
    cu_pending_t **at = &context->pending;
    for (; *at; at = &(*at)->next) {
        busy = busy || (*at)->stream == stream;
    }
    bool gapless = stream->epoch == context->epoch && (stream->end_ns != 0 || busy);
    *added = (cu_pending_t){.context = context, .stream = stream, .floor_ns = gapless ? 0 : enqueued_ns};
    stream->epoch = context->epoch;
    *at = added;
    return added;
}

cu_pending_t *cu_pending_begin(cu_context_t *context, cu_stream_t *stream, int64_t enqueued_ns)
{
    cu_pending_t *operation = append(context, stream, enqueued_ns);
    if (operation) {
        operation->operation = true;
    }
    return operation;
}

/* An event that is recorded again counts from its last record. */
bool cu_pending_record(cu_context_t *context, cu_stream_t *stream, cu_event_t *event, int64_t enqueued_ns)
{
    cu_pending_t *record = append(context, stream, enqueued_ns);
    if (record) {
        cu_pending_forget(event);
        record->event = event;
        event->record = record;
        event->time_ns = 0;
    }
    return record != NULL;
}

void cu_pending_forget(cu_event_t *event)
{
    if (event->record) {
        event->record->event = NULL;
        event->record = NULL;
    }
}

bool cu_pending_ready(cu_pending_t *operation, int milliseconds, int64_t *ready_ns)
{
    pthread_mutex_lock(&cu_lock);
    cu_context_t *context = operation->context;
    if (context && operation->stream && !settled(context, operation->stream, operation)) {
        wait_slice((int64_t)milliseconds * 1000000);
        context = operation->context;
    }
    bool ready = !context || !operation->stream || settled(context, operation->stream, operation);
    if (ready && context && !operation->begun) {
        operation->begun = true;
        context->begun++;
    }
    *ready_ns = operation->floor_ns;
    if (ready && context && operation->stream) {
        int64_t end_ns = cu_stream_ready(context, operation->stream, 0);
        *ready_ns = end_ns > *ready_ns ? end_ns : *ready_ns;
    }
    pthread_mutex_unlock(&cu_lock);
    return ready;
}

static void reach(cu_context_t *context, cu_stream_t *stream, int64_t end_ns)
{
    stream->end_ns = end_ns > stream->end_ns ? end_ns : stream->end_ns;
    stream->epoch = context->epoch;
}

/* Events whose operations have all ended receive their time. */
static void reach_events(cu_context_t *context)
{
    for (cu_pending_t **at = &context->pending; *at;) {
        cu_pending_t *one = *at;
        if (one->operation || !settled(context, one->stream, one)) {
            at = &one->next;
            continue;
        }
        int64_t ready_ns = cu_stream_ready(context, one->stream, 0);
        reach(context, one->stream, ready_ns > one->floor_ns ? ready_ns : one->floor_ns);
        if (one->event) {
            one->event->time_ns = one->stream->end_ns;
            one->event->record = NULL;
        }
        *at = one->next;
        free(one);
    }
}

void cu_pending_finish(cu_pending_t *operation, int64_t end_ns)
{
    pthread_mutex_lock(&cu_lock);
    cu_context_t *context = operation->context;
    if (context) {
        context->begun -= operation->begun;
        if (operation->stream) {
            reach(context, operation->stream, end_ns);
        }
        for (cu_pending_t **at = &context->pending; *at; at = &(*at)->next) {
            if (*at == operation) {
                *at = operation->next;
                break;
            }
        }
        reach_events(context);
    }
    free(operation);
    pthread_cond_broadcast(&finished);
    pthread_mutex_unlock(&cu_lock);
}

void cu_pending_end(cu_context_t *context, const cu_stream_t *stream)
{
    for (cu_pending_t **at = &context->pending; *at;) {
        cu_pending_t *one = *at;
        if (stream && one->stream != stream) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        if (one->event) {
            one->event->record = NULL;
            one->event->time_ns = cu_host_ns();
        }
        if (one->operation) { /* its library frees it */
            context->begun -= one->begun && stream == NULL;
            one->begun = one->begun && stream != NULL;
            one->context = stream ? context : NULL;
            one->stream = NULL;
            one->next = NULL;
        } else {
            free(one);
        }
    }
    pthread_cond_broadcast(&finished);
}
