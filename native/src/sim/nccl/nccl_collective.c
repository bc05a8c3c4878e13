/* Collectives on the ring. Reduction has a fixed order, that of the ring, so equal inputs give equal bits. */
#include <stdlib.h>
#include <string.h>

#include "nccl_sim.h"

/* Ranks exchange these before the data: all must do the same, and begin when the last one is ready. */
typedef struct {
    int64_t kind, type, op, root, count;
    int64_t ready_ns, mbps;
} meeting_t;

typedef struct {
    int64_t begin_ns, mbps;
} plan_t;

static ncclResult_t mismatch(const nc_op_t *op, const meeting_t *other, int rank)
{
    return nc_fail(ncclInvalidUsage,
                   "collective of kind %d, type %d, op %d, root %d, %zu elements; rank %d has %d, %d, %d, %d, %lld",
                   (int)op->kind, (int)op->type, (int)op->by.op, op->peer, op->count, rank, (int)other->kind,
                   (int)other->type, (int)other->op, (int)other->root, (long long)other->count);
}

/* The slowest path of the ring is the rate of all. Ranks of another clock are ready when their message arrives. */
static ncclResult_t meet(ncclComm_t comm, const nc_op_t *op, plan_t *plan)
{
    meeting_t *all = calloc((size_t)comm->count, sizeof *all), *own = all + comm->rank;
    if (!all) {
        return nc_fail(ncclSystemError, "Failed to malloc");
    }
    *own = (meeting_t){(int64_t)op->kind, (int64_t)op->type, (int64_t)op->by.op, op->peer, (int64_t)op->count,
                       op->ready_ns, nc_rate(comm, (comm->rank + 1) % comm->count)};
    *plan = (plan_t){own->ready_ns, own->mbps};
    ncclResult_t result = nc_all_gather(comm, (char *)all, sizeof *all);
    for (int i = 0; i < comm->count && result == ncclSuccess; i++) {
        const meeting_t *one = &all[i];
        if (memcmp(one, own, offsetof(meeting_t, ready_ns)) != 0) {
            result = mismatch(op, one, i);
        }
        bool same_clock = comm->peers[i].clock == comm->peers[comm->rank].clock;
        int64_t ready_ns = same_clock ? one->ready_ns : nc_now_ns();
        plan->begin_ns = ready_ns > plan->begin_ns ? ready_ns : plan->begin_ns;
        plan->mbps = one->mbps < plan->mbps ? one->mbps : plan->mbps;
    }
    free(all);
    return result;
}

typedef struct {
    size_t begin, count; /* of elements */
} chunk_t;

/* Chunk c of n, with any integer c. */
static chunk_t chunk_of(const struct ncclComm *comm, size_t count, int c)
{
    size_t n = (size_t)comm->count, at = (size_t)((c % comm->count + comm->count) % comm->count);
    size_t share = count / n, rest = count % n;
    return (chunk_t){at * share + (at < rest ? at : rest), share + (at < rest)};
}

/* After it, this rank has the reduced chunk of the next one, which is what the ring sends on first. */
static ncclResult_t all_reduce(ncclComm_t comm, const nc_op_t *op)
{
    size_t width = nc_type_bytes(op->type);
    int n = comm->count, r = comm->rank;
    for (int step = 0; step < 2 * (n - 1); step++) {
        bool reducing = step < n - 1;
        chunk_t out = chunk_of(comm, op->count, r - step), in = chunk_of(comm, op->count, r - step - 1);
        const char *source = op->recv;
        if (step == 0 && op->by.scaled) {
            nc_scale(&op->by, op->recv + out.begin * width, op->send + out.begin * width, out.count);
        } else if (step == 0) {
            source = op->send;
        }
        nc_transfer_t transfer = {.send = source + out.begin * width, .send_bytes = out.count * width,
                                  .recv = op->recv + in.begin * width, .recv_bytes = in.count * width,
                                  .by = reducing ? &op->by : NULL, .own = op->send + in.begin * width};
        NC_TRY(nc_exchange(comm, &transfer));
    }
    nc_divide(&op->by, op->recv, op->count);
    return ncclSuccess;
}

static ncclResult_t reduce_scatter(ncclComm_t comm, const nc_op_t *op)
{
    size_t bytes = op->count * nc_type_bytes(op->type);
    int n = comm->count, r = comm->rank;
    char *room = malloc(2 * bytes + 1);
    if (!room) {
        return nc_fail(ncclSystemError, "Failed to malloc %zu bytes", 2 * bytes);
    }
    ncclResult_t result = ncclSuccess;
    const char *out = op->send + (size_t)((r - 1 + n) % n) * bytes;
    if (op->by.scaled) {
        nc_scale(&op->by, room + bytes, out, op->count);
        out = room + bytes;
    }
    for (int step = 0; step + 1 < n && result == ncclSuccess; step++) {
        char *in = step == n - 2 ? op->recv : room + (size_t)(step % 2) * bytes;
        nc_transfer_t transfer = {.send = out, .send_bytes = bytes, .recv = in, .recv_bytes = bytes, .by = &op->by,
                                  .own = op->send + (size_t)((r - step - 2 + 2 * n) % n) * bytes};
        result = nc_exchange(comm, &transfer);
        out = in;
    }
    free(room);
    nc_divide(&op->by, op->recv, op->count);
    return result;
}

static ncclResult_t all_gather(ncclComm_t comm, const nc_op_t *op)
{
    size_t bytes = op->count * nc_type_bytes(op->type);
    char *own = op->recv + (size_t)comm->rank * bytes;
    if (own != op->send) {
        memmove(own, op->send, bytes);
    }
    return nc_all_gather(comm, op->recv, bytes);
}

/* From the root along the ring; each rank forwards what has arrived. */
static ncclResult_t broadcast(ncclComm_t comm, const nc_op_t *op)
{
    size_t bytes = op->count * nc_type_bytes(op->type);
    bool root = comm->rank == op->peer, last = (comm->rank + 1) % comm->count == op->peer;
    nc_transfer_t transfer = {.send_bytes = bytes, .recv_bytes = bytes, .forward = !root};
    transfer.send = last ? NULL : root ? op->send : op->recv;
    transfer.recv = root ? NULL : op->recv;
    if (root && op->recv && op->recv != op->send) {
        memmove(op->recv, op->send, bytes);
    }
    return nc_exchange(comm, &transfer);
}

/* Along the ring to the root, from the rank after it. */
static ncclResult_t reduce(ncclComm_t comm, const nc_op_t *op)
{
    size_t bytes = op->count * nc_type_bytes(op->type);
    bool root = comm->rank == op->peer, first = (op->peer + 1) % comm->count == comm->rank;
    char *room = root ? NULL : malloc(bytes + 1);
    if (!root && !room) {
        return nc_fail(ncclSystemError, "Failed to malloc %zu bytes", bytes);
    }
    nc_transfer_t transfer = {.send_bytes = bytes, .recv_bytes = bytes, .forward = !first, .by = &op->by, .own = op->send};
    transfer.send = root ? NULL : room;
    transfer.recv = first ? NULL : root ? op->recv : room;
    if (first) {
        nc_scale(&op->by, room, op->send, op->count);
    }
    ncclResult_t result = nc_exchange(comm, &transfer);
    free(room);
    if (root) {
        nc_divide(&op->by, op->recv, op->count);
    }
    return result;
}

/* One rank: a copy, with its factor if the operator has one. */
static ncclResult_t alone(const nc_op_t *op)
{
    size_t bytes = op->count * nc_type_bytes(op->type);
    if (op->recv != op->send || op->by.scaled) {
        memmove(op->recv, op->send, bytes);
    }
    if (op->by.scaled) {
        nc_scale(&op->by, op->recv, op->recv, op->count);
    }
    return ncclSuccess;
}

static ncclResult_t move(ncclComm_t comm, const nc_op_t *op)
{
    if (comm->count == 1) {
        return alone(op);
    }
    switch (op->kind) {
    case NC_ALL_REDUCE: return all_reduce(comm, op);
    case NC_ALL_GATHER: return all_gather(comm, op);
    case NC_REDUCE_SCATTER: return reduce_scatter(comm, op);
    case NC_BROADCAST: return broadcast(comm, op);
    default: return reduce(comm, op);
    }
}

/* Elements that this rank reads and writes. */
static size_t read_count(const struct ncclComm *comm, const nc_op_t *op)
{
    return op->kind == NC_REDUCE_SCATTER                            ? op->count * (size_t)comm->count
           : op->kind == NC_BROADCAST && comm->rank != op->peer ? 0
                                                                : op->count;
}

static size_t written_count(const struct ncclComm *comm, const nc_op_t *op)
{
    return op->kind == NC_ALL_GATHER                         ? op->count * (size_t)comm->count
           : op->kind == NC_REDUCE && comm->rank != op->peer ? 0
                                                             : op->count;
}

ncclResult_t nc_collective(ncclComm_t comm, nc_op_t *op)
{
    plan_t plan = {0};
    size_t width = nc_type_bytes(op->type), written = written_count(comm, op);
    comm->sequence++;
    NC_TRY(nc_turn(comm, op));
    NC_TRY(nc_check_memory(comm, op->send, read_count(comm, op) * width));
    NC_TRY(nc_check_memory(comm, op->recv, written * width));
    if (op->by.scalar) {
        NC_TRY(nc_check_memory(comm, op->by.scalar, width));
        nc_read_scalar(&op->by, op->by.scalar);
    }
    NC_TRY(meet(comm, op, &plan));
    if (op->count > 0) {
        NC_TRY(move(comm, op));
    }
    nc_spoil(comm, op->recv, written, width);
    comm->cuda->finish(op->operation, plan.begin_ns + nc_duration_ns(comm, op, plan.mbps));
    op->operation = NULL;
    return ncclSuccess;
}
