/* Send and Recv, groups, splits, processes and nodes. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nccl_selftest.h"

enum { COUNT = 200000 };

/* Every rank sends a block to every rank, itself too; block b of rank r is 100 r + b. */
static void exchange(rank_t *rank)
{
    test_t *test = rank->test;
    int n = rank->count, *host = malloc((size_t)n * COUNT * sizeof *host);
    for (int i = 0; i < n * COUNT; i++) {
        host[i] = 100 * rank->rank + i / COUNT;
    }
    char *send = device_memory(test, (size_t)n * COUNT * 4, host), *recv = device_memory(test, (size_t)n * COUNT * 4, NULL);
    for (int run = 0; run < 2; run++) {
        EXPECT("group", 0, NCCL(ncclGroupStart));
        for (int peer = 0; peer < n; peer++) {
            size_t at = (size_t)peer * COUNT * 4;
            EXPECT("send", 0, NCCL(ncclSend, send + at, (size_t)COUNT, ncclInt32, peer, rank->comm, rank->stream));
            EXPECT("recv", 0, NCCL(ncclRecv, recv + at, (size_t)COUNT, ncclInt32, peer, rank->comm, rank->stream));
        }
        EXPECT("end", 0, NCCL(ncclGroupEnd));
    }
    read_back(rank, host, recv, (size_t)n * COUNT * 4);
    int wrong = 0;
    for (int i = 0; i < n * COUNT; i++) {
        wrong += host[i] != 100 * (i / COUNT) + rank->rank;
    }
    EXPECT("exchanged", 0, wrong);
    free(host);
}

/* Two sends to one rank in a row, without groups. */
static void chain(rank_t *rank)
{
    test_t *test = rank->test;
    int values[2] = {7, 8}, seen[2] = {0};
    char *memory = device_memory(test, sizeof values, rank->rank == 0 ? values : seen);
    for (int i = 0; i < 2; i++) {
        if (rank->rank == 0) {
            EXPECT("send", 0, NCCL(ncclSend, memory + 4 * i, (size_t)1, ncclInt32, 1, rank->comm, rank->stream));
        } else {
            EXPECT("recv", 0, NCCL(ncclRecv, memory + 4 * i, (size_t)1, ncclInt32, 0, rank->comm, rank->stream));
        }
    }
    read_back(rank, seen, memory, sizeof seen);
    EXPECT("first", 7, seen[0]);
    EXPECT("second", 8, seen[1]);
}

void test_points(test_t *test)
{
    open_libraries(test, 0);
    run_ranks(test, 4, exchange, NULL);
    run_ranks(test, 2, chain, NULL);
}

/* One thread with all GPUs. */
void test_one_thread(test_t *test)
{
    ncclComm_t comms[GPUS];
    char *memory[GPUS];
    int one = 1, two[2] = {1, 1}, number = -1;
    open_libraries(test, 0);
    EXPECT("of one device twice", 5, NCCL(ncclCommInitAll, comms, 2, two));
    EXPECT("no such device", 1, NCCL(ncclCommInitAll, comms, 5, NULL));
    EXPECT("all", 0, NCCL(ncclCommInitAll, comms, GPUS, NULL));
    for (int i = 0; i < GPUS; i++) {
        use_device(test, i);
        memory[i] = device_memory(test, 4, &one);
        NCCL(ncclCommUserRank, comms[i], &number);
        EXPECT("rank", i, number);
        NCCL(ncclCommCuDevice, comms[i], &number);
        EXPECT("device", i, number);
        NCCL(ncclCommCount, comms[i], &number);
        EXPECT("count", GPUS, number);
    }
    for (int run = 0; run < 2; run++) { /* two operations of each communicator in one group */
        NCCL(ncclGroupStart);
        NCCL(ncclGroupStart);
        for (int i = 0; i < GPUS; i++) {
            EXPECT("first", 0, NCCL(ncclAllReduce, memory[i], memory[i], (size_t)1, ncclInt32, ncclSum, comms[i], NULL));
            EXPECT("second", 0, NCCL(ncclAllReduce, memory[i], memory[i], (size_t)1, ncclInt32, ncclSum, comms[i], NULL));
        }
        EXPECT("inner end", 0, NCCL(ncclGroupEnd));
        EXPECT("end", 0, NCCL(ncclGroupEnd));
    }
    for (int i = 0; i < GPUS; i++) {
        use_device(test, i);
        EXPECT("read", 0, CUDA(cuMemcpyDtoH_v2, &number, memory[i], (size_t)4));
        EXPECT("4 to the power of 4", 256, number);
        EXPECT("finalized", 0, NCCL(ncclCommFinalize, comms[i]));
        EXPECT("destroyed", 0, NCCL(ncclCommDestroy, comms[i]));
        EXPECT("a stale handle", 4, NCCL(ncclCommCount, comms[i], &number));
    }
}

static void split(rank_t *rank)
{
    test_t *test = rank->test;
    ncclComm_t child = NULL;
    int color = rank->rank == 3 ? -1 : rank->rank % 2, number = -1, value = rank->rank + 1;
    EXPECT("split", 0, NCCL(ncclCommSplit, rank->comm, color, -rank->rank, &child, NULL));
    EXPECT("no colour, no communicator", rank->rank == 3, child == NULL);
    if (child) {
        NCCL(ncclCommUserRank, child, &number);
        EXPECT("by descending keys", rank->rank == 0 ? 1 : 0, number);
        void *memory = device_memory(test, 4, &value);
        EXPECT("used", 0, NCCL(ncclAllReduce, memory, memory, (size_t)1, ncclInt32, ncclSum, child, rank->stream));
        read_back(rank, &value, memory, 4);
        EXPECT("sum of a colour", color == 0 ? 4 : 2, value);
        EXPECT("destroyed", 0, NCCL(ncclCommDestroy, child));
    }
}

void test_split(test_t *test)
{
    open_libraries(test, 0);
    run_ranks(test, 4, split, NULL);
}

/* ---- processes ------------------------------------------------------------------------------- */

typedef void (*process_body_t)(test_t *test, ncclComm_t comm, int rank);

/* A rank of its own process; two to a node. Its result is the exit status. */
static pid_t start_process(test_t *test, int rank, int count, const int id_pipe[2], process_body_t body)
{
    pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    ncclUniqueId id;
    ncclComm_t comm = NULL;
    open_libraries(test, rank / 2);
    if (rank == 0) {
        EXPECT("unique id", 0, NCCL(ncclGetUniqueId, &id));
        for (int i = 1; i < count; i++) {
            EXPECT("passed on", sizeof id, write(id_pipe[1], &id, sizeof id));
        }
    } else {
        EXPECT("received", sizeof id, read(id_pipe[0], &id, sizeof id));
    }
    use_device(test, rank % 2);
    EXPECT("start", 0, NCCL(ncclCommInitRank, &comm, count, id, rank));
    body(test, comm, rank);
    _exit(failed_so_far() > 0);
}

static void sum_in_process(test_t *test, ncclComm_t comm, int rank)
{
    int value = rank + 1;
    void *memory = device_memory(test, 4, &value);
    for (int i = 0; i < 3; i++) {
        EXPECT("AllReduce", 0, NCCL(ncclAllReduce, memory, memory, (size_t)1, ncclInt32, ncclSum, comm, NULL));
    }
    EXPECT("read", 0, CUDA(cuMemcpyDtoH_v2, &value, memory, (size_t)4));
    EXPECT("10 times 16", 160, value);
    /* Over the network, which is slower: 8 us, three steps, and 3/2 of the data. */
    enum { BYTES = 100000 };
    CUevent events[2];
    float milliseconds = 0;
    test->table->gpu[rank % 2].nccl_network_mbps = 1000;
    void *more = device_memory(test, BYTES, NULL);
    for (int i = 0; i < 2; i++) {
        CUDA(cuEventCreate, &events[i], 0);
        EXPECT("AllReduce", 0, NCCL(ncclAllReduce, more, more, (size_t)BYTES, ncclInt8, ncclSum, comm, NULL));
        CUDA(cuEventRecord, events[i], NULL);
    }
    EXPECT("done", 0, CUDA(cuCtxSynchronize));
    EXPECT("time", 0, CUDA(cuEventElapsedTime, &milliseconds, events[0], events[1]));
    EXPECT("microseconds", 164, milliseconds * 1000 + 0.5);
    EXPECT("destroyed", 0, NCCL(ncclCommDestroy, comm));
}

void test_processes(test_t *test)
{
    int ids[2], status;
    pid_t pids[4];
    EXPECT("pipe", 0, pipe(ids));
    for (int i = 0; i < 4; i++) {
        pids[i] = start_process(test, i, 4, ids, sum_in_process);
    }
    for (int i = 0; i < 4; i++) {
        waitpid(pids[i], &status, 0);
        EXPECT("process", 0, status);
    }
}

/* Rank 3 ends without a word, while ranks 0 and 1 wait in an operation and rank 2 has none. */
static void wait_for_dead(test_t *test, ncclComm_t comm, int rank)
{
    ncclResult_t state = ncclSuccess;
    void *memory = device_memory(test, 4, NULL);
    if (rank == 3) {
        usleep(100000);
        kill(getpid(), SIGKILL);
    }
    if (rank != 2) {
        EXPECT("enqueued", 0, NCCL(ncclAllReduce, memory, memory, (size_t)1, ncclInt32, ncclSum, comm, NULL));
        EXPECT("the wait ends", 0, CUDA(cuCtxSynchronize));
    }
    for (int i = 0; i < 200 && state == ncclSuccess; i++) {
        EXPECT("state", 0, NCCL(ncclCommGetAsyncError, comm, &state));
        usleep(10000);
    }
    EXPECT("remote error", ncclRemoteError, state);
    EXPECT("text", 0, strncmp(LAST_ERROR(), "socketProgress: Connection closed by remote peer", 48));
    EXPECT("the next call", 6, NCCL(ncclAllReduce, memory, memory, (size_t)1, ncclInt32, ncclSum, comm, NULL));
    EXPECT("abort", 0, NCCL(ncclCommAbort, comm));
}

void test_killed(test_t *test)
{
    int ids[2], status;
    pid_t pids[4];
    EXPECT("pipe", 0, pipe(ids));
    for (int i = 0; i < 4; i++) {
        pids[i] = start_process(test, i, 4, ids, wait_for_dead);
    }
    for (int i = 0; i < 4; i++) {
        waitpid(pids[i], &status, 0);
        EXPECT("process", i == 3 ? SIGKILL : 0, status);
    }
}
