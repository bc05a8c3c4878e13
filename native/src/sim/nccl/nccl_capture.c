/* Operations on a stream that is recorded for a graph: the graph has them, and starts a copy of them on each launch. */
#include <stdlib.h>
#include <string.h>

#include "nccl_sim.h"

/* A communicator that has ended stays in memory, so a later launch is an error and not a crash. */
typedef struct {
    ncclComm_t comm;
    nc_batch_t *batch;
} recorded_t;

bool nc_captured(ncclComm_t comm, const nc_batch_t *batch)
{
    for (int i = 0; i < batch->count; i++) {
        if (batch->ops[i].kind < NC_SPLIT && comm->cuda->captures(comm->place.context, batch->ops[i].stream)) {
            return true;
        }
    }
    return false;
}

static CUresult replay(void *work, CUstream stream)
{
    const recorded_t *recorded = work;
    int count = recorded->batch->count;
    nc_batch_t *batch = calloc(1, sizeof *batch);
    nc_op_t *ops = malloc((size_t)count * sizeof *ops);
    if (!batch || !ops || nc_check(recorded->comm, "GraphLaunch") != ncclSuccess) {
        free(batch);
        free(ops);
        return batch && ops ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(ops, recorded->batch->ops, (size_t)count * sizeof *ops);
    for (int i = 0; i < count; i++) {
        ops[i].stream = stream;
    }
    *batch = (nc_batch_t){.count = count, .capacity = count, .ops = ops};
    return nc_batch_start(recorded->comm, batch) == ncclSuccess ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void release(void *work)
{
    recorded_t *recorded = work;
    free(recorded->batch->ops);
    free(recorded->batch);
    free(recorded);
}

/* Real ones permit several streams of one capture; a capture has one stream here. */
ncclResult_t nc_capture(ncclComm_t comm, nc_batch_t *batch)
{
    CUstream stream = batch->ops[0].stream;
    for (int i = 0; i < batch->count; i++) {
        if (batch->ops[i].kind >= NC_SPLIT || batch->ops[i].stream != stream) {
            return nc_fail(ncclInvalidUsage, "Streams given to a communicator within a NCCL group must either all be "
                                             "uncaptured or all captured by the same graph.");
        }
    }
    recorded_t *recorded = malloc(sizeof *recorded);
    if (!recorded) {
        return nc_fail(ncclSystemError, "Failed to malloc %zu bytes", sizeof *recorded);
    }
    *recorded = (recorded_t){comm, batch};
    cuda_work_t work = {replay, release, recorded};
    ncclResult_t result = nc_cuda_result(comm->cuda->record(comm->place.context, stream, &work));
    if (result != ncclSuccess) {
        free(recorded);
    }
    return result;
}
