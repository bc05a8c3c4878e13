/*
 * Proves the protocol of the simulated libnccl.so.2.
 *   nccl-selftest FOLDER SYMBOLS [case]
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nccl_selftest.h"
#include "table_defaults.h"

static const char *current;
static int failures;

void expect(const char *file, int line, const char *subject, long long expected, long long seen)
{
    if (expected != seen) {
        __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
        fprintf(stderr, "NCCL %s: %s: expected %lld, seen %lld (%s:%d)\n", current, subject, expected, seen,
                strrchr(file, '/') + 1, line);
    }
}

int failed_so_far(void)
{
    return failures;
}

static int absent()
{
    return 99;
}

call_t find(void *library, const char *name)
{
    void *address = library ? dlsym(library, name) : NULL;
    call_t call = absent;
    if (address) {
        memcpy(&call, &address, sizeof call);
    }
    return call;
}

text_call_t find_text(void *library, const char *name)
{
    void *address = dlsym(library, name);
    text_call_t call;
    memcpy(&call, &address, sizeof call);
    return call;
}

double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void open_libraries(test_t *test, int node)
{
    char path[PATH];
    setenv("GPUWARDEN_SIM", test->paths[node], 1);
    snprintf(path, sizeof path, "%s/libnccl.so.2", test->folder);
    test->nccl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    EXPECT(path, 1, test->nccl != NULL);
    snprintf(path, sizeof path, "%s/libcuda.so.1", test->folder);
    test->cuda = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    EXPECT(path, 1, test->cuda != NULL);
    test->table = test->tables[node];
}

void *use_device(const test_t *test, int device)
{
    void *context = NULL;
    EXPECT("cuInit", 0, CUDA(cuInit, 0));
    EXPECT("primary context", 0, CUDA(cuDevicePrimaryCtxRetain, &context, device));
    EXPECT("made current", 0, CUDA(cuCtxSetCurrent, context));
    return context;
}

void *device_memory(const test_t *test, size_t bytes, const void *content)
{
    CUdeviceptr address = 0;
    EXPECT("memory", 0, CUDA(cuMemAlloc_v2, &address, bytes > 0 ? bytes : 1));
    if (content) {
        EXPECT("copied", 0, CUDA(cuMemcpyHtoD_v2, address, content, bytes));
    }
    return (void *)(uintptr_t)address;
}

void read_back(const rank_t *rank, void *to, const void *from, size_t bytes)
{
    const test_t *test = rank->test;
    EXPECT("stream", 0, CUDA(cuStreamSynchronize, rank->stream));
    EXPECT("read", 0, CUDA(cuMemcpyDtoH_v2, to, from, bytes));
}

/* ---- ranks ----------------------------------------------------------------------------------- */

typedef struct {
    rank_t rank;
    ncclUniqueId id;
    rank_body_t body;
    bool destroy;
} seat_t;

static void *take_seat(void *argument)
{
    seat_t *seat = argument;
    rank_t *rank = &seat->rank;
    test_t *test = rank->test;
    use_device(test, rank->rank);
    rank->started = NCCL(ncclCommInitRank, &rank->comm, rank->count, seat->id, rank->rank);
    EXPECT("start", 0, rank->started);
    CUDA(cuStreamCreate, &rank->stream, 1);
    if (rank->started == 0) {
        seat->body(rank);
        if (seat->destroy) {
            EXPECT("destroyed", 0, NCCL(ncclCommDestroy, rank->comm));
        }
    }
    return NULL;
}

static void seat_all(test_t *test, int count, rank_body_t body, const void *argument, bool destroy)
{
    seat_t seats[GPUS];
    pthread_t threads[GPUS];
    ncclUniqueId id;
    EXPECT("unique id", 0, NCCL(ncclGetUniqueId, &id));
    for (int i = 0; i < count; i++) {
        seats[i] = (seat_t){{test, i, count, NULL, NULL, 0, argument}, id, body, destroy};
        pthread_create(&threads[i], NULL, take_seat, &seats[i]);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

void run_ranks(test_t *test, int count, rank_body_t body, const void *argument)
{
    seat_all(test, count, body, argument, true);
}

void run_ranks_only(test_t *test, int count, rank_body_t body, const void *argument)
{
    seat_all(test, count, body, argument, false);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void fill(sim_table_t *table)
{
    default_table(table);
    table->header->gpu_count = GPUS;
    table->header->cuda_version = 12040;
    for (int g = 0; g < GPUS; g++) {
        sim_gpu_t *gpu = &table->gpu[g];
        snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-00000000-0000-0000-0000-00000000000%d", g);
        gpu->pci_bus = 0x1b + g;
        gpu->mem_total = INT64_C(8) << 30;
        gpu->cuda_context_bytes = 1 << 20;
        gpu->cuda_major = 9;
        gpu->pcie_gen = 4;
        gpu->pcie_width = 16;
        gpu->compute_mode = 0;
        gpu->nvlink_count = 1;
        gpu->link[0].state = 1;
        gpu->link[0].speed_mbps = 100000;
        gpu->link[0].remote_type = 2;
        gpu->nccl_mbps = 400000; /* waits are short */
    }
}

static sim_table_t *new_table(char *path)
{
    int fd = mkstemp(path);
    if (fd < 0 || ftruncate(fd, sizeof(sim_table_t)) != 0) {
        perror(path);
        exit(2);
    }
    sim_table_t *table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    fill(table);
    close(fd);
    return table;
}

typedef struct {
    const char *name;
    void (*body)(test_t *);
    pid_t pid;
    char paths[2][32];
} case_t;

/* A case that hangs ends by its alarm, with its children. */
static void start(case_t *one, test_t test)
{
    for (int i = 0; i < 2; i++) {
        strcpy(one->paths[i], "/tmp/gpuwarden-sim-XXXXXX");
        test.tables[i] = new_table(one->paths[i]);
        test.paths[i] = one->paths[i];
    }
    test.table = test.tables[0];
    one->pid = fork();
    if (one->pid == 0) {
        current = one->name;
        setpgid(0, 0);
        alarm(30);
        one->body(&test);
        _exit(failures > 0);
    }
    munmap(test.tables[0], sizeof(sim_table_t));
    munmap(test.tables[1], sizeof(sim_table_t));
}

static bool finish(const case_t *one)
{
    int status = 0;
    waitpid(one->pid, &status, 0);
    kill(-one->pid, SIGKILL); /* what the case has left */
    unlink(one->paths[0]);
    unlink(one->paths[1]);
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "NCCL %s: ended by signal %d\n", one->name, WTERMSIG(status));
    }
    return status == 0;
}

int main(int count, char **arguments)
{
    case_t cases[] = {
        {.name = "symbols", .body = test_symbols},       {.name = "types", .body = test_types},
        {.name = "collectives", .body = test_collectives}, {.name = "large", .body = test_large},
        {.name = "points", .body = test_points},         {.name = "one thread", .body = test_one_thread},
        {.name = "split", .body = test_split},           {.name = "processes", .body = test_processes},
        {.name = "killed", .body = test_killed},         {.name = "arguments", .body = test_arguments},
        {.name = "environment", .body = test_environment}, {.name = "refused", .body = test_refused},
        {.name = "time", .body = test_time},             {.name = "order", .body = test_order},
        {.name = "hang", .body = test_hang},             {.name = "not blocking", .body = test_not_blocking},
        {.name = "faults", .body = test_faults},         {.name = "mismatch", .body = test_mismatch},
        {.name = "lost", .body = test_lost},             {.name = "strangers", .body = test_strangers},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    test_t test = {.folder = arguments[1], .symbols = arguments[2]};
    int failed = 0;
    setenv("NCCL_SOCKET_IFNAME", "lo", 1);
    for (int i = 0; i < CASES; i++) {
        if (count < 4 || strcmp(arguments[3], cases[i].name) == 0) {
            start(&cases[i], test); /* side by side: most of their time is waiting */
        }
    }
    for (int i = 0; i < CASES; i++) {
        failed += cases[i].pid > 0 && !finish(&cases[i]);
    }
    if (failed == 0) {
        printf("simulated libnccl: holds its protocol\n");
    }
    return failed > 0;
}
