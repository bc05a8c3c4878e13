/* The durations of collectives on the simulated links. */
#include <time.h>

#include "nccl_sim.h"

/*
 * The fixed part of each operation, and the part of each step along the ring. Chosen, not measured; public outputs of nccl-tests on
 * eight GPUs with NVSwitch show 20 to 40 µs for small sizes.
 */
enum { BASE_NS = 8000, STEP_NS = 2000 };

/* To other nodes: 400 Gb/s, less what TCP or InfiniBand leave of it. */
enum { NETWORK_MBPS = 48000 };

int64_t nc_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The GPU's own rate, if the table has one, holds for every path. */
int64_t nc_rate(ncclComm_t comm, int to)
{
    const sim_gpu_t *gpu = nc_gpu(comm);
    const nc_peer_t *own = &comm->peers[comm->rank], *other = &comm->peers[to];
    if (own->host != other->host) {
        return gpu->nccl_network_mbps != SIM_NA ? gpu->nccl_network_mbps : NETWORK_MBPS;
    }
    return gpu->nccl_mbps != SIM_NA && to != comm->rank ? gpu->nccl_mbps
                                                        : comm->cuda->rate(comm->place.context, other->slot);
}

/*
 * Bytes that each GPU sends over the slowest path, as the bus bandwidth of nccl-tests counts them: 2(n-1)/n of the data for
 * AllReduce, (n-1)/n of all for AllGather and ReduceScatter, the data for the others. One rank copies within its memory.
 */
static double sent_bytes(const struct ncclComm *comm, const nc_op_t *op)
{
    double bytes = (double)op->count * (double)nc_type_bytes(op->type), n = comm->count;
    if (comm->count == 1) {
        return op->send == op->recv ? 0 : bytes;
    }
    switch (op->kind) {
    case NC_ALL_REDUCE: return bytes * 2 * (n - 1) / n;
    case NC_ALL_GATHER:
    case NC_REDUCE_SCATTER: return bytes * (n - 1);
    default: return bytes;
    }
}

int64_t nc_duration_ns(ncclComm_t comm, const nc_op_t *op, int64_t mbps)
{
    return BASE_NS + (comm->count - 1) * STEP_NS
           + (int64_t)(sent_bytes(comm, op) * 1000 / (double)(mbps > 0 ? mbps : 1));
}

int64_t nc_point_ns(double busy_ns)
{
    return BASE_NS + STEP_NS + (int64_t)busy_ns;
}
