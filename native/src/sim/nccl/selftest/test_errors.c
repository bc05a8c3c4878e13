/* Wrong arguments, a missing driver, planned faults, ranks that disagree, a GPU that is lost, strangers. */
#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nccl_selftest.h"
#include "nccl_wire.h"
#include "sim_functions.h"

static void wrong_arguments(rank_t *rank)
{
    test_t *test = rank->test;
    void *memory = device_memory(test, 4, NULL);
    ncclResult_t state = ncclSuccess;
    int number, stale;
#define REDUCE(count, type, op, comm) NCCL(ncclAllReduce, memory, memory, (size_t)(count), type, op, comm, rank->stream)
    EXPECT("no communicator", 4, REDUCE(1, 7, 0, NULL));
    EXPECT("text", 0, strcmp(LAST_ERROR(), "AllReduce : comm argument is NULL"));
    EXPECT("none", 4, REDUCE(1, 7, 0, (ncclComm_t)&stale));
    EXPECT("type", 4, REDUCE(1, 99, 0, rank->comm));
    EXPECT("text", 0, strcmp(LAST_ERROR(), "AllReduce : invalid type 99"));
    EXPECT("8-bit types come with 2.24", 4, REDUCE(1, 10, 0, rank->comm));
    EXPECT("negative operator", 4, REDUCE(1, 7, -1, rank->comm));
    EXPECT("unknown operator", 4, REDUCE(1, 7, 5, rank->comm));
    EXPECT("count", 4, REDUCE(SIZE_MAX / 2, 7, 0, rank->comm));
    EXPECT("root", 4, NCCL(ncclBcast, memory, (size_t)1, 7, 1, rank->comm, rank->stream));
    EXPECT("text", 0, strncmp(LAST_ERROR(), "Broadcast : invalid root 1", 26));
    EXPECT("peer", 4, NCCL(ncclSend, memory, (size_t)1, 7, -1, rank->comm, rank->stream));
    EXPECT("no stream", 1, NCCL(ncclBcast, memory, (size_t)1, 7, 0, rank->comm, &stale));
    EXPECT("no place", 4, NCCL(ncclCommCount, rank->comm, NULL));
    EXPECT("end without start", 5, NCCL(ncclGroupEnd));
    EXPECT("text", 0, strcmp(LAST_ERROR(), "ncclGroupEnd: not in a group call."));
    NCCL(ncclGroupStart);
    EXPECT("in a group", 4, REDUCE(1, 99, 0, rank->comm));
    EXPECT("the group's end has it too", 4, NCCL(ncclGroupEnd));
    EXPECT("NULL is destroyed", 0, NCCL(ncclCommDestroy, NULL));
    void *handle = NULL, *allocated = NULL;
    EXPECT("registered", 0, NCCL(ncclCommRegister, rank->comm, memory, (size_t)4, &handle));
    EXPECT("deregistered", 0, NCCL(ncclCommDeregister, rank->comm, handle));
    EXPECT("no memory of it", 4, NCCL(ncclCommRegister, rank->comm, &stale, (size_t)4, &handle));
    EXPECT("allocated", 0, NCCL(ncclMemAlloc, &allocated, (size_t)4096));
    EXPECT("usable", 0, NCCL(ncclBcast, allocated, (size_t)1024, 7, 0, rank->comm, rank->stream));
    EXPECT("freed", 0, NCCL(ncclMemFree, allocated));
    EXPECT("all is well", 0, NCCL(ncclCommGetAsyncError, rank->comm, &state));
    EXPECT("state", 0, state);
    EXPECT("host memory is enqueued", 0, NCCL(ncclBcast, &stale, (size_t)1, 7, 0, rank->comm, rank->stream));
    EXPECT("and fails the stream", 700, CUDA(cuStreamSynchronize, rank->stream));
    usleep(50000);
    EXPECT("a failed one", 1, NCCL(ncclCommCount, rank->comm, &number));
}

void test_arguments(test_t *test)
{
    ncclComm_t comm, pair[2];
    ncclUniqueId id, zero = {{0}};
    ncclConfig_t config = {sizeof config, 1, 22105, 1, 0, 0, 0, NULL, 0};
    open_libraries(test, 0);
    EXPECT("no place", 4, NCCL(ncclGetUniqueId, NULL));
    EXPECT("id", 0, NCCL(ncclGetUniqueId, &id));
    EXPECT("no ranks", 4, NCCL(ncclCommInitRank, &comm, 0, id, 0));
    EXPECT("rank", 4, NCCL(ncclCommInitRank, &comm, 2, id, 2));
    EXPECT("text", 0, strcmp(LAST_ERROR(), "Invalid rank requested : 2/2"));
    EXPECT("too many", 4, NCCL(ncclCommInitRank, &comm, 1025, id, 0));
    EXPECT("no handle", 4, NCCL(ncclCommInitRank, NULL, 1, id, 0));
    EXPECT("no id", 4, NCCL(ncclCommInitRank, &comm, 1, zero, 0));
    EXPECT("config", 4, NCCL(ncclCommInitRankConfig, &comm, 1, id, 0, &config));
    EXPECT("devices", 4, NCCL(ncclCommInitAll, &comm, -1, NULL));
    EXPECT("text", 0, strcmp(LAST_ERROR(), "Invalid device count requested : -1"));
    /* Two ranks of this thread are on its one device. */
    NCCL(ncclGroupStart);
    NCCL(ncclCommInitRank, &pair[0], 2, id, 0);
    NCCL(ncclCommInitRank, &pair[1], 2, id, 1);
    EXPECT("one GPU twice", 5, NCCL(ncclGroupEnd));
    EXPECT("text", 0, strcmp(LAST_ERROR(), "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1b000"));
    EXPECT("no handle", 1, pair[0] == NULL && pair[1] == NULL);
    run_ranks(test, 1, wrong_arguments, NULL);
}

void test_environment(test_t *test)
{
    ncclUniqueId id = {{0}};
    ncclComm_t comm;
    open_libraries(test, 0);
    setenv("NCCL_SOCKET_IFNAME", "nonesuch", 1);
    EXPECT("no interface", 3, NCCL(ncclGetUniqueId, &id));
    EXPECT("text", 0, strcmp(LAST_ERROR(), "Bootstrap : no socket interface found"));
    test->table->header->nccl_version = 22203;
    EXPECT("from 2.22 on", 5, NCCL(ncclGetUniqueId, &id));
    setenv("NCCL_SOCKET_IFNAME", "^nonesuch", 1);
    EXPECT("all others", 0, NCCL(ncclGetUniqueId, &id));
    setenv("NCCL_SOCKET_IFNAME", "=lo", 1);
    EXPECT("the whole name", 0, NCCL(ncclGetUniqueId, &id));
    setenv("NCCL_SOCKET_IFNAME", "=l", 1);
    EXPECT("a part of it", 5, NCCL(ncclGetUniqueId, &id));
    test->table->header->init_result = 9;
    EXPECT("no driver", 1, NCCL(ncclCommInitRank, &comm, 1, id, 0));
    EXPECT("text", 0, strcmp(LAST_ERROR(), "Cuda failure 'no CUDA-capable device is detected'"));
}

/* The root has gone: nothing listens at the address of the id. */
void test_refused(test_t *test)
{
    ncclUniqueId id;
    ncclComm_t comm;
    struct sockaddr_in address;
    open_libraries(test, 0);
    NCCL(ncclGetUniqueId, &id);
    memcpy(&address, id.internal + 8, sizeof address);
    address.sin_port = htons(1);
    memcpy(id.internal + 8, &address, sizeof address);
    EXPECT("refused", 2, NCCL(ncclCommInitRank, &comm, 2, id, 0));
    EXPECT("text", 0, strcmp(LAST_ERROR(), "socketStartConnect: Connect to 127.0.0.1<1> failed : Connection refused"));
}

/* ---- planned faults -------------------------------------------------------------------------- */

static void plan(const test_t *test, int function, int gpu, int code)
{
    sim_fault_t *fault = &test->table->fault[0];
    fault->function = function;
    fault->gpu = gpu;
    fault->code = code;
    fault->mode = code != 0 ? SIM_FAULT_ERROR : SIM_FAULT_OFF;
}

static int differences(const rank_t *rank, void *memory)
{
    float seen[8];
    int count = 0;
    read_back(rank, seen, memory, sizeof seen);
    for (int i = 0; i < 8; i++) {
        count += seen[i] != 2;
    }
    return count;
}

static void planned(rank_t *rank)
{
    test_t *test = rank->test;
    float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    void *send = device_memory(test, sizeof ones, ones), *recv = device_memory(test, sizeof ones, NULL);
#define SUM() NCCL(ncclAllReduce, send, recv, (size_t)8, ncclFloat32, ncclSum, rank->comm, rank->stream)
    EXPECT("an error of one GPU's calls", rank->rank == 1 ? 3 : 0, NCCL(ncclCommCount, rank->comm, &(int){0}));
    EXPECT("sum", 0, SUM());
    EXPECT("a wrong result of one", rank->rank == 1 ? 3 : 0, differences(rank, recv));
}

static pthread_barrier_t both_started;

static void failing(rank_t *rank)
{
    test_t *test = rank->test;
    ncclResult_t state = ncclSuccess;
    pthread_barrier_wait(&both_started);
    if (rank->rank == 0) {
        test->table->gpu[1].nccl_error = ncclInternalError;
    }
    for (int i = 0; i < 200 && state == ncclSuccess; i++) {
        NCCL(ncclCommGetAsyncError, rank->comm, &state);
        usleep(5000);
    }
    EXPECT("planned, and what its peer sees", rank->rank == 1 ? 3 : 6, state);
}

void test_faults(test_t *test)
{
    ncclUniqueId id;
    open_libraries(test, 0);
    plan(test, FN_ncclGetUniqueId, SIM_ALL, 3);
    EXPECT("planned", 3, NCCL(ncclGetUniqueId, &id));
    EXPECT("text", 0, strcmp(LAST_ERROR(), "ncclGetUniqueId : planned error"));
    plan(test, SIM_ALL, SIM_ALL, 15);
    EXPECT("of all functions", 1, NCCL(ncclGetUniqueId, &id));
    EXPECT("not the version", 0, NCCL(ncclGetVersion, &(int){0}));
    plan(test, FN_ncclCommCount, 1, 3);
    test->table->gpu[1].nccl_wrong = 3;
    run_ranks(test, 2, planned, NULL);
    pthread_barrier_init(&both_started, NULL, 2);
    run_ranks(test, 2, failing, NULL);
}

/* Sizes, operators and kinds that differ between ranks. */
static void disagree(rank_t *rank)
{
    test_t *test = rank->test;
    int which = *(const int *)rank->argument, odd = rank->rank == 1;
    ncclResult_t state = ncclSuccess;
    char *memory = device_memory(test, 4096, NULL);
    if (which == 0) {
        NCCL(ncclAllReduce, memory, memory, (size_t)(100 + odd), ncclFloat32, ncclSum, rank->comm, rank->stream);
    } else if (which == 1) {
        NCCL(ncclAllReduce, memory, memory, (size_t)100, ncclFloat32, odd ? ncclMax : ncclSum, rank->comm, rank->stream);
    } else if (odd) {
        NCCL(ncclRecv, memory, (size_t)100, ncclFloat32, 0, rank->comm, rank->stream);
    } else {
        NCCL(ncclSend, memory, (size_t)99, ncclFloat32, 1, rank->comm, rank->stream);
    }
    EXPECT("the wait ends", 0, CUDA(cuStreamSynchronize, rank->stream));
    for (int i = 0; i < 200 && state == ncclSuccess; i++) {
        NCCL(ncclCommGetAsyncError, rank->comm, &state);
        usleep(5000);
    }
    EXPECT("invalid usage, or the end of a rank that saw it first", 1, state == 5 || state == 6);
}

void test_mismatch(test_t *test)
{
    open_libraries(test, 0);
    for (int which = 0; which < 3; which++) {
        run_ranks(test, 2, disagree, &which);
    }
}

static void lose(rank_t *rank)
{
    test_t *test = rank->test;
    ncclResult_t state = ncclSuccess;
    void *memory = device_memory(test, 4, NULL);
    if (rank->rank != 2) { /* the third rank lets them wait */
        NCCL(ncclAllReduce, memory, memory, (size_t)1, ncclFloat32, ncclSum, rank->comm, rank->stream);
    }
    if (rank->rank == 0) {
        usleep(50000);
        test->table->gpu[1].state = SIM_STATE_LOST;
    }
    EXPECT("the wait ends", rank->rank == 1 ? 999 : 0, CUDA(cuStreamSynchronize, rank->stream));
    for (int i = 0; i < 200 && state == ncclSuccess; i++) {
        NCCL(ncclCommGetAsyncError, rank->comm, &state);
        usleep(5000);
    }
    EXPECT("its own error, or its end", rank->rank == 1 ? 1 : 6, state);
}

static void *lose_later(void *argument)
{
    usleep(50000);
    ((sim_gpu_t *)argument)->state = SIM_STATE_LOST;
    return NULL;
}

/* In one group: the second GPU is lost before it comes to the root, where the first one waits. */
void test_lost(test_t *test)
{
    ncclComm_t comms[2];
    pthread_t thread;
    open_libraries(test, 0);
    run_ranks(test, 3, lose, NULL);
    test->table->gpu[3].nccl_dead = 1;
    pthread_create(&thread, NULL, lose_later, &test->table->gpu[3]);
    EXPECT("one of a group", 1, NCCL(ncclCommInitAll, comms, 2, (int[]){2, 3}));
    pthread_join(thread, NULL);
}

/* ---- strangers ------------------------------------------------------------------------------- */

static int connect_to(const struct sockaddr_in *address, const void *bytes, size_t count)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) != 0
        || send(fd, bytes, count, MSG_NOSIGNAL) != (ssize_t)count) {
        close(fd);
        return -1;
    }
    return fd;
}

/* To every listening socket of this process: silence, garbage, and the beginning of a good one. */
static int disturb(const char *good)
{
    char garbage[4096];
    int found = 0;
    memset(garbage, 0x5a, sizeof garbage);
    for (int fd = 3; fd < 200; fd++) {
        struct sockaddr_in address;
        int listening = 0;
        socklen_t length = sizeof listening, size = sizeof address;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) != 0 || !listening
            || getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
            continue;
        }
        found++;
        nc_hello_t forged = {.magic = 1, .kind = NC_HELLO_ROOT, .rank = 0, .count = 2};
        connect_to(&address, &forged, sizeof forged);
        for (int i = 0; i < 40; i++) { /* more than may wait; they stay open */
            connect_to(&address, "", 0);
            connect_to(&address, garbage, sizeof garbage);
            connect_to(&address, good, 8 + (size_t)i % 8);
        }
    }
    return found;
}

static void exchange_disturbed(rank_t *rank)
{
    test_t *test = rank->test;
    int value = 1;
    void *memory = device_memory(test, 4, &value);
    if (rank->rank == 0) {
        EXPECT("listening ranks", 1, disturb(rank->argument) >= rank->count);
        EXPECT("send", 0, NCCL(ncclSend, memory, (size_t)1, ncclInt32, 1, rank->comm, rank->stream));
    } else if (rank->rank == 1) {
        EXPECT("recv", 0, NCCL(ncclRecv, memory, (size_t)1, ncclInt32, 0, rank->comm, rank->stream));
    }
    EXPECT("sum", 0, NCCL(ncclAllReduce, memory, memory, (size_t)1, ncclInt32, ncclSum, rank->comm, rank->stream));
    read_back(rank, &value, memory, 4);
    EXPECT("of all", rank->count, value);
}

typedef struct {
    test_t *test;
    ncclUniqueId id;
    int rank;
} late_t;

static void *come_late(void *argument)
{
    late_t *late = argument;
    test_t *test = late->test;
    ncclComm_t comm = NULL;
    use_device(test, late->rank);
    EXPECT("start", 0, NCCL(ncclCommInitRank, &comm, 2, late->id, late->rank));
    EXPECT("destroyed", 0, NCCL(ncclCommDestroy, comm));
    return NULL;
}

void test_strangers(test_t *test)
{
    late_t late[2];
    pthread_t threads[2];
    ncclUniqueId id;
    open_libraries(test, 0);
    EXPECT("id", 0, NCCL(ncclGetUniqueId, &id));
    EXPECT("the root", 1, disturb(id.internal) >= 1);
    double began = seconds();
    for (int i = 0; i < 2; i++) {
        late[i] = (late_t){test, id, i};
        pthread_create(&threads[i], NULL, come_late, &late[i]);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    run_ranks(test, 3, exchange_disturbed, id.internal);
    EXPECT("without waiting for them", 1, seconds() - began < 3);
}
