/* A split: the ranks of one colour meet over the ring of their communicator, without a root. */
#include <stdlib.h>
#include <string.h>

#include "nccl_sim.h"

static int compare(const void *one, const void *other)
{
    const nc_peer_t *a = one, *b = other;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : (a->rank > b->rank) - (a->rank < b->rank);
}

/* Keeps the ranks of this colour, in the order of their keys, and numbers them. */
static int choose(nc_peer_t *all, int count, int color, int parent_rank, int *rank)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (all[i].color == color) {
            all[kept++] = all[i];
        }
    }
    qsort(all, (size_t)kept, sizeof *all, compare);
    for (int i = 0; i < kept; i++) {
        *rank = all[i].rank == parent_rank ? i : *rank;
        all[i].rank = i;
    }
    return kept;
}

static ncclResult_t join(ncclComm_t comm, nc_op_t *op, nc_peer_t *all)
{
    ncclComm_t child = op->child;
    nc_peer_t *own = &all[comm->rank];
    int rank = 0;
    if (child) {
        child->magic = (comm->magic ^ (uint64_t)comm->splits << 32 ^ (uint64_t)(unsigned)op->color) * UINT64_C(0x9e3779b97f4a7c15);
        NC_TRY(nc_comm_describe(child, own));
    }
    own->rank = comm->rank;
    own->color = op->color;
    own->key = op->key;
    comm->splits++;
    comm->sequence++;
    NC_TRY(nc_all_gather(comm, (char *)all, sizeof *all));
    if (!child) {
        return ncclSuccess;
    }
    int count = choose(all, comm->count, op->color, comm->rank, &rank);
    child->rank = rank;
    child->count = count;
    memcpy(child->peers, all, (size_t)count * sizeof *all);
    return nc_comm_connect(child);
}

/* A child that cannot start fails alone: its parent goes on. */
ncclResult_t nc_split(ncclComm_t comm, nc_op_t *op)
{
    nc_peer_t *all = calloc((size_t)comm->count, sizeof *all);
    ncclResult_t result = all ? join(comm, op, all) : nc_fail(ncclSystemError, "Failed to malloc");
    free(all);
    if (op->child) {
        nc_set_state(op->child, result);
    }
    return result;
}

NC_CALL(ncclCommSplit, nc_slot(comm), (ncclComm_t comm, int color, int key, ncclComm_t *out, ncclConfig_t *config),
        (comm, color, key, out, config))
{
    (void)call;
    NC_TRY(nc_check_ready(comm, "CommSplit"));
    NC_NEED(out, "CommSplit", "newcomm")
    NC_TRY(nc_check_config(config));
    if (color < NCCL_SPLIT_NOCOLOR) {
        return nc_fail(ncclInvalidArgument, "CommSplit : invalid color %d", color);
    }
    *out = NULL;
    nc_op_t op = {.kind = NC_SPLIT, .color = color, .key = key};
    if (color != NCCL_SPLIT_NOCOLOR) {
        op.child = nc_comm_new(comm->rank, comm->count, &comm->place, config);
        if (!op.child) {
            return nc_fail(ncclSystemError, "Failed to malloc");
        }
        op.child->blocking = config ? config->blocking != 0 : comm->blocking;
        op.child->state = ncclInProgress;
        nc_comm_publish(op.child);
        *out = op.child;
    }
    return nc_enqueue(comm, &op);
}
