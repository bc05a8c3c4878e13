/*
 * The state of the simulated libcuda, and the form of an exported call. `cu_lock` guards every list and every time below; no call
 * holds it while it waits or copies.
 */
#ifndef GPUWARDEN_CUDA_SIM_H
#define GPUWARDEN_CUDA_SIM_H

#include <pthread.h>
#include <stdbool.h>

#include "cuda_mirror.h"
#include "host/cuda_kernels.h"
#include "sim_functions.h"
#include "sim_state.h"

#define SIM_EXPORT __attribute__((visibility("default")))
#define SIM_UNWRAP(...) __VA_ARGS__

extern pthread_mutex_t cu_lock;

/* These work side by side in one GPU: copies over PCIe, over NVLink and within its memory, and kernels. */
typedef enum {
    CU_TO_DEVICE,
    CU_TO_HOST,
    CU_FROM_PEER,
    CU_TO_PEER,
    CU_IN_MEMORY,
    CU_KERNELS,
    CU_ENGINES
} cu_engine_t;

/* Clients have handles of these. The list of the context owns them. */
typedef enum { CU_IS_STREAM, CU_IS_EVENT, CU_IS_MODULE, CU_IS_FUNCTION, CU_IS_GRAPH, CU_IS_EXECUTABLE } cu_kind_t;
typedef struct cu_object {
    struct cu_object *next;
    cu_kind_t kind;
} cu_object_t;

typedef struct cu_pending cu_pending_t;
typedef struct cu_nodes cu_nodes_t;

typedef struct cu_stream {
    cu_object_t object;
    int64_t end_ns; /* when its last operation ends, on the host's monotonic clock */
    int64_t epoch;  /* of the context when that was enqueued */
    bool non_blocking;
    cu_nodes_t *capture; /* what is recorded instead of run; NULL: none */
    bool invalid;        /* the capture, after an error */
    CUstreamCaptureMode mode;
    pthread_t thread; /* that began the capture */
} cu_stream_t;

typedef struct cu_event {
    cu_object_t object;
    int64_t time_ns;        /* 0: not recorded */
    cu_pending_t *record;   /* NULL: none behind an operation that still runs */
    bool no_timing;
    bool captured; /* its last record is in a capture */
} cu_event_t;

/* A live allocation; the list is in order of addresses. */
typedef struct cu_block {
    struct cu_block *next;
    uintptr_t address;
    size_t bytes; /* as requested */
} cu_block_t;

/* A visible device and its primary context, which is the only one it can have. */
typedef struct cu_context {
    int ordinal, slot;
    int mig;      /* place in the GPU's `mig`; SIM_ALL: the whole GPU */
    int retained; /* 0: no context */
    int row;      /* of cuda_client; -1: none */
    CUresult poison;
    uintptr_t range; /* reserved addresses of its memory; 0: none */
    size_t range_bytes;
    cu_block_t *blocks;
    cu_object_t *objects;
    cu_stream_t standard; /* the default stream */
    int64_t engine_end_ns[CU_ENGINES];
    int64_t epoch; /* how often the host has seen the end of its work */
    bool peer[SIM_GPU_MAX];
    cu_pending_t *pending; /* in the order of enqueueing */
    int begun;             /* operations of another library that use its memory now */
} cu_context_t;

/* An operation that another library carries out, or an event recorded behind one (cuda_pending.c). */
struct cu_pending {
    cu_pending_t *next;
    cu_context_t *context; /* NULL: it has ended */
    cu_stream_t *stream;   /* NULL: destroyed */
    cu_event_t *event;
    int64_t floor_ns; /* begins no earlier */
    bool operation, begun;
};

typedef struct {
    sim_table_t *table;
    cu_context_t *context; /* of the device argument or the current one; NULL: neither */
    int function;
} cu_call_t;

/* ---- calls (cuda_gate.c) ---- */

typedef enum {
    CU_ALWAYS,  /* works before cuInit */
    CU_DRIVER,  /* needs cuInit */
    CU_CURRENT, /* needs a current context that works */
} cu_need_t;

/* Applies planned faults. Returns the error of a context that no longer works. */
CUresult cu_enter(cu_call_t *call, int function, cu_need_t need, cu_context_t *context);
CUresult cu_leave(cu_call_t *call, CUresult result);
/* Returns what calls on this context return at present; sticky errors remain. */
CUresult cu_health(const sim_table_t *table, cu_context_t *context);
CUresult cu_poison(cu_context_t *context, CUresult result);

#define CU_CALL(name, need, where, parameters, arguments)                         \
    static CUresult body_##name(cu_call_t *call, SIM_UNWRAP parameters);          \
    SIM_EXPORT CUresult name parameters;                                          \
    CUresult name parameters                                                      \
    {                                                                             \
        cu_call_t call;                                                           \
        CUresult result = cu_enter(&call, FN_##name, need, where);                \
        if (result == CUDA_SUCCESS) {                                             \
            result = body_##name(&call, SIM_UNWRAP arguments);                    \
        }                                                                         \
        return cu_leave(&call, result);                                           \
    }                                                                             \
    static CUresult body_##name(cu_call_t *call, SIM_UNWRAP parameters)

/* Without a device; about the device of the parameter `device`; in the current context. */
#define CU_ANYWHERE(name, need, parameters, arguments) CU_CALL(name, need, NULL, parameters, arguments)
#define CU_OF_DEVICE(name, parameters, arguments) \
    CU_CALL(name, CU_DRIVER, cu_device(device), parameters, arguments)
#define CU_IN_CONTEXT(name, parameters, arguments) \
    CU_CALL(name, CU_CURRENT, cu_current(), parameters, arguments)

#define CU_NEED(condition)               \
    if (!(condition)) {                  \
        return CUDA_ERROR_INVALID_VALUE; \
    }

/* ---- devices and contexts (cuda_init.c, cuda_visible.c, cuda_context.c) ---- */

CUresult cuInit(unsigned flags);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes);
CUresult cuMemFree_v2(CUdeviceptr address);

extern int cu_device_count;
extern cu_context_t cu_devices[SIM_GPU_MAX];
bool cu_initialised(void);
bool cu_forked(void); /* this process is the child of one that had called cuInit */
/* Fills cu_devices as CUDA_VISIBLE_DEVICES requires. */
void cu_find_devices(const sim_table_t *table);
cu_context_t *cu_device(CUdevice device); /* NULL: no such device */
cu_context_t *cu_current(void);           /* NULL: none */
bool cu_is_context(const cu_context_t *context);
/* Multiprocessors of the GPU or MIG device; 1 where the table has none. */
unsigned cu_multiprocessors(const cu_call_t *call);

static inline sim_gpu_t *cu_gpu(const cu_call_t *call)
{
    return &call->table->gpu[call->context->slot];
}

/* ---- the account (cuda_account.c) ---- */

/* Takes a row for the context; 46 if the compute mode forbids it, 2 without enough memory. */
CUresult cu_account_open(sim_table_t *table, cu_context_t *context, int64_t bytes);
/* Adds bytes, or returns them if negative. */
CUresult cu_account_change(sim_table_t *table, const cu_context_t *context, int64_t bytes);
void cu_account_close(sim_table_t *table, cu_context_t *context);
/* After fork: the child must not hold the parent's locks. */
void cu_account_forget(void);

/* ---- this process in the node's proc folder (cuda_process.c); with the account's lock held ---- */

/* The node is that of the table with this descriptor. Does nothing on a node without a proc folder. */
void cu_process_show(int table_fd);
void cu_process_hide(void);
/* Removes what a process that was killed has left. */
void cu_process_gone(int table_fd, int64_t dead);
/* After fork: the child is not shown. */
void cu_process_forget(void);

/* ---- memory (cuda_memory.c) ---- */

/* Releases all memory and addresses of the context. */
void cu_memory_end(cu_context_t *context);
/* Returns the context with a live allocation around these bytes, or NULL. */
cu_context_t *cu_memory_owner(CUdeviceptr address, size_t bytes);
/* True if the bytes are in a live allocation of pinned memory of the host (cuda_host.c). */
bool cu_host_owns(const void *address, size_t bytes);

/* ---- handles (cuda_object.c); with cu_lock held ---- */

void *cu_object_add(cu_context_t *context, cu_kind_t kind, size_t bytes);
bool cu_object_remove(cu_context_t *context, cu_kind_t kind, const void *handle);
/* Returns the context of the handle, or NULL for one that is none. */
cu_context_t *cu_object_owner(cu_kind_t kind, const void *handle);
/* The call is about this handle's context from here on; returns what cu_health does. */
CUresult cu_call_about(cu_call_t *call, cu_kind_t kind, const void *handle);
void cu_object_end(cu_context_t *context);
/* Returns the stream of a handle; the default stream for its three handles; NULL for one of another context. */
cu_stream_t *cu_stream(cu_call_t *call, CUstream handle);

/* ---- operations of another library (cuda_pending.c) ---- */

/* Waits until no such operation delays the stream; NULL: any stream of the context. Without cu_lock. */
CUresult cu_settle(cu_call_t *call, const cu_stream_t *stream);
/* Waits until the last record of the event has its time. Without cu_lock. */
CUresult cu_settle_event(cu_call_t *call, const cu_event_t *event);
/* The next five with cu_lock held. */
bool cu_settled(const cu_context_t *context, const cu_stream_t *stream);
cu_pending_t *cu_pending_begin(cu_context_t *context, cu_stream_t *stream, int64_t enqueued_ns);
bool cu_pending_record(cu_context_t *context, cu_stream_t *stream, cu_event_t *event, int64_t enqueued_ns);
void cu_pending_forget(cu_event_t *event);
/* Takes all operations from a stream, or from the context for NULL, before it ends. */
void cu_pending_end(cu_context_t *context, const cu_stream_t *stream);
/* Returns whether it is the operation's turn, after waiting for that at most so long. Without cu_lock, as the next one. */
bool cu_pending_ready(cu_pending_t *operation, int milliseconds, int64_t *ready_ns);
void cu_pending_finish(cu_pending_t *operation, int64_t end_ns);

/* ---- time (cuda_time.c) ---- */

int64_t cu_host_ns(void);
/* The time at which an operation is enqueued: the host's, without what this thread has spent on simulated work. */
int64_t cu_enqueue_ns(void);
/* Adds the time since `began_ns` to what this thread has spent on simulated work. */
void cu_spent_since(int64_t began_ns);
/* Enqueues an operation on a stream and on up to two engines (NULL: none). With cu_lock held. */
void cu_enqueue(cu_context_t *context, cu_stream_t *stream, int64_t enqueued_ns, int64_t duration_ns,
                int64_t *engine, int64_t *other_engine);
/* Returns when the next operation of a stream may begin. With cu_lock held. */
int64_t cu_stream_ready(const cu_context_t *context, const cu_stream_t *stream, int64_t enqueued_ns);
/* Returns when all work of the context ends. Without cu_lock. */
int64_t cu_work_end(const cu_context_t *context);
/* Returns NOT_READY before that time. */
CUresult cu_reached(cu_call_t *call, int64_t end_ns);
/* Sleeps until the host's clock shows that time. Returns early if the context fails. */
CUresult cu_wait(cu_call_t *call, int64_t end_ns);

/* ---- rates in MB/s (cuda_rate.c) ---- */

int64_t cu_rate_to_device(const sim_gpu_t *gpu);
int64_t cu_rate_to_host(const sim_gpu_t *gpu);
int64_t cu_rate_memory(const sim_gpu_t *gpu);
int64_t cu_rate_peer(const sim_table_t *table, int from, int to);
/* True if NVLinks connect the two. */
bool cu_linked(const sim_table_t *table, int from, int to);
int64_t cu_duration_ns(size_t bytes, int64_t mbps);
/* Returns the time of a kernel: the longest of its accesses to memory and its operations. */
int64_t cu_kernel_ns(const cu_call_t *call, cuda_cost_t cost);

/* ---- wrong results (cuda_wrong.c) ---- */

/* One launch. The first memory that it writes decides. */
typedef struct {
    sim_gpu_t *gpu;
    const char *kernel;
    unsigned blocks, sm_count;
    enum { CU_WRONG_UNDECIDED, CU_WRONG_NO, CU_WRONG_YES } state;
    unsigned block, ranges; /* the block that computes wrong, and what it has written so far */
    uint64_t random;
} cu_wrong_t;
/* The `spoil` of a launch, with a cu_wrong_t. */
void cu_wrong_spoil(void *environment, const cuda_written_t *written);
/* Returns whether a launch must do nothing, or the bits of random words that it must set. Decides for the whole launch. */
bool cu_wrong_nothing(cu_wrong_t *wrong);
uint64_t cu_wrong_stuck(cu_wrong_t *wrong);
/* A copy of this name to memory: does it, unless it must do nothing, and then spoils one place. */
void cu_wrong_copy(sim_gpu_t *gpu, const char *name, void *to, const void *from, size_t bytes);

#endif
