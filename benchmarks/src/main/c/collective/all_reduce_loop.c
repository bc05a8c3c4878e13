/*
 * The baseline of benchmarks/all-reduce-cost: all-reduces by a C program. Usage:
 *
 *     all_reduce_loop FOLDER RANKS BYTES plain|same       FOLDER has libnccl.so.2 and libcuda.so.1
 *
 * plain: blocking communicators and cuStreamSynchronize, which need the fewest calls. same: the calls and pauses of gpuwarden's
 * binding, whose communicators do not block, so that each wait has an end.
 * Then one number of operations per line on standard input, and one line of answer each: the nanoseconds until all ranks are done.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_mirror.h"
#include "nccl_mirror.h"

enum { MOST_RANKS = 64, PATH = 4096, NOT_READY = 600, OLDEST = 21800, YIELDING_NS = 2000000, LONGEST_NS = 1000000 };

#define CUDA_FUNCTIONS(F)                                         \
    F(cuInit, (unsigned))                                         \
    F(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))          \
    F(cuCtxSetCurrent, (CUcontext))                               \
    F(cuStreamCreate, (CUstream *, unsigned))                     \
    F(cuStreamQuery, (CUstream))                                  \
    F(cuStreamSynchronize, (CUstream))                            \
    F(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))
#define NCCL_FUNCTIONS(F)                                                                             \
    F(ncclGetUniqueId, (ncclUniqueId *))                                                              \
    F(ncclCommInitRankConfig, (ncclComm_t *, int, ncclUniqueId, int, ncclConfig_t *))                 \
    F(ncclCommGetAsyncError, (ncclComm_t, ncclResult_t *))                                            \
    F(ncclMemAlloc, (void **, size_t))                                                                \
    F(ncclAllReduce, (const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, CUstream))
#define DECLARE(name, arguments) static int (*name) arguments;
CUDA_FUNCTIONS(DECLARE)
NCCL_FUNCTIONS(DECLARE)
#undef DECLARE

static int ranks, blocking;
static size_t bytes;
static long operations;
static ncclUniqueId id;
static pthread_barrier_t begin, end;

static void fail(const char *what, int code) {
    fprintf(stderr, "all_reduce_loop: %s: %d\n", what, code);
    exit(1);
}

static void check(const char *what, int code) {
    if (code != 0) {
        fail(what, code);
    }
}

static void *open_library(const char *folder, const char *name) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "all_reduce_loop: %s\n", dlerror());
        exit(1);
    }
    return library;
}

static long long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* A pause of a wait that began then, as nat.nccl.Pause has it. */
static void pause_since(long long began_ns) {
    long long age = now_ns() - began_ns;
    if (age < YIELDING_NS) {
        sched_yield();
    } else {
        struct timespec pause = {.tv_nsec = age / 1000 < LONGEST_NS ? age / 1000 : LONGEST_NS};
        nanosleep(&pause, NULL);
    }
}

/* Waits until a call of a communicator that does not block is done. */
static void settle(ncclComm_t comm, int result) {
    ncclResult_t state = (ncclResult_t)result;
    long long began_ns = now_ns();
    while (state == ncclInProgress) {
        pause_since(began_ns);
        check("ncclCommGetAsyncError", ncclCommGetAsyncError(comm, &state));
    }
    check("the call", (int)state);
}

static void await(ncclComm_t comm, CUstream stream) {
    if (blocking) {
        check("cuStreamSynchronize", cuStreamSynchronize(stream));
        return;
    }
    long long began_ns = now_ns();
    for (;;) {
        int result = cuStreamQuery(stream);
        if (result != NOT_READY) {
            check("cuStreamQuery", result);
            return;
        }
        ncclResult_t state;
        check("ncclCommGetAsyncError", ncclCommGetAsyncError(comm, &state));
        if (state != ncclSuccess && state != ncclInProgress) {
            fail("an operation", (int)state);
        }
        pause_since(began_ns);
    }
}

static void *run(void *argument) {
    int rank = (int)(size_t)argument;
    CUcontext context;
    CUstream stream;
    ncclComm_t comm = NULL;
    void *send, *receive;
    check("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, rank));
    check("cuCtxSetCurrent", cuCtxSetCurrent(context));
    check("cuStreamCreate", cuStreamCreate(&stream, 1));
    ncclConfig_t config = {.size = sizeof config, .magic = NCCL_CONFIG_MAGIC, .version = OLDEST, .blocking = blocking,
                           .cgaClusterSize = NCCL_CONFIG_UNDEF_INT, .minCTAs = NCCL_CONFIG_UNDEF_INT,
                           .maxCTAs = NCCL_CONFIG_UNDEF_INT, .netName = NULL, .splitShare = NCCL_CONFIG_UNDEF_INT};
    int result = ncclCommInitRankConfig(&comm, ranks, id, rank, &config);
    settle(comm, result);
    check("ncclMemAlloc", ncclMemAlloc(&send, bytes));
    check("ncclMemAlloc", ncclMemAlloc(&receive, bytes));
    check("cuMemsetD8Async", cuMemsetD8Async((CUdeviceptr)(size_t)send, 0, bytes, stream));
    check("cuStreamSynchronize", cuStreamSynchronize(stream));
    for (;;) {
        pthread_barrier_wait(&begin);
        for (long i = 0; i < operations; i++) {
            settle(comm, ncclAllReduce(send, receive, bytes / sizeof(float), ncclFloat32, ncclSum, comm, stream));
            await(comm, stream);
        }
        pthread_barrier_wait(&end);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fail("usage: all_reduce_loop FOLDER RANKS BYTES plain|same", argc);
    }
    ranks = atoi(argv[2]);
    bytes = strtoul(argv[3], NULL, 10);
    blocking = strcmp(argv[4], "plain") == 0;
    if (ranks < 1 || ranks > MOST_RANKS) {
        fail("ranks", ranks);
    }
    void *cuda = open_library(argv[1], "libcuda.so.1");
    void *nccl = open_library(argv[1], "libnccl.so.2");
#define LOAD_CUDA(name, arguments) *(void **)&name = dlsym(cuda, #name);
    CUDA_FUNCTIONS(LOAD_CUDA)
#define LOAD_NCCL(name, arguments) *(void **)&name = dlsym(nccl, #name);
    NCCL_FUNCTIONS(LOAD_NCCL)
    check("cuInit", cuInit(0));
    check("ncclGetUniqueId", ncclGetUniqueId(&id));
    pthread_barrier_init(&begin, NULL, (unsigned)ranks + 1);
    pthread_barrier_init(&end, NULL, (unsigned)ranks + 1);
    for (int rank = 0; rank < ranks; rank++) {
        pthread_t thread;
        check("pthread_create", pthread_create(&thread, NULL, run, (void *)(size_t)rank));
    }
    char line[64];
    while (fgets(line, sizeof line, stdin) != NULL) {
        operations = strtol(line, NULL, 10);
        pthread_barrier_wait(&begin);
        long long start = now_ns();
        pthread_barrier_wait(&end);
        printf("%lld\n", now_ns() - start);
        fflush(stdout);
    }
    /* The threads end with the process. */
    return 0;
}
