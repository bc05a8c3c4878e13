/* The thread of a communicator: takes batches from its queue, and watches the ring while there are none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nccl_sim.h"

/* A lost GPU or a changed table is seen after this time at the latest. */
enum { SLICE_MS = 20 };

ncclResult_t nc_alive(ncclComm_t comm)
{
    if (nc_aborted(comm)) {
        return ncclInternalError;
    }
    NC_TRY(nc_cuda_result(comm->cuda->health(comm->place.context)));
    int64_t planned = nc_gpu(comm)->nccl_error;
    return planned > 0 && planned < ncclInProgress && comm->has_worker
               ? nc_fail((ncclResult_t)planned, "rank %d : planned error of its communicators", comm->rank)
               : ncclSuccess;
}

ncclResult_t nc_wait(ncclComm_t comm, struct pollfd *sockets, int count)
{
    struct pollfd watched[count + 1];
    watched[0] = (struct pollfd){comm->wake, POLLIN, 0};
    if (count > 0) {
        memcpy(watched + 1, sockets, (size_t)count * sizeof *sockets);
    }
    poll(watched, (nfds_t)count + 1, SLICE_MS);
    uint64_t wakes;
    if (watched[0].revents && read(comm->wake, &wakes, sizeof wakes) < 0 && errno != EAGAIN) {
        return nc_fail(ncclSystemError, "Call to read failed : %s", strerror(errno));
    }
    if (count > 0) {
        memcpy(sockets, watched + 1, (size_t)count * sizeof *sockets);
    }
    return nc_alive(comm);
}

/* Between operations nothing but a farewell is under way, so the end of a connection is that of the rank. */
static ncclResult_t watch(ncclComm_t comm, int socket, bool *left)
{
    nc_frame_t frame;
    struct pollfd one = {socket, POLLRDHUP, 0};
    if (socket < 0 || *left || poll(&one, 1, 0) <= 0) {
        return ncclSuccess;
    }
    ssize_t got = recv(socket, &frame, sizeof frame, MSG_PEEK | MSG_DONTWAIT);
    *left = got == (ssize_t)sizeof frame && frame.magic == comm->magic && frame.kind == NC_FRAME_BYE;
    return *left ? ncclSuccess : nc_fail(ncclRemoteError, "socketProgress: Connection closed by remote peer");
}

ncclResult_t nc_watch_ring(ncclComm_t comm)
{
    NC_TRY(watch(comm, comm->prev_rank, &comm->prev_left));
    return watch(comm, comm->next_rank, &comm->next_left);
}

ncclResult_t nc_turn(ncclComm_t comm, nc_op_t *op)
{
    while (!comm->cuda->ready(op->operation, SLICE_MS, &op->ready_ns)) {
        NC_TRY(nc_alive(comm));
    }
    while (nc_gpu(comm)->nccl_dead > 0) {
        NC_TRY(nc_wait(comm, NULL, 0));
    }
    int64_t delay_us = nc_gpu(comm)->nccl_delay_us;
    op->ready_ns += delay_us > 0 ? delay_us * 1000 : 0;
    return nc_alive(comm);
}

/* A kernel that uses other memory ends its context. */
ncclResult_t nc_check_memory(ncclComm_t comm, const void *address, size_t bytes)
{
    int slot;
    if (bytes == 0 || comm->cuda->owns(comm->place.context, address, bytes, &slot)) {
        return ncclSuccess;
    }
    comm->cuda->fail(comm->place.context, CUDA_ERROR_ILLEGAL_ADDRESS);
    return nc_cuda_result(CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* Changes the most significant byte, so that no tolerance hides it. */
void nc_spoil(ncclComm_t comm, char *result, size_t count, size_t width)
{
    int64_t wrong = nc_gpu(comm)->nccl_wrong;
    for (size_t i = 0; i < count && (int64_t)i < wrong; i++) {
        result[i * width + width - 1] ^= 1;
    }
}

static ncclResult_t run(ncclComm_t comm, nc_batch_t *batch)
{
    for (int i = 0; i < batch->count; i++) {
        nc_op_t *op = &batch->ops[i];
        if (op->kind < NC_SEND) {
            NC_TRY(nc_collective(comm, op));
        } else if (op->kind == NC_SPLIT) {
            NC_TRY(nc_split(comm, op));
        } else if (op->kind != NC_FINALIZE) { /* and so are all from here on */
            return nc_point_to_point(comm, op, batch->count - i);
        }
    }
    return ncclSuccess;
}

/* Operations that failed end now, as the kernels of an aborted communicator do. */
static void end_batch(ncclComm_t comm, nc_batch_t *batch)
{
    for (int i = 0; i < batch->count; i++) {
        if (batch->ops[i].operation) {
            comm->cuda->finish(batch->ops[i].operation, nc_now_ns());
        }
    }
    free(batch->ops);
    free(batch);
    pthread_mutex_lock(&comm->lock);
    comm->outstanding--;
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
}

/* The neighbours see the end of the connections, and end theirs. */
static void fail_ring(ncclComm_t comm, ncclResult_t result)
{
    nc_set_state(comm, result);
    nc_close(&comm->next_rank);
    nc_close(&comm->prev_rank);
    for (int i = 0; i < comm->count; i++) {
        nc_close(&comm->sends[i]);
        nc_close(&comm->recvs[i]);
    }
    nc_lobby_close(&comm->lobby);
}

static nc_batch_t *take(ncclComm_t comm, bool *stopping)
{
    pthread_mutex_lock(&comm->lock);
    nc_batch_t *batch = comm->queue;
    if (batch) {
        comm->queue = batch->next;
    }
    *stopping = comm->stopping;
    pthread_mutex_unlock(&comm->lock);
    return batch;
}

static void say_goodbye(ncclComm_t comm)
{
    nc_frame_t bye = {.magic = comm->magic, .kind = NC_FRAME_BYE};
    int sockets[] = {comm->next_rank, comm->prev_rank};
    for (int i = 0; i < 2; i++) {
        if (sockets[i] >= 0 && send(sockets[i], &bye, sizeof bye, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
            continue; /* it has gone first */
        }
    }
}

static void *work(void *argument)
{
    ncclComm_t comm = argument;
    ncclResult_t result = ncclSuccess;
    for (bool stopping = false;;) {
        nc_batch_t *batch = take(comm, &stopping);
        if (batch && result == ncclSuccess) {
            result = run(comm, batch);
        } else if (!batch && stopping) {
            break;
        } else if (!batch && result == ncclSuccess) {
            struct pollfd ring[2] = {{comm->prev_left ? -1 : comm->prev_rank, POLLRDHUP, 0},
                                     {comm->next_left ? -1 : comm->next_rank, POLLRDHUP, 0}};
            result = nc_wait(comm, ring, 2);
            result = result == ncclSuccess ? nc_watch_ring(comm) : result;
        } else if (!batch) {
            sim_sleep_ms(SLICE_MS);
        }
        if (result != ncclSuccess) {
            fail_ring(comm, result);
        } else if (batch && !comm->blocking) {
            nc_set_state(comm, ncclSuccess);
        }
        if (batch) {
            end_batch(comm, batch);
        }
    }
    if (result == ncclSuccess) {
        say_goodbye(comm);
    }
    return NULL;
}

bool nc_worker_start(ncclComm_t comm)
{
    comm->block = malloc(NC_BLOCK);
    comm->has_worker = comm->block != NULL; /* before it reads this */
    if (comm->has_worker && pthread_create(&comm->worker, NULL, work, comm) != 0) {
        comm->has_worker = false;
    }
    return comm->has_worker;
}
