/*
 * The state of the simulated libnccl, and the form of an exported call. A communicator belongs to one GPU and has one thread, its
 * worker, which carries out operations in order; `lock` of the communicator guards its queue and its state.
 */
#ifndef GPUWARDEN_NCCL_SIM_H
#define GPUWARDEN_NCCL_SIM_H

#include <pthread.h>
#include <stdbool.h>

#include "cuda_shared.h"
#include "nccl_mirror.h"
#include "nccl_wire.h"
#include "sim_functions.h"
#include "sim_state.h"

#define SIM_EXPORT __attribute__((visibility("default")))
#define SIM_UNWRAP(...) __VA_ARGS__

/* The version where the table has none: 2.21.5. */
/* The first version with windows and with CTA policies; the size of its configuration, and where that has the policy. */
enum { NC_WINDOWS = 22700, NC_CONFIG_BYTES = 72, NC_CONFIG_POLICY = 60, NC_POLICY_MAX = 2 };

enum { NC_VERSION = 22105, NC_RANKS_MAX = 1024, NC_REDUCTIONS_MAX = 64, NC_BLOCK = 256 << 10 };
int nc_version(void);

/* ---- reductions (nccl_reduce.c) ---- */

/* An operator with its type: out = incoming OP scale * own; the average of integers is divided at the end. */
typedef struct {
    ncclDataType_t type;
    ncclRedOp_t op; /* sum, prod, max or min */
    bool scaled;
    double scale;       /* of floating point */
    int64_t factor;     /* of integers */
    int64_t divisor;    /* 1: none */
    const void *scalar; /* in device memory, read when the operation runs; NULL: none */
} nc_reduction_t;

size_t nc_type_bytes(ncclDataType_t type); /* 0: no such type in this version */
void nc_reduce(const nc_reduction_t *by, void *out, const void *incoming, const void *own, size_t count);
void nc_scale(const nc_reduction_t *by, void *out, const void *in, size_t count);
void nc_divide(const nc_reduction_t *by, void *out, size_t count);
void nc_read_scalar(nc_reduction_t *by, const void *scalar);

/* ---- operations ---- */

typedef enum {
    NC_ALL_REDUCE,
    NC_ALL_GATHER,
    NC_REDUCE_SCATTER,
    NC_BROADCAST,
    NC_REDUCE,
    NC_SEND,
    NC_RECV,
    NC_SPLIT,
    NC_FINALIZE
} nc_kind_t;

typedef struct {
    nc_kind_t kind;
    const char *send;
    char *recv;
    size_t count; /* of elements, as the caller gave it */
    ncclDataType_t type;
    nc_reduction_t by;
    int peer; /* root, or the other side */
    CUstream stream;
    cuda_operation_t operation; /* NULL: an earlier Send or Recv of the group has it for their stream */
    int64_t ready_ns;
    int color, key; /* of a split */
    ncclComm_t child;
} nc_op_t;

/* Operations of one group for one communicator. */
typedef struct nc_batch {
    struct nc_batch *next;
    int count, capacity;
    nc_op_t *ops;
} nc_batch_t;

/* ---- communicators ---- */

struct ncclComm {
    ncclComm_t next; /* every communicator that ever was: a stale handle is an error and not a crash */
    bool live;
    bool blocking;
    bool finalized;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int rank, count;
    uint64_t magic; /* of its connections */
    cuda_place_t place;
    sim_table_t *table;
    const cuda_shared_t *cuda;
    ncclResult_t state; /* what ncclCommGetAsyncError reports */
    bool aborted;
    int wake; /* eventfd: new work, or the abort */
    nc_peer_t *peers;
    nc_lobby_t lobby;
    int next_rank, prev_rank; /* sockets of the ring; -1: none */
    bool next_left, prev_left; /* that rank has ended in order */
    int *sends, *recvs;       /* sockets to and from each rank, for Send and Recv; -1: none */
    char *block;              /* for what was received and is not reduced yet */
    uint64_t sequence;        /* of its collectives */
    int splits;
    nc_batch_t *queue;
    int outstanding; /* batches that are not finished */
    bool busy_threads; /* its initialisation runs */
    bool has_worker, stopping;
    pthread_t worker;
    nc_reduction_t *reductions; /* of ncclRedOpCreatePreMulSum; NULL: none yet */
    bool reduction_used[NC_REDUCTIONS_MAX];
};

static inline sim_gpu_t *nc_gpu(ncclComm_t comm)
{
    return &comm->table->gpu[comm->place.slot];
}

/* ---- calls (nccl_gate.c) ---- */

typedef struct {
    sim_table_t *table;
    int function, slot;
} nc_call_t;

/* Applies planned faults. */
ncclResult_t nc_enter(nc_call_t *call, int function, int slot);
ncclResult_t nc_leave(const nc_call_t *call, ncclResult_t result);
/* Keeps the text that ncclGetLastError returns, and returns the result. */
ncclResult_t nc_fail(ncclResult_t result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The slot of a communicator, or -1. */
int nc_slot(ncclComm_t comm);

/* Real ones are weak beside a strong name with "p", so that a profiler can stand between. */
#define NC_CALL(name, slot, parameters, arguments)                                             \
    static ncclResult_t body_##name(nc_call_t *call, SIM_UNWRAP parameters);                   \
    SIM_EXPORT ncclResult_t name parameters;                                                   \
    SIM_EXPORT ncclResult_t p##name parameters __attribute__((alias(#name)));                  \
    ncclResult_t name parameters                                                               \
    {                                                                                          \
        nc_call_t call;                                                                        \
        ncclResult_t result = nc_enter(&call, FN_##name, slot);                                \
        if (result == ncclSuccess) {                                                           \
            result = body_##name(&call, SIM_UNWRAP arguments);                                 \
        }                                                                                      \
        return nc_leave(&call, result);                                                        \
    }                                                                                          \
    static ncclResult_t body_##name(nc_call_t *call, SIM_UNWRAP parameters)

#define NC_NEED(condition, subject, argument)                                                  \
    if (!(condition)) {                                                                        \
        return nc_fail(ncclInvalidArgument, "%s : %s argument is NULL", subject, argument);    \
    }

#define NC_TRY(call)                     \
    do {                                 \
        ncclResult_t tried_ = (call);    \
        if (tried_ != ncclSuccess) {     \
            return tried_;               \
        }                                \
    } while (0)

/* ---- the driver (nccl_cuda.c) ---- */

/* Opens libcuda on first use. 1 without a driver. */
ncclResult_t nc_cuda(const cuda_shared_t **cuda);
/* The device of this thread for -1, else the visible device of that number. */
ncclResult_t nc_place(int ordinal, cuda_place_t *place);
/* The text of a failed call of the driver, as NCCL has it; returns 1, or 0 for success. */
ncclResult_t nc_cuda_result(CUresult result);

/* ---- start of a communicator (nccl_root.c, nccl_init.c) ---- */

/* A communicator without connections, in the list; NULL without memory. */
ncclComm_t nc_comm_new(int rank, int count, const cuda_place_t *place, const ncclConfig_t *config);
/* Meets the other ranks at the root, and starts the worker. */
ncclResult_t nc_comm_meet(ncclComm_t comm, const ncclUniqueId *id);
/* Connects the ring and starts the worker, after `peers` is complete. */
ncclResult_t nc_comm_connect(ncclComm_t comm);
/* Describes this rank to the others, and opens its listening socket. */
ncclResult_t nc_comm_describe(ncclComm_t comm, nc_peer_t *peer);
ncclResult_t nc_check_config(const ncclConfig_t *config);

/* ---- life of a communicator (nccl_comm.c) ---- */

/* Puts it into the list of handles. */
void nc_comm_publish(ncclComm_t comm);
/* 4 for a handle that is none. */
ncclResult_t nc_check(ncclComm_t comm, const char *subject);
/* Also the error of one that has failed, and 4 for one whose call is in progress. */
ncclResult_t nc_check_ready(ncclComm_t comm, const char *subject);
void nc_set_state(ncclComm_t comm, ncclResult_t state);
ncclResult_t nc_state(ncclComm_t comm);
bool nc_aborted(ncclComm_t comm);
void nc_abort(ncclComm_t comm);
/* With `lock` held where another thread may end the communicator. */
void nc_wake(ncclComm_t comm);
/* Takes the handle out of use; false if another thread has done so. */
bool nc_retire(ncclComm_t comm);
/* Waits until every batch is finished, or the communicator has failed or was aborted. */
void nc_drain(ncclComm_t comm);
/* Ends the worker, closes everything and retires the handle. */
void nc_comm_end(ncclComm_t comm);

/* ---- groups (nccl_group.c) ---- */

typedef struct {
    ncclComm_t comm;
    ncclUniqueId id;
    ncclComm_t *out; /* receives the handle of one that succeeded */
} nc_start_t;

/* Returns when all have started, or one has failed (nccl_job.c). */
ncclResult_t nc_start_and_wait(const nc_start_t *starts, int count);
/* No thread starts it any more. */
void nc_start_over(ncclComm_t comm);
/* Returns 7; the communicator's state has the rest. */
ncclResult_t nc_start_alone(const nc_start_t *start);

bool nc_grouped(void);
/* Starts now, or at the end of the group. The handle exists before, so another thread can abort a start that waits. */
ncclResult_t nc_start(const nc_start_t *start);
ncclResult_t nc_enqueue(ncclComm_t comm, const nc_op_t *op);
/* Keeps the error of a call in a group for the group's end. */
ncclResult_t nc_group_error(ncclResult_t result);
/* Enqueues the operations on their streams, and gives the batch to the worker, or frees it after a failure. */
ncclResult_t nc_batch_start(ncclComm_t comm, nc_batch_t *batch);
ncclResult_t nc_group_begin(void);
ncclResult_t nc_group_end(void);

/* ---- graphs (nccl_capture.c) ---- */

/* True if a stream of the batch is recorded for a graph. */
bool nc_captured(ncclComm_t comm, const nc_batch_t *batch);
/* Records the batch, which the graph then owns: each launch starts a copy of it. */
ncclResult_t nc_capture(ncclComm_t comm, nc_batch_t *batch);

/* ---- the worker (nccl_worker.c and what it calls) ---- */

bool nc_worker_start(ncclComm_t comm);
/* Nothing is wrong with the driver, this GPU and the abort flag. */
ncclResult_t nc_alive(ncclComm_t comm);
/* Waits for one of the sockets (fd -1: none) or for the wake-up. Returns early, so callers loop; fails as nc_alive does. */
ncclResult_t nc_wait(ncclComm_t comm, struct pollfd *sockets, int count);
/* An error if a neighbour in the ring has gone without a farewell. */
ncclResult_t nc_watch_ring(ncclComm_t comm);
ncclResult_t nc_collective(ncclComm_t comm, nc_op_t *op);
ncclResult_t nc_point_to_point(ncclComm_t comm, nc_op_t *ops, int count);
ncclResult_t nc_split(ncclComm_t comm, nc_op_t *op);
/* Waits for the operation's turn in its stream. */
ncclResult_t nc_turn(ncclComm_t comm, nc_op_t *op);
/* Fails the context if the buffer is not memory of this GPU. */
ncclResult_t nc_check_memory(ncclComm_t comm, const void *address, size_t bytes);
/* Changes elements of a result if the table requires it. */
void nc_spoil(ncclComm_t comm, char *result, size_t count, size_t width);

/* Exchanges one frame each with the neighbours of the ring; see nccl_ring.c. */
typedef struct {
    const char *send;
    size_t send_bytes;
    char *recv;
    size_t recv_bytes;
    bool forward;             /* what was received and reduced is what is sent */
    const nc_reduction_t *by; /* NULL: no reduction */
    const char *own;
} nc_transfer_t;
ncclResult_t nc_exchange(ncclComm_t comm, const nc_transfer_t *transfer);
/* Gives each rank the same number of bytes of every rank; `entries[rank]` is filled before. */
ncclResult_t nc_all_gather(ncclComm_t comm, char *entries, size_t bytes);

/* ---- time (nccl_time.c) ---- */

int64_t nc_now_ns(void);
/* MB/s from this GPU to that of another rank. */
int64_t nc_rate(ncclComm_t comm, int to);
int64_t nc_duration_ns(ncclComm_t comm, const nc_op_t *op, int64_t mbps);
int64_t nc_point_ns(double busy_ns);

#endif
