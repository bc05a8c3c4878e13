/* Groups: what a thread has called since ncclGroupStart, started together at the end. */
#include <stdlib.h>
#include <string.h>

#include "nccl_sim.h"

typedef struct {
    ncclComm_t comm;
    nc_batch_t *batch;
} part_t;

typedef struct {
    int depth;
    ncclResult_t error; /* of a call in the group */
    nc_start_t *starts;
    int start_count;
    part_t *parts;
    int part_count;
} group_t;
static _Thread_local group_t group;

bool nc_grouped(void)
{
    return group.depth > 0;
}

ncclResult_t nc_group_error(ncclResult_t result)
{
    if (nc_grouped() && group.error == ncclSuccess && result != ncclInProgress) {
        group.error = result;
    }
    return result;
}

static ncclResult_t no_memory(void)
{
    return nc_fail(ncclSystemError, "Failed to malloc");
}

ncclResult_t nc_start(const nc_start_t *start)
{
    bool alone = !nc_grouped();
    if (alone) {
        NC_TRY(nc_group_begin());
    }
    nc_start_t *larger = realloc(group.starts, (size_t)(group.start_count + 1) * sizeof *larger);
    if (larger) {
        group.starts = larger;
        larger[group.start_count++] = *start;
        start->comm->state = ncclInProgress;
        start->comm->busy_threads = true;
        nc_comm_publish(start->comm);
        *start->out = start->comm;
    } else {
        nc_comm_end(start->comm);
    }
    ncclResult_t result = larger ? ncclSuccess : nc_group_error(no_memory());
    if (alone) {
        ncclResult_t ended = nc_group_end();
        result = result == ncclSuccess ? ended : result;
    }
    return result;
}

static nc_batch_t *batch_of(ncclComm_t comm)
{
    for (int i = 0; i < group.part_count; i++) {
        if (group.parts[i].comm == comm) {
            return group.parts[i].batch;
        }
    }
    part_t *larger = realloc(group.parts, (size_t)(group.part_count + 1) * sizeof *larger);
    nc_batch_t *batch = larger ? calloc(1, sizeof *batch) : NULL;
    group.parts = larger ? larger : group.parts;
    if (batch) {
        larger[group.part_count++] = (part_t){comm, batch};
    }
    return batch;
}

static ncclResult_t add(ncclComm_t comm, const nc_op_t *op)
{
    nc_batch_t *batch = batch_of(comm);
    if (batch && batch->count == batch->capacity) {
        int capacity = batch->capacity > 0 ? 2 * batch->capacity : 1;
        nc_op_t *larger = realloc(batch->ops, (size_t)capacity * sizeof *larger);
        batch->ops = larger ? larger : batch->ops;
        batch->capacity = larger ? capacity : batch->capacity;
    }
    if (!batch || batch->count == batch->capacity) {
        return no_memory();
    }
    batch->ops[batch->count++] = *op;
    return ncclSuccess;
}

ncclResult_t nc_enqueue(ncclComm_t comm, const nc_op_t *op)
{
    bool alone = !nc_grouped();
    if (alone) {
        NC_TRY(nc_group_begin());
    }
    ncclResult_t result = nc_group_error(add(comm, op));
    if (alone) {
        ncclResult_t ended = nc_group_end();
        result = result == ncclSuccess ? ended : result;
    }
    return result;
}

/* ---- starts ---------------------------------------------------------------------------------- */

static ncclResult_t start_all(void)
{
    ncclResult_t result = group.error;
    int begun = 0;
    bool blocking = group.start_count > 0 && group.starts[0].comm->blocking;
    for (int i = 0; i < group.start_count; i++) {
        ncclComm_t comm = group.starts[i].comm;
        if (comm->blocking != blocking) {
            result = nc_fail(ncclInvalidArgument,
                             "Blocking and nonblocking communicators are not allowed in the same group.");
        }
    }
    if (result == ncclSuccess && blocking) {
        result = nc_start_and_wait(group.starts, group.start_count);
        begun = group.start_count;
    }
    while (!blocking && begun < group.start_count && (result == ncclSuccess || result == ncclInProgress)) {
        result = nc_start_alone(&group.starts[begun++]);
    }
    for (; begun < group.start_count; begun++) {
        nc_start_over(group.starts[begun].comm);
    }
    return result;
}

/* Another thread may have aborted it already. */
static void cancel(const nc_start_t *start)
{
    *start->out = NULL;
    if (nc_retire(start->comm)) {
        nc_abort(start->comm);
        nc_comm_end(start->comm);
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

static bool is_point(const nc_op_t *op)
{
    return op->kind == NC_SEND || op->kind == NC_RECV;
}

/* Send and Recv of a group progress together, after its collectives. */
static void points_last(nc_batch_t *batch)
{
    int first = batch->count; /* from here on all are points */
    for (int i = batch->count - 1; i >= 0; i--) {
        nc_op_t moved = batch->ops[i];
        if (is_point(&moved)) {
            first--;
            memmove(&batch->ops[i], &batch->ops[i + 1], (size_t)(first - i) * sizeof moved);
            batch->ops[first] = moved;
        }
    }
}

/* Those of one stream are one operation of it, which the first of them has. */
static bool shares_operation(const nc_batch_t *batch, int i)
{
    for (int j = 0; j < i && is_point(&batch->ops[i]); j++) {
        if (is_point(&batch->ops[j]) && batch->ops[j].stream == batch->ops[i].stream) {
            return true;
        }
    }
    return false;
}

static ncclResult_t enqueue_on_streams(ncclComm_t comm, nc_batch_t *batch)
{
    points_last(batch);
    for (int i = 0; i < batch->count; i++) {
        nc_op_t *op = &batch->ops[i];
        if (batch->ops[i].kind < NC_SPLIT && !shares_operation(batch, i)) {
            NC_TRY(nc_cuda_result(comm->cuda->enqueue(comm->place.context, op->stream, &op->operation)));
        }
    }
    return ncclSuccess;
}

static void drop(ncclComm_t comm, nc_batch_t *batch)
{
    for (int i = 0; i < batch->count; i++) {
        if (batch->ops[i].operation) {
            comm->cuda->finish(batch->ops[i].operation, 0);
        }
    }
    free(batch->ops);
    free(batch);
}

static ncclResult_t hand_over(ncclComm_t comm, nc_batch_t *batch)
{
    pthread_mutex_lock(&comm->lock);
    bool accepted = !comm->stopping;
    nc_batch_t **at = &comm->queue;
    while (*at) {
        at = &(*at)->next;
    }
    if (accepted) {
        *at = batch;
        comm->outstanding++;
        nc_wake(comm);
    }
    pthread_mutex_unlock(&comm->lock);
    if (!accepted) { /* another thread has ended it since it was checked */
        drop(comm, batch);
        return nc_fail(ncclInvalidArgument, "Error: corrupted comm object detected");
    }
    return ncclSuccess;
}

ncclResult_t nc_batch_start(ncclComm_t comm, nc_batch_t *batch)
{
    ncclResult_t result = enqueue_on_streams(comm, batch);
    if (result != ncclSuccess) {
        drop(comm, batch);
        return result;
    }
    return hand_over(comm, batch);
}

static ncclResult_t launch(part_t *part)
{
    ncclComm_t comm = part->comm;
    nc_batch_t *batch = part->batch;
    /* Goes to the worker in place of a recorded batch, and only ends the call. */
    nc_batch_t *nothing = NULL;
    ncclResult_t result = group.error;
    if (result == ncclSuccess && nc_captured(comm, batch)) {
        nothing = calloc(1, sizeof *nothing);
        result = nothing ? nc_capture(comm, batch) : no_memory();
        batch = result == ncclSuccess ? nothing : batch;
    }
    if (result != ncclSuccess) {
        drop(comm, batch);
        free(nothing);
        return result;
    }
    if (!comm->blocking) {
        nc_set_state(comm, ncclInProgress);
    }
    result = nc_batch_start(comm, batch);
    return result != ncclSuccess || comm->blocking ? result : ncclInProgress;
}

ncclResult_t nc_group_begin(void)
{
    group.depth++;
    return ncclSuccess;
}

/* A split is done when its children exist. */
static bool has_split(const nc_batch_t *batch)
{
    return batch->ops[0].kind == NC_SPLIT;
}

ncclResult_t nc_group_end(void)
{
    if (group.depth == 0) {
        return nc_fail(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
    }
    if (--group.depth > 0) {
        return ncclSuccess;
    }
    group_t ended = group;
    ncclResult_t result = group.error != ncclSuccess ? group.error : ncclSuccess;
    result = ended.start_count > 0 ? start_all() : result;
    for (int i = 0; i < ended.start_count && result != ncclSuccess && result != ncclInProgress; i++) {
        cancel(&ended.starts[i]);
    }
    for (int i = 0; i < ended.part_count; i++) {
        bool split = ended.parts[i].batch->count > 0 && has_split(ended.parts[i].batch);
        ncclResult_t launched = launch(&ended.parts[i]);
        result = result == ncclSuccess ? launched : result;
        ended.parts[i].batch = split ? ended.parts[i].batch : NULL;
    }
    for (int i = 0; i < ended.part_count; i++) {
        if (ended.parts[i].batch && ended.parts[i].comm->blocking) {
            nc_drain(ended.parts[i].comm);
            ncclResult_t state = nc_state(ended.parts[i].comm);
            result = result == ncclSuccess ? state : result;
        }
    }
    free(ended.starts);
    free(ended.parts);
    group = (group_t){0};
    return result;
}

SIM_EXPORT ncclResult_t ncclGroupStart(void);
SIM_EXPORT ncclResult_t pncclGroupStart(void) __attribute__((alias("ncclGroupStart")));
ncclResult_t ncclGroupStart(void)
{
    nc_call_t call;
    ncclResult_t result = nc_enter(&call, FN_ncclGroupStart, -1);
    return nc_leave(&call, result == ncclSuccess ? nc_group_begin() : result);
}

SIM_EXPORT ncclResult_t ncclGroupEnd(void);
SIM_EXPORT ncclResult_t pncclGroupEnd(void) __attribute__((alias("ncclGroupEnd")));
ncclResult_t ncclGroupEnd(void)
{
    nc_call_t call;
    ncclResult_t planned = nc_enter(&call, FN_ncclGroupEnd, -1);
    nc_group_error(planned);
    ncclResult_t ended = nc_group_end();
    return nc_leave(&call, planned != ncclSuccess ? planned : ended);
}
