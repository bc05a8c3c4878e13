/* The exported collectives: their arguments, and their place in the group or the queue. */
#include "nccl_sim.h"

static ncclResult_t check_op(ncclComm_t comm, const char *subject, nc_op_t *op, ncclRedOp_t kind)
{
    op->by = (nc_reduction_t){.type = op->type, .op = ncclSum, .scale = 1, .factor = 1, .divisor = 1};
    if ((int)kind < 0) {
        return nc_fail(ncclInvalidArgument, "%s : invalid reduction operation %d", subject, (int)kind);
    }
    if (kind < ncclAvg) {
        op->by.op = kind;
    } else if (kind == ncclAvg && op->type < ncclFloat16) {
        op->by.divisor = comm->count;
    } else if (kind == ncclAvg) {
        op->by.scaled = true;
        op->by.scale = 1.0 / comm->count;
    } else {
        int place = (int)kind - ncclNumOps;
        if (place >= NC_REDUCTIONS_MAX || !comm->reductions || !comm->reduction_used[place]) {
            return nc_fail(ncclInvalidArgument, "%s : reduction operation %d unknown to this communicator", subject, (int)kind);
        }
        if (comm->reductions[place].type != op->type) {
            return nc_fail(ncclInvalidArgument, "Data type supplied to user-created ncclRedOp_t does not match type "
                                                "given to reduction operation");
        }
        op->by = comm->reductions[place];
    }
    return ncclSuccess;
}

/* A count whose bytes do not fit into the address space is no buffer's. */
static ncclResult_t check_arguments(ncclComm_t comm, const char *subject, const nc_op_t *op)
{
    size_t width = nc_type_bytes(op->type);
    if (op->peer < 0 || op->peer >= comm->count) {
        return op->kind == NC_SEND || op->kind == NC_RECV
                   ? nc_fail(ncclInvalidArgument, "%s : invalid peer %d (peer should be in the 0..%d range)", subject, op->peer, comm->count - 1)
                   : nc_fail(ncclInvalidArgument, "%s : invalid root %d (root should be in the 0..%d range)", subject, op->peer, comm->count);
    }
    if ((int)op->type < 0 || width == 0) {
        return nc_fail(ncclInvalidArgument, "%s : invalid type %d", subject, (int)op->type);
    }
    if (op->count > (size_t)PTRDIFF_MAX / width / (size_t)comm->count) {
        return nc_fail(ncclInvalidArgument, "%s : invalid count %zu", subject, op->count);
    }
    return ncclSuccess;
}

static ncclResult_t issue(ncclComm_t comm, const char *subject, nc_op_t *op, ncclRedOp_t kind)
{
    NC_TRY(nc_group_error(nc_check_ready(comm, subject)));
    NC_TRY(nc_group_error(check_arguments(comm, subject, op)));
    NC_TRY(nc_group_error(check_op(comm, subject, op, kind)));
    if (comm->finalized) {
        return nc_group_error(nc_fail(ncclInvalidArgument, "%s : the communicator is finalized", subject));
    }
    return nc_enqueue(comm, op);
}

NC_CALL(ncclAllReduce, nc_slot(comm),
        (const void *send, void *recv, size_t count, ncclDataType_t type, ncclRedOp_t by, ncclComm_t comm, CUstream stream),
        (send, recv, count, type, by, comm, stream))
{
    (void)call;
    nc_op_t op = {.kind = NC_ALL_REDUCE, .send = send, .recv = recv, .count = count, .type = type, .stream = stream};
    return issue(comm, "AllReduce", &op, by);
}

NC_CALL(ncclReduceScatter, nc_slot(comm),
        (const void *send, void *recv, size_t count, ncclDataType_t type, ncclRedOp_t by, ncclComm_t comm, CUstream stream),
        (send, recv, count, type, by, comm, stream))
{
    (void)call;
    nc_op_t op = {.kind = NC_REDUCE_SCATTER, .send = send, .recv = recv, .count = count, .type = type, .stream = stream};
    return issue(comm, "ReduceScatter", &op, by);
}

NC_CALL(ncclAllGather, nc_slot(comm),
        (const void *send, void *recv, size_t count, ncclDataType_t type, ncclComm_t comm, CUstream stream),
        (send, recv, count, type, comm, stream))
{
    (void)call;
    nc_op_t op = {.kind = NC_ALL_GATHER, .send = send, .recv = recv, .count = count, .type = type, .stream = stream};
    return issue(comm, "AllGather", &op, ncclSum);
}

NC_CALL(ncclReduce, nc_slot(comm),
        (const void *send, void *recv, size_t count, ncclDataType_t type, ncclRedOp_t by, int root, ncclComm_t comm,
         CUstream stream),
        (send, recv, count, type, by, root, comm, stream))
{
    (void)call;
    nc_op_t op = {.kind = NC_REDUCE, .send = send, .recv = recv, .count = count, .type = type, .peer = root, .stream = stream};
    return issue(comm, "Reduce", &op, by);
}

NC_CALL(ncclBroadcast, nc_slot(comm),
        (const void *send, void *recv, size_t count, ncclDataType_t type, int root, ncclComm_t comm, CUstream stream),
        (send, recv, count, type, root, comm, stream))
{
    (void)call;
    nc_op_t op = {.kind = NC_BROADCAST, .send = send, .recv = recv, .count = count, .type = type, .peer = root, .stream = stream};
    return issue(comm, "Broadcast", &op, ncclSum);
}

NC_CALL(ncclBcast, nc_slot(comm), (void *both, size_t count, ncclDataType_t type, int root, ncclComm_t comm, CUstream stream),
        (both, count, type, root, comm, stream))
{
    (void)call;
    nc_op_t op = {.kind = NC_BROADCAST, .send = both, .recv = both, .count = count, .type = type, .peer = root, .stream = stream};
    return issue(comm, "Broadcast", &op, ncclSum);
}

NC_CALL(ncclSend, nc_slot(comm), (const void *send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, CUstream stream),
        (send, count, type, peer, comm, stream))
{
    (void)call;
    nc_op_t op = {.kind = NC_SEND, .send = send, .count = count, .type = type, .peer = peer, .stream = stream};
    return issue(comm, "Send", &op, ncclSum);
}

NC_CALL(ncclRecv, nc_slot(comm), (void *recv, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, CUstream stream),
        (recv, count, type, peer, comm, stream))
{
    (void)call;
    nc_op_t op = {.kind = NC_RECV, .recv = recv, .count = count, .type = type, .peer = peer, .stream = stream};
    return issue(comm, "Recv", &op, ncclSum);
}
