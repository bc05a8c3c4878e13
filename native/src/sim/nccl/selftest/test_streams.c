/* Order and time of streams, ranks that do not answer, and communicators that do not block. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nccl_selftest.h"

enum { MEGABYTES = 40, BYTES = MEGABYTES * 1000 * 1000 / 4 };

/* Microseconds of AllReduce of 10 MB as events show it, after a round that lets all ranks begin together. */
static double measure(rank_t *rank, void *memory)
{
    test_t *test = rank->test;
    CUevent events[2];
    float milliseconds = -1;
    for (int i = 0; i < 2; i++) {
        CUDA(cuEventCreate, &events[i], 0);
        EXPECT("AllReduce", 0, NCCL(ncclAllReduce, memory, memory, (size_t)BYTES, ncclInt8, ncclSum, rank->comm, rank->stream));
        EXPECT("recorded", 0, CUDA(cuEventRecord, events[i], rank->stream));
    }
    EXPECT("done", 0, CUDA(cuEventSynchronize, events[1]));
    EXPECT("time", 0, CUDA(cuEventElapsedTime, &milliseconds, events[0], events[1]));
    return milliseconds * 1000;
}

/* 8 us, 2 us for each of two steps, and 4/3 of the data at the lowest rate. */
static void expect_time(const char *subject, double mbps, double seen)
{
    double expected = 12 + 4.0 / 3 * BYTES / mbps;
    EXPECT(subject, 1, seen > expected * 0.999 && seen < expected * 1.001);
}

static pthread_barrier_t barrier;

static void times(rank_t *rank)
{
    test_t *test = rank->test;
    sim_gpu_t *gpu = test->table->gpu;
    void *memory = device_memory(test, BYTES, NULL);
#define CHANGE(statement)           \
    pthread_barrier_wait(&barrier); \
    if (rank->rank == 0) {          \
        statement;                  \
    }                               \
    pthread_barrier_wait(&barrier);
    expect_time("as the table has it", 400000, measure(rank, memory));
    CHANGE(gpu[1].nccl_mbps = 20000)
    expect_time("the slowest decides", 20000, measure(rank, memory));
    CHANGE(gpu[0].nccl_mbps = gpu[1].nccl_mbps = gpu[2].nccl_mbps = SIM_NA)
    expect_time("NVLink", 82000, measure(rank, memory));
    CHANGE(gpu[1].link[0].state = 0)
    expect_time("PCIe, without NVLink", 25838, measure(rank, memory)); /* 4.0 x16 */
    CHANGE(gpu[2].nccl_delay_us = 5000)
    EXPECT("a late rank delays all", 1, measure(rank, memory) > 5000);
}

void test_time(test_t *test)
{
    open_libraries(test, 0);
    pthread_barrier_init(&barrier, NULL, 3);
    run_ranks(test, 3, times, NULL);
}

/* The second rank comes late: until then nothing on the first one's stream is done, and afterwards everything is in order. */
static void order(rank_t *rank)
{
    test_t *test = rank->test;
    CUevent event;
    CUstream other;
    int value = 5, seen = 0;
    void *send = device_memory(test, 4, &value), *recv = device_memory(test, 4, NULL), *copy = device_memory(test, 4, NULL);
    CUDA(cuEventCreate, &event, 0);
    CUDA(cuStreamCreate, &other, 1);
    if (rank->rank == 1) {
        usleep(150000);
    }
    double began = seconds();
    EXPECT("first", 0, NCCL(ncclAllReduce, send, recv, (size_t)1, ncclInt32, ncclSum, rank->comm, rank->stream));
    EXPECT("second", 0, NCCL(ncclAllReduce, recv, recv, (size_t)1, ncclInt32, ncclSum, rank->comm, rank->stream));
    EXPECT("recorded", 0, CUDA(cuEventRecord, event, rank->stream));
    if (rank->rank == 0) {
        EXPECT("enqueued without waiting", 1, seconds() - began < 0.1);
        EXPECT("stream", 600, CUDA(cuStreamQuery, rank->stream));
        EXPECT("event", 600, CUDA(cuEventQuery, event));
        EXPECT("time", 600, CUDA(cuEventElapsedTime, &(float){0}, event, event));
        EXPECT("another stream is free", 0, CUDA(cuStreamQuery, other));
    }
    EXPECT("another stream waits for the event", 0, CUDA(cuStreamWaitEvent, other, event, 0));
    EXPECT("copied there", 0, CUDA(cuMemcpyDtoDAsync_v2, copy, recv, (size_t)4, other));
    EXPECT("waited", 0, CUDA(cuStreamSynchronize, other));
    EXPECT("event", 0, CUDA(cuEventQuery, event));
    EXPECT("read", 0, CUDA(cuMemcpyDtoH_v2, &seen, copy, (size_t)4));
    EXPECT("after both", 20, seen);
    /* A copy behind a collective in its stream sees the result. */
    EXPECT("third", 0, NCCL(ncclAllReduce, recv, recv, (size_t)1, ncclInt32, ncclSum, rank->comm, rank->stream));
    EXPECT("read in order", 0, CUDA(cuMemcpyDtoHAsync_v2, &seen, recv, (size_t)4, rank->stream));
    EXPECT("done", 0, CUDA(cuCtxSynchronize));
    EXPECT("after three", 40, seen);
    EXPECT("freed", 0, CUDA(cuMemFree_v2, recv));
    if (rank->rank == 0) {
        EXPECT("fourth", 0, NCCL(ncclAllReduce, send, send, (size_t)1, ncclInt32, ncclSum, rank->comm, rank->stream));
        EXPECT("a stream that is destroyed", 0, CUDA(cuStreamDestroy_v2, rank->stream));
    } else {
        EXPECT("fourth", 0, NCCL(ncclAllReduce, send, send, (size_t)1, ncclInt32, ncclSum, rank->comm, rank->stream));
    }
}

/* Two communicators on one stream: the second one's peer is ready first, and waits for the first one's result. */
static void two_communicators(rank_t *rank)
{
    test_t *test = rank->test;
    ncclComm_t second = NULL;
    CUstream other;
    int value = 5, seen = 0;
    EXPECT("second", 0, NCCL(ncclCommSplit, rank->comm, 0, rank->rank, &second, NULL));
    CUDA(cuStreamCreate, &other, 1);
    void *send = device_memory(test, 4, &value), *recv = device_memory(test, 4, NULL), *sum = device_memory(test, 4, NULL);
    if (rank->rank == 0) {
        NCCL(ncclAllReduce, send, recv, (size_t)1, ncclInt32, ncclSum, rank->comm, rank->stream);
        NCCL(ncclAllReduce, recv, sum, (size_t)1, ncclInt32, ncclSum, second, rank->stream);
    } else {
        NCCL(ncclAllReduce, send, sum, (size_t)1, ncclInt32, ncclSum, second, other);
        usleep(100000);
        EXPECT("waits", 600, CUDA(cuStreamQuery, other));
        NCCL(ncclAllReduce, send, recv, (size_t)1, ncclInt32, ncclSum, rank->comm, rank->stream);
    }
    EXPECT("done", 0, CUDA(cuCtxSynchronize));
    read_back(rank, &seen, sum, 4);
    EXPECT("5 and the first result", 15, seen);
    EXPECT("destroyed", 0, NCCL(ncclCommDestroy, second));
}

void test_order(test_t *test)
{
    open_libraries(test, 0);
    run_ranks(test, 2, order, NULL);
    run_ranks(test, 2, two_communicators, NULL);
}

typedef struct {
    test_t *test;
    ncclComm_t comm;
} abort_t;

static void *abort_later(void *argument)
{
    abort_t *what = argument;
    test_t *test = what->test;
    usleep(100000);
    EXPECT("abort", 0, NCCL(ncclCommAbort, what->comm));
    return NULL;
}

/* The last GPU is dead: the others' streams hang until another thread aborts. */
static void hang(rank_t *rank)
{
    test_t *test = rank->test;
    abort_t what = {test, rank->comm};
    pthread_t thread;
    ncclResult_t state = ncclSuccess;
    void *memory = device_memory(test, 4, NULL);
    EXPECT("warm", 0, NCCL(ncclAllReduce, memory, memory, (size_t)1, ncclInt32, ncclSum, rank->comm, rank->stream));
    EXPECT("done", 0, CUDA(cuStreamSynchronize, rank->stream));
    pthread_barrier_wait(&barrier);
    test->table->gpu[2].nccl_dead = 1;
    EXPECT("enqueued", 0, NCCL(ncclAllReduce, memory, memory, (size_t)1, ncclInt32, ncclSum, rank->comm, rank->stream));
    usleep(50000);
    EXPECT("waits", 600, CUDA(cuStreamQuery, rank->stream));
    EXPECT("no error", 0, NCCL(ncclCommGetAsyncError, rank->comm, &state));
    EXPECT("state", 0, state);
    pthread_barrier_wait(&barrier);
    double began = seconds();
    pthread_create(&thread, NULL, abort_later, &what);
    EXPECT("ends with the abort", 0, CUDA(cuStreamSynchronize, rank->stream));
    EXPECT("not before", 1, seconds() - began > 0.05 && seconds() - began < 2);
    pthread_join(thread, NULL);
    EXPECT("the handle is none", 4, NCCL(ncclCommGetAsyncError, rank->comm, &state));
}

void test_hang(test_t *test)
{
    open_libraries(test, 0);
    pthread_barrier_init(&barrier, NULL, 3);
    run_ranks_only(test, 3, hang, NULL);
}

/* ---- blocking = 0 ---------------------------------------------------------------------------- */

static ncclResult_t settle(test_t *test, ncclComm_t comm)
{
    ncclResult_t state = ncclInProgress;
    for (int i = 0; i < 400 && state == ncclInProgress; i++) {
        EXPECT("polled", 0, NCCL(ncclCommGetAsyncError, comm, &state));
        usleep(5000);
    }
    return state;
}

static void *wait_for_start(void *argument)
{
    abort_t *what = argument;
    test_t *test = what->test;
    ncclUniqueId id;
    NCCL(ncclGetUniqueId, &id);
    use_device(test, 3);
    EXPECT("the start ends by the abort", 3, NCCL(ncclCommInitRank, &what->comm, 2, id, 0));
    return NULL;
}

/* The other rank never comes: another thread aborts by the handle that exists already. */
static void test_start_that_waits(test_t *test)
{
    abort_t what = {test, NULL};
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_start, &what);
    ncclComm_t comm = NULL;
    for (int i = 0; i < 1000 && comm == NULL; i++) {
        usleep(10000);
        comm = __atomic_load_n(&what.comm, __ATOMIC_ACQUIRE);
    }
    EXPECT("a handle", 1, comm != NULL);
    EXPECT("abort", 0, NCCL(ncclCommAbort, comm));
    pthread_join(thread, NULL);
    EXPECT("no handle", 1, what.comm == NULL);
}

void test_not_blocking(test_t *test)
{
    ncclUniqueId id;
    ncclComm_t comms[2] = {NULL, NULL}, alone = NULL;
    ncclConfig_t config = {sizeof config, NCCL_CONFIG_MAGIC, 21800, 0, INT_MIN, INT_MIN, INT_MIN, NULL, INT_MIN};
    int number = 1;
    open_libraries(test, 0);
    EXPECT("id", 0, NCCL(ncclGetUniqueId, &id));
    for (int i = 0; i < 2; i++) {
        use_device(test, i);
        EXPECT("in progress", 7, NCCL(ncclCommInitRankConfig, &comms[i], 2, id, i, &config));
        EXPECT("has its handle", 1, comms[i] != NULL);
        if (i == 0) {
            EXPECT("not yet", 4, NCCL(ncclCommCount, comms[0], &number));
        }
    }
    EXPECT("first", 0, settle(test, comms[0]));
    EXPECT("second", 0, settle(test, comms[1]));
    void *memory[2];
    NCCL(ncclGroupStart);
    for (int i = 0; i < 2; i++) {
        use_device(test, i);
        memory[i] = device_memory(test, 4, &number);
        EXPECT("in a group", 0, NCCL(ncclAllReduce, memory[i], memory[i], (size_t)1, ncclInt32, ncclSum, comms[i], NULL));
    }
    EXPECT("in progress", 7, NCCL(ncclGroupEnd));
    for (int i = 0; i < 2; i++) {
        EXPECT("done", 0, settle(test, comms[i]));
        EXPECT("flushes", 7, NCCL(ncclCommFinalize, comms[i]));
        EXPECT("flushed", 0, settle(test, comms[i]));
    }
    EXPECT("read", 0, CUDA(cuMemcpyDtoH_v2, &number, memory[1], (size_t)4));
    EXPECT("sum", 2, number);
    EXPECT("destroyed", 0, NCCL(ncclCommDestroy, comms[0]));
    EXPECT("destroyed", 0, NCCL(ncclCommDestroy, comms[1]));
    /* A start whose other rank never comes ends with the abort. */
    EXPECT("id", 0, NCCL(ncclGetUniqueId, &id));
    EXPECT("in progress", 7, NCCL(ncclCommInitRankConfig, &alone, 2, id, 0, &config));
    usleep(50000);
    ncclResult_t state = ncclSuccess;
    EXPECT("polled", 0, NCCL(ncclCommGetAsyncError, alone, &state));
    EXPECT("still", 7, state);
    double began = seconds();
    EXPECT("abort", 0, NCCL(ncclCommAbort, alone));
    EXPECT("immediately", 1, seconds() - began < 1);
    test_start_that_waits(test);
}
