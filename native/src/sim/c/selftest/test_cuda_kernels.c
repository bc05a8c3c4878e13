/* libcuda: launches run the kernels that ship, on memory of the device. */
#include <string.h>

#include "arguments.h"
#include "cuda_mirror.h"
#include "selftest.h"

static const char ptx[] = ".version 7.8\n.target sm_75\n.visible .entry daxpy_fill(\n.visible .entry daxpy(\n"
                          ".visible .entry daxpy_verify(\n";

enum { COUNT = 100000, PER_BLOCK = 4096, BLOCKS = (COUNT + PER_BLOCK - 1) / PER_BLOCK, FLIPPED = 70001 };

static CUresult launch(const test_t *test, CUmodule module, const char *name, unsigned threads, void *argument)
{
    CUfunction function = NULL;
    void *arguments[] = {argument};
    EXPECT(name, 0, CUDA(cuModuleGetFunction, &function, module, name));
    return CUDA(cuLaunchKernel, function, BLOCKS, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL);
}

static report_t verified(const test_t *test, CUmodule module, daxpy_verify_args *verify)
{
    report_t report = {.first = ~0ULL};
    CUdeviceptr at = (CUdeviceptr)verify->report;
    CUDA(cuMemcpyHtoD_v2, at, &report, sizeof report);
    EXPECT("verify", 0, launch(test, module, "daxpy_verify", KERNEL_THREADS, verify));
    CUDA(cuMemcpyDtoH_v2, &report, at, sizeof report);
    return report;
}

/* y of the seed after one round. */
static report_t added(const test_t *test, CUmodule module, daxpy_fill_args *fill, daxpy_args *add, daxpy_verify_args *verify)
{
    EXPECT("fill", 0, launch(test, module, "daxpy_fill", KERNEL_THREADS, fill));
    EXPECT("add", 0, launch(test, module, "daxpy", KERNEL_THREADS, add));
    return verified(test, module, verify);
}

static void test_wrong(const test_t *test, CUmodule module, daxpy_fill_args *fill, daxpy_args *add, daxpy_verify_args *verify)
{
    enum { SM = 3 };
    static const u64 most[] = {0, 1, 1, 16, BLOCKS * PER_BLOCK / 32, 1, 1};
    sim_gpu_t *gpu = &test->table->gpu[0];
    gpu->wrong_sm = SM;
    strcpy(gpu->wrong_kernel, "daxpy");
    for (int pattern = SIM_WRONG_BIT; pattern <= SIM_WRONG_NEIGHBOUR; pattern++) {
        gpu->wrong_pattern = pattern;
        report_t seen = added(test, module, fill, add, verify);
        u64 bits = seen.kept[0].expected ^ seen.kept[0].seen;
        EXPECT("some are wrong", 1, seen.wrong > 0 && seen.wrong <= most[pattern]);
        EXPECT("all of one SM", seen.wrong, seen.wrong_of_sm[SM]);
        EXPECT("bits", 1, pattern == SIM_WRONG_BIT    ? __builtin_popcountll(bits) == 1
                          : pattern == SIM_WRONG_BITS ? __builtin_popcountll(bits) == 3
                          : pattern == SIM_WRONG_NAN  ? seen.kept[0].seen == 0x7ff8000000000000u
                          : pattern == SIM_WRONG_LANE ? bits == 1ull << 51 && seen.first % 32 == 5
                                                      : bits != 0);
    }
    gpu->wrong_pattern = SIM_WRONG_BIT;
    gpu->wrong_times = 1;
    EXPECT("once", 1, added(test, module, fill, add, verify).wrong);
    EXPECT("not twice", 0, added(test, module, fill, add, verify).wrong);
    gpu->wrong_times = SIM_NA;
    gpu->wrong_launches = 0;
    gpu->wrong_each = 2;
    EXPECT("first of two", 0, added(test, module, fill, add, verify).wrong);
    EXPECT("second of two", 1, added(test, module, fill, add, verify).wrong);
    gpu->wrong_each = 1;
    gpu->wrong_above = gpu->temp_gpu;
    EXPECT("cold", 0, added(test, module, fill, add, verify).wrong);
    gpu->wrong_above--;
    EXPECT("hot", 1, added(test, module, fill, add, verify).wrong);
    gpu->wrong_sm = BLOCKS;
    EXPECT("an SM without a block", 0, added(test, module, fill, add, verify).wrong);
    gpu->wrong_sm = SIM_NA;
    strcpy(gpu->wrong_kernel, "daxpy_fill");
    EXPECT("another kernel, any SM", 1, added(test, module, fill, add, verify).wrong);
    gpu->wrong_pattern = SIM_WRONG_NONE;
}

/* Milliseconds of a round, whose memory or arithmetic the table makes slow. */
static void test_time(const test_t *test, CUmodule module, daxpy_args *add)
{
    sim_gpu_t *gpu = &test->table->gpu[0];
    CUevent begin, end;
    float milliseconds = 0;
    CUDA(cuEventCreate, &begin, 0);
    CUDA(cuEventCreate, &end, 0);
    for (int i = 0; i < 2; i++) {
        gpu->copy_memory_mbps = i == 0 ? 1000 : SIM_NA; /* 24 bytes of each element, at 2 GB/s */
        gpu->fp64_gflops = i == 0 ? SIM_NA : 1;         /* 2 operations */
        CUDA(cuEventRecord, begin, NULL);
        EXPECT("add", 0, launch(test, module, "daxpy", KERNEL_THREADS, add));
        CUDA(cuEventRecord, end, NULL);
        EXPECT("end", 0, CUDA(cuEventSynchronize, end));
        CUDA(cuEventElapsedTime, &milliseconds, begin, end);
        EXPECT("microseconds", (i == 0 ? COUNT * 24 / 2000 : COUNT * 2 / 1000) + 5, (int)(milliseconds * 1000 + 0.5f));
    }
    gpu->fp64_gflops = SIM_NA;
}

void test_cuda_kernels(test_t *test)
{
    CUmodule module = NULL;
    CUdeviceptr x, y, sm, report;
    begin_cuda(test);
    use_cuda(test, 0);
    CUDA(cuMemAlloc_v2, &x, sizeof(double) * COUNT);
    CUDA(cuMemAlloc_v2, &y, sizeof(double) * COUNT);
    CUDA(cuMemAlloc_v2, &sm, sizeof(u64) * BLOCKS);
    CUDA(cuMemAlloc_v2, &report, sizeof(report_t));
    EXPECT("module", 0, CUDA(cuModuleLoadData, &module, ptx));
    daxpy_fill_args fill = {.x = (double *)x, .y = (double *)y, .count = COUNT, .per_block = PER_BLOCK, .seed = 7};
    daxpy_args add = {.factor = 3, .x = (double *)x, .y = (double *)y, .count = COUNT, .per_block = PER_BLOCK, .sm = (u64 *)sm};
    daxpy_verify_args verify = {.y = (double *)y, .count = COUNT, .per_block = PER_BLOCK, .seed = 7, .rounds = 1,
                                .factor = 3, .writers = {(u64 *)sm, PER_BLOCK, PER_BLOCK, 1}, .report = (report_t *)report};
    EXPECT("nothing wrong", 0, added(test, module, &fill, &add, &verify).wrong);
    CUDA(cuMemsetD8_v2, y + sizeof(double) * FLIPPED + 6, 0x55, (size_t)1);
    report_t seen = verified(test, module, &verify);
    EXPECT("one wrong", 1, seen.wrong);
    EXPECT("element", FLIPPED, seen.first);
    EXPECT("SM of its block", FLIPPED / PER_BLOCK, seen.kept[0].writer_sm);
    EXPECT("too many threads", 701, launch(test, module, "daxpy", 2 * KERNEL_THREADS, &add));
    test_wrong(test, module, &fill, &add, &verify);
    test_time(test, module, &add);
}
