/* libcuda: one account of memory with NVML, between processes, and until a process ends. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_mirror.h"
#include "selftest.h"

static int64_t used(const test_t *test, int gpu)
{
    nvmlDevice_t device;
    nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};
    nvmlMemory_t first;
    CALL(nvmlDeviceGetHandleByIndex_v2, gpu, &device);
    if (has(test, "nvmlDeviceGetMemoryInfo_v2")) {
        EXPECT("memory", 0, CALL(nvmlDeviceGetMemoryInfo_v2, device, &memory));
        EXPECT("adds up", memory.total, memory.used + memory.reserved + memory.free);
        return (int64_t)memory.used;
    }
    EXPECT("memory", 0, CALL(nvmlDeviceGetMemoryInfo, device, &first));
    EXPECT("adds up", first.total, first.used + first.free);
    return (int64_t)first.used - test->table->gpu[gpu].mem_reserved;
}

/* Bytes of a process on a GPU; -1 if the list lacks it. */
static int64_t listed(const test_t *test, int gpu, int pid)
{
    nvmlDevice_t device;
    nvmlProcessInfo_v1_t list[8];
    unsigned count = 8;
    CALL(nvmlDeviceGetHandleByIndex_v2, gpu, &device);
    EXPECT("list", 0, CALL(nvmlDeviceGetComputeRunningProcesses, device, &count, list));
    for (unsigned i = 0; i < count; i++) {
        if ((int)list[i].pid == pid) {
            return (int64_t)list[i].usedGpuMemory;
        }
    }
    return -1;
}

void test_cuda_account(test_t *test)
{
    CUdeviceptr one = 0, other = 0;
    size_t available, total;
    char name[128], program[128] = ""; /* a longer path is cut */
    begin(test);
    begin_cuda(test);
    add_process(test, 0, 100, 4096, SIM_PROCESS_COMPUTE);
    EXPECT("nothing held", 0, used(test, 0));
    use_cuda(test, 0);
    EXPECT("a context costs", CONTEXT, used(test, 0));
    EXPECT("with its process", CONTEXT, listed(test, 0, getpid()));
    EXPECT("beside the scenario's", 4096, listed(test, 0, 100));
    EXPECT("not on the other GPU", -1, listed(test, 1, getpid()));
    EXPECT("name", 0, CALL(nvmlSystemGetProcessName, getpid(), name, sizeof name));
    EXPECT("path", 1, readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    EXPECT("is the program", 0, strcmp(name, program));
    EXPECT("alloc", 0, CUDA(cuMemAlloc_v2, &one, (size_t)1000 * MIB + 1));
    EXPECT("in blocks of 2 MiB", CONTEXT + (int64_t)1002 * MIB, used(test, 0));
    EXPECT("free memory", 0, CUDA(cuMemGetInfo_v2, &available, &total));
    EXPECT("as NVML has it", (int64_t)7168 * MIB - used(test, 0), available);
    EXPECT("total", (int64_t)7168 * MIB, total);
    EXPECT("too much", 2, CUDA(cuMemAlloc_v2, &other, available + 1));
    EXPECT("all that is left", 0, CUDA(cuMemAlloc_v2, &other, available));
    EXPECT("nothing left", 2, CUDA(cuMemAlloc_v2, &one, (size_t)1));
    EXPECT("free", 0, CUDA(cuMemFree_v2, other));
    EXPECT("twice", 1, CUDA(cuMemFree_v2, other));
    test->table->gpu[0].mem_used = (int64_t)6000 * MIB;
    EXPECT("the scenario takes memory", 2, CUDA(cuMemAlloc_v2, &other, (size_t)100 * MIB));
    test->table->gpu[0].mem_used = 0;
    EXPECT("released", 0, CUDA(cuDevicePrimaryCtxRelease_v2, 0));
    EXPECT("all is free", 0, used(test, 0));
    EXPECT("not listed", -1, listed(test, 0, getpid()));
    EXPECT("no context", 201, CUDA(cuMemFree_v2, one));
}

/* Before this process calls cuInit, so that the child can. */
int hold_in_child(const test_t *test, int device, uint64_t bytes, int *result)
{
    int channel[2], pid;
    if (pipe(channel) != 0 || (pid = fork()) < 0) {
        *result = -1;
        return -1;
    }
    if (pid == 0) {
        void *context;
        CUdeviceptr address;
        int code = (int)CUDA(cuInit, 0);
        code = code ? code : (int)CUDA(cuDevicePrimaryCtxRetain, &context, device);
        code = code ? code : (int)CUDA(cuCtxSetCurrent, context);
        code = code ? code : (int)CUDA(cuMemAlloc_v2, &address, bytes);
        /* A child of its own outlives it, must not keep its memory, and reports once it has dropped that. */
        int last = code ? 0 : fork();
        ssize_t written = last == 0 ? write(channel[1], &code, sizeof code) : 1;
        for (alarm(last == 0 && code == 0 ? 3 : 60); written > 0;) {
            pause();
        }
        _exit(1);
    }
    close(channel[1]);
    *result = -1;
    ssize_t got = read(channel[0], result, sizeof *result);
    EXPECT("the child's report", sizeof *result, got);
    close(channel[0]);
    return pid;
}

static void end_child(int pid)
{
    int status;
    kill(pid, SIGKILL);
    EXPECT("the child ends", pid, waitpid(pid, &status, 0));
}

void test_cuda_processes(test_t *test)
{
    int result, first, second;
    void *context;
    begin(test);
    begin_cuda(test);
    first = hold_in_child(test, 1, (uint64_t)4000 * MIB, &result);
    EXPECT("first process", 0, result);
    EXPECT("held by it", CONTEXT + (int64_t)4000 * MIB, used(test, 1));
    EXPECT("listed", CONTEXT + (int64_t)4000 * MIB, listed(test, 1, first));
    second = hold_in_child(test, 1, (uint64_t)4000 * MIB, &result);
    EXPECT("no room for the second", 2, result);
    EXPECT("its context", CONTEXT, listed(test, 1, second));
    end_child(second);
    EXPECT("one left", CONTEXT + (int64_t)4000 * MIB, used(test, 1));
    test->table->gpu[1].compute_mode = 3;
    CUDA(cuInit, 0);
    EXPECT("exclusive", 46, CUDA(cuDevicePrimaryCtxRetain, &context, 1));
    end_child(first);
    EXPECT("freed by its end", 0, used(test, 1));
    EXPECT("not listed", -1, listed(test, 1, first));
    EXPECT("available again", 0, CUDA(cuDevicePrimaryCtxRetain, &context, 1));
    EXPECT("in a row of the dead", 2, test->table->header->cuda_client_count);
    test->table->gpu[0].compute_mode = 2;
    EXPECT("prohibited", 46, CUDA(cuDevicePrimaryCtxRetain, &context, 0));
}

/* The first MIG device of GPU 0, of 2 GiB. */
void test_cuda_mig(test_t *test)
{
    sim_gpu_t *gpu = &test->table->gpu[0];
    nvmlDevice_t device;
    nvmlMemory_t memory;
    nvmlProcessInfo_v2_t list[4];
    unsigned count = 4;
    CUdeviceptr address;
    begin_cuda(test);
    gpu->mig_current = 1;
    for (int i = 0; i < 2; i++) {
        gpu->mig[i].present = 1;
        gpu->mig[i].gi = 3 + i;
        gpu->mig[i].mem_total = (int64_t)2048 * MIB;
    }
    begin(test);
    use_cuda(test, 0);
    EXPECT("more than the MIG device has", 2, CUDA(cuMemAlloc_v2, &address, (size_t)2000 * MIB));
    EXPECT("as much as it has", 0, CUDA(cuMemAlloc_v2, &address, (size_t)1792 * MIB));
    EXPECT("of the GPU", (int64_t)2048 * MIB, used(test, 0));
    for (unsigned i = 0; i < 2; i++) {
        CALL(nvmlDeviceGetMigDeviceHandleByIndex, test->gpu, i, &device);
        EXPECT("MIG device", 0, CALL(nvmlDeviceGetMemoryInfo, device, &memory));
        EXPECT("only the first", i == 0 ? (int64_t)2048 * MIB : 0, memory.used);
    }
    EXPECT("list", 0, CALL(nvmlDeviceGetComputeRunningProcesses_v2, test->gpu, &count, list));
    EXPECT("one", 1, count);
    EXPECT("in its instance", 3, list[0].gpuInstanceId);
}

/* In a child: takes blocks of GPU 0 until it is full, once the parent has written to `go`. */
static void fill_gpu(const test_t *test, int block, const int *go, int report)
{
    CUdeviceptr address;
    void *context;
    int taken = 0;
    char byte;
    CUDA(cuInit, 0);
    CUDA(cuDevicePrimaryCtxRetain, &context, 0);
    CUDA(cuCtxSetCurrent, context);
    bool goes_on = write(report, &taken, sizeof taken) > 0 && read(go[0], &byte, 1) == 1;
    while (goes_on && CUDA(cuMemAlloc_v2, &address, (size_t)block) == 0) {
        taken++;
    }
    goes_on = write(report, &taken, sizeof taken) > 0;
    for (alarm(60); goes_on;) {
        pause();
    }
    _exit(1);
}

/* Four processes share what is there: together they get all that fits, and no more. */
void test_cuda_race(test_t *test)
{
    enum { PROCESSES = 4, BLOCK = 64 * MIB };
    int go[2], report[2], pids[PROCESSES], taken, sum = 0;
    begin(test);
    begin_cuda(test);
    EXPECT("pipes", 0, pipe(go) + pipe(report));
    for (int i = 0; i < PROCESSES; i++) {
        if ((pids[i] = fork()) == 0) {
            fill_gpu(test, BLOCK, go, report[1]);
        }
        EXPECT("ready", sizeof taken, read(report[0], &taken, sizeof taken));
    }
    EXPECT("go", PROCESSES, write(go[1], "1234", PROCESSES));
    for (int i = 0; i < PROCESSES; i++) {
        EXPECT("report", sizeof taken, read(report[0], &taken, sizeof taken));
        sum += taken;
    }
    EXPECT("blocks of all", (7168 - PROCESSES * (CONTEXT / MIB)) / 64, sum);
    EXPECT("all in use", (int64_t)7168 * MIB, used(test, 0));
    for (int i = 0; i < PROCESSES; i++) {
        end_child(pids[i]);
    }
    EXPECT("all free", 0, used(test, 0));
    for (int i = 0; i < 2; i++) {
        close(go[i]);
        close(report[i]);
    }
}
