/* libcuda: planned faults, GPUs that fail, and processes that fork. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_mirror.h"
#include "selftest.h"

static void *release(void *argument)
{
    sim_fault_t *fault = argument;
    for (int i = 0; i < 2000 && __atomic_load_n(&fault->waiting, __ATOMIC_ACQUIRE) == 0; i++) {
        usleep(1000);
    }
    __atomic_store_n(&fault->mode, SIM_FAULT_OFF, __ATOMIC_RELEASE);
    return NULL;
}

void test_cuda_faults(test_t *test)
{
    sim_fault_t *fault = &test->table->fault[5];
    CUdeviceptr address;
    size_t available, total;
    pthread_t thread;
    const char *name;
    int number;
    begin_cuda(test);
    use_cuda(test, 0);
    *fault = (sim_fault_t){.mode = SIM_FAULT_ERROR, .function = FN_cuMemAlloc_v2, .code = 2};
    EXPECT("planned error", 2, CUDA(cuMemAlloc_v2, &address, (size_t)MIB));
    EXPECT("counted", 1, fault->hits);
    fault->gpu = 1;
    EXPECT("of another GPU", 0, CUDA(cuMemAlloc_v2, &address, (size_t)MIB));
    *fault = (sim_fault_t){.mode = SIM_FAULT_ERROR, .function = SIM_ALL, .code = 15};
    EXPECT("a code of NVML's", 999, CUDA(cuMemGetInfo_v2, &available, &total));
    fault->gpu = SIM_ALL;
    EXPECT("not for the name of an error", 0, CUDA(cuGetErrorName, 2, &name));
    *fault = (sim_fault_t){.mode = SIM_FAULT_HANG, .function = FN_cuCtxSynchronize};
    pthread_create(&thread, NULL, release, fault);
    EXPECT("hang, released", 0, CUDA(cuCtxSynchronize));
    EXPECT("by the table", SIM_FAULT_OFF, fault->mode);
    pthread_join(thread, NULL);
    *fault = (sim_fault_t){.mode = SIM_FAULT_ERROR, .function = FN_cuMemsetD8_v2, .code = 220};
    EXPECT("NVLink error", 220, CUDA(cuMemsetD8_v2, address, 0, (size_t)1));
    fault->mode = SIM_FAULT_OFF;
    EXPECT("stays", 220, CUDA(cuMemGetInfo_v2, &available, &total));
    EXPECT("until the process ends", 0, CUDA(cuDevicePrimaryCtxRelease_v2, 0));
    void *context;
    EXPECT("also for a new context", 220, CUDA(cuDevicePrimaryCtxRetain, &context, 0));
    EXPECT("not for its identity", 0, CUDA(cuDeviceGetAttribute, &number, 16, 0));
}

static void *lose(void *argument)
{
    usleep(30000);
    ((sim_gpu_t *)argument)->state = SIM_STATE_LOST;
    return NULL;
}

void test_cuda_failures(test_t *test)
{
    sim_gpu_t *gpu = test->table->gpu;
    CUdeviceptr address;
    void *context, *second, *host = calloc(1, MIB);
    pthread_t thread;
    begin_cuda(test);
    gpu[0].fabric_state = 2;
    CUDA(cuInit, 0);
    EXPECT("fabric in progress", 802, CUDA(cuDevicePrimaryCtxRetain, &context, 0));
    gpu[0].fabric_state = 3;
    second = use_cuda(test, 1);
    use_cuda(test, 0);
    CUDA(cuMemAlloc_v2, &address, (size_t)MIB);
    gpu[0].cuda_result = 802;
    EXPECT("a passing error", 802, CUDA(cuCtxSynchronize));
    gpu[0].cuda_result = 0;
    EXPECT("has passed", 0, CUDA(cuCtxSynchronize));
    gpu[0].copy_to_device_mbps = 1; /* one second */
    pthread_create(&thread, NULL, lose, &gpu[0]);
    EXPECT("lost during a copy", 999, CUDA(cuMemcpyHtoD_v2, address, host, (size_t)MIB));
    pthread_join(thread, NULL);
    EXPECT("a copy then", 999, CUDA(cuMemcpyDtoH_v2, host, address, (size_t)MIB));
    gpu[0].state = SIM_STATE_OK;
    EXPECT("although it is back", 999, CUDA(cuCtxSynchronize));
    CUDA(cuCtxSetCurrent, second);
    EXPECT("the other works", 0, CUDA(cuMemAlloc_v2, &address, (size_t)MIB));
    gpu[1].cuda_result = 214;
    EXPECT("ECC", 214, CUDA(cuMemcpyHtoD_v2, address, host, (size_t)1));
    gpu[1].cuda_result = 0;
    EXPECT("stays", 214, CUDA(cuMemcpyHtoD_v2, address, host, (size_t)1));
    free(host);
}

void test_cuda_fork(test_t *test)
{
    int status = 0, count = 0;
    CUdeviceptr address;
    begin(test);
    begin_cuda(test);
    use_cuda(test, 0);
    CUDA(cuMemAlloc_v2, &address, (size_t)MIB);
    pid_t pid = fork();
    if (pid == 0) {
        _exit(CUDA(cuInit, 0) == 3 && CUDA(cuDeviceGetCount, &count) == 3
                      && CUDA(cuMemFree_v2, address) == 3
                  ? 0
                  : 1);
    }
    waitpid(pid, &status, 0);
    EXPECT("every call in the child returns 3", 0, status);
    EXPECT("the parent goes on", 0, CUDA(cuMemFree_v2, address));
}

void test_cuda_modules(test_t *test)
{
    CUmodule module;
    CUfunction function;
    static const char good[] = "// made by hand\n.version 8.4\n.target sm_90\n.address_size 64\n"
                               ".visible .entry nothing(\n)\n{\nret;\n}\n";
    begin_cuda(test);
    use_cuda(test, 0);
    EXPECT("PTX", 0, CUDA(cuModuleLoadData, &module, good));
    EXPECT("a kernel that is not here", 500, CUDA(cuModuleGetFunction, &function, module, "nothing"));
    EXPECT("unloaded", 0, CUDA(cuModuleUnload, module));
    EXPECT("twice", 400, CUDA(cuModuleUnload, module));
    EXPECT("no PTX", 218, CUDA(cuModuleLoadData, &module, "int main;"));
    EXPECT("of a newer driver", 222, CUDA(cuModuleLoadData, &module, ".version 8.5\n.target sm_90\n"));
    EXPECT("of a newer GPU", 209, CUDA(cuModuleLoadData, &module, ".version 8.4\n.target sm_100\n"));
    EXPECT("compiled", 209, CUDA(cuModuleLoadData, &module, "\177ELF"));
    EXPECT("no function", 400, CUDA(cuLaunchKernel, (void *)good, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}
