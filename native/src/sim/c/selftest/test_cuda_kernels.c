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
    EXPECT("fill", 0, launch(test, module, "daxpy_fill", KERNEL_THREADS, &fill));
    EXPECT("add", 0, launch(test, module, "daxpy", KERNEL_THREADS, &add));
    EXPECT("nothing wrong", 0, verified(test, module, &verify).wrong);
    CUDA(cuMemsetD8_v2, y + sizeof(double) * FLIPPED + 6, 0x55, (size_t)1);
    report_t seen = verified(test, module, &verify);
    EXPECT("one wrong", 1, seen.wrong);
    EXPECT("element", FLIPPED, seen.first);
    EXPECT("SM of its block", FLIPPED / PER_BLOCK, seen.kept[0].writer_sm);
    EXPECT("too many threads", 701, launch(test, module, "daxpy", 2 * KERNEL_THREADS, &add));
}
