/* The list of communicators, their state, and their end. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nccl_sim.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static ncclComm_t all;

void nc_comm_publish(ncclComm_t comm)
{
    pthread_mutex_lock(&list_lock);
    comm->next = all;
    comm->live = true;
    all = comm;
    pthread_mutex_unlock(&list_lock);
}

static bool is_live(ncclComm_t comm)
{
    bool found = false;
    pthread_mutex_lock(&list_lock);
    for (ncclComm_t one = all; one && !found; one = one->next) {
        found = one == comm && one->live;
    }
    pthread_mutex_unlock(&list_lock);
    return found;
}

int nc_slot(ncclComm_t comm)
{
    return comm && is_live(comm) ? comm->place.slot : -1;
}

ncclResult_t nc_check(ncclComm_t comm, const char *subject)
{
    NC_NEED(comm, subject, "comm")
    return is_live(comm) ? ncclSuccess : nc_fail(ncclInvalidArgument, "Error: corrupted comm object detected");
}

ncclResult_t nc_check_ready(ncclComm_t comm, const char *subject)
{
    NC_TRY(nc_check(comm, subject));
    ncclResult_t state = nc_state(comm);
    return state == ncclSuccess
               ? ncclSuccess
               : nc_fail(state == ncclInProgress ? ncclInvalidArgument : state,
                         "Attempt to use communicator before the previous operation returned ncclSuccess");
}

ncclResult_t nc_state(ncclComm_t comm)
{
    return __atomic_load_n(&comm->state, __ATOMIC_ACQUIRE);
}

/* The first error stays. */
void nc_set_state(ncclComm_t comm, ncclResult_t state)
{
    pthread_mutex_lock(&comm->lock);
    if (comm->state == ncclSuccess || comm->state == ncclInProgress) {
        __atomic_store_n(&comm->state, state, __ATOMIC_RELEASE);
    }
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
}

bool nc_aborted(ncclComm_t comm)
{
    return __atomic_load_n(&comm->aborted, __ATOMIC_ACQUIRE);
}

void nc_abort(ncclComm_t comm)
{
    pthread_mutex_lock(&comm->lock);
    __atomic_store_n(&comm->aborted, true, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&comm->changed);
    nc_wake(comm);
    pthread_mutex_unlock(&comm->lock);
}

void nc_wake(ncclComm_t comm)
{
    uint64_t one = 1;
    if (comm->wake >= 0 && write(comm->wake, &one, sizeof one) < 0) {
        return; /* full: it wakes anyway */
    }
}

static bool failed(ncclComm_t comm)
{
    return comm->state != ncclSuccess && comm->state != ncclInProgress;
}

void nc_drain(ncclComm_t comm)
{
    pthread_mutex_lock(&comm->lock);
    while ((comm->outstanding > 0 || comm->busy_threads) && !failed(comm) && !nc_aborted(comm)) {
        pthread_cond_wait(&comm->changed, &comm->lock);
    }
    pthread_mutex_unlock(&comm->lock);
}

/* Its start may still run in a thread of its own. */
static void stop_threads(ncclComm_t comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->stopping = true;
    nc_wake(comm);
    while (comm->busy_threads) {
        pthread_cond_wait(&comm->changed, &comm->lock);
    }
    pthread_mutex_unlock(&comm->lock);
    nc_wake(comm);
    if (comm->has_worker) {
        pthread_join(comm->worker, NULL);
    }
}

/* The structure itself stays, for threads that still hold its handle. */
void nc_comm_end(ncclComm_t comm)
{
    stop_threads(comm);
    nc_lobby_close(&comm->lobby);
    nc_close(&comm->next_rank);
    nc_close(&comm->prev_rank);
    for (int i = 0; i < comm->count; i++) {
        nc_close(&comm->sends[i]);
        nc_close(&comm->recvs[i]);
    }
    pthread_mutex_lock(&comm->lock);
    nc_close(&comm->wake); /* its number may belong to another file from here on */
    pthread_mutex_unlock(&comm->lock);
    free(comm->sends);
    free(comm->recvs);
    free(comm->peers);
    free(comm->block);
    free(comm->reductions);
    comm->sends = comm->recvs = NULL;
    comm->peers = NULL;
    comm->block = NULL;
    comm->reductions = NULL;
}

bool nc_retire(ncclComm_t comm)
{
    pthread_mutex_lock(&list_lock);
    bool was = comm->live;
    comm->live = false;
    pthread_mutex_unlock(&list_lock);
    return was;
}

NC_CALL(ncclCommDestroy, nc_slot(comm), (ncclComm_t comm), (comm))
{
    (void)call;
    if (!comm) {
        return ncclSuccess;
    }
    NC_TRY(nc_check(comm, "CommDestroy"));
    nc_drain(comm);
    if (nc_retire(comm)) {
        nc_comm_end(comm);
    }
    return ncclSuccess;
}

/* May come from another thread while one waits in a call with this communicator, or in a stream of its operations. */
NC_CALL(ncclCommAbort, nc_slot(comm), (ncclComm_t comm), (comm))
{
    (void)call;
    if (!comm) {
        return ncclSuccess;
    }
    NC_TRY(nc_check(comm, "CommAbort"));
    nc_abort(comm);
    if (nc_retire(comm)) {
        nc_comm_end(comm);
    }
    return ncclSuccess;
}

NC_CALL(ncclCommFinalize, nc_slot(comm), (ncclComm_t comm), (comm))
{
    (void)call;
    if (!comm) {
        return ncclSuccess;
    }
    NC_TRY(nc_check_ready(comm, "CommFinalize"));
    if (comm->finalized) {
        return nc_fail(ncclInvalidArgument, "Communicator %p is being finalized.", (void *)comm);
    }
    comm->finalized = true;
    nc_op_t op = {.kind = NC_FINALIZE};
    NC_TRY(nc_enqueue(comm, &op));
    if (comm->blocking) {
        nc_drain(comm);
    }
    return nc_state(comm);
}

NC_CALL(ncclCommGetAsyncError, nc_slot(comm), (ncclComm_t comm, ncclResult_t *error), (comm, error))
{
    (void)call;
    NC_TRY(nc_check(comm, "ncclGetAsyncError"));
    NC_NEED(error, "ncclGetAsyncError", "asyncError")
    *error = nc_state(comm);
    return ncclSuccess;
}

#define GETTER(name, subject, value)                                              \
    NC_CALL(name, nc_slot(comm), (const ncclComm_t comm, int *out), (comm, out))  \
    {                                                                             \
        (void)call;                                                               \
        NC_TRY(nc_check(comm, subject));                                          \
        NC_NEED(out, subject, "out")                                              \
        NC_TRY(nc_check_ready(comm, subject));                                    \
        *out = (value);                                                           \
        return ncclSuccess;                                                       \
    }
GETTER(ncclCommCount, "CommCount", comm->count)
GETTER(ncclCommUserRank, "CommUserRank", comm->rank)
GETTER(ncclCommCuDevice, "CommCuDevice", comm->place.ordinal)
