/* libcuda: devices, and which of them a process sees. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_mirror.h"
#include "selftest.h"

static CUresult absent()
{
    return CUDA_ERROR_NOT_FOUND;
}

call_t find_cuda(const test_t *test, const char *name)
{
    void *address = dlsym(test->cuda, name);
    call_t call = (call_t)absent;
    if (address) {
        memcpy(&call, &address, sizeof call);
    }
    return call;
}

void begin_cuda(test_t *test)
{
    test->table->header->cuda_version = 12040;
    for (int g = 0; g < 2; g++) {
        sim_gpu_t *gpu = &test->table->gpu[g];
        gpu->mem_total = (int64_t)8192 * MIB;
        gpu->mem_reserved = 1024 * MIB;
        gpu->mem_used = 0;
        gpu->cuda_context_bytes = CONTEXT;
        gpu->cuda_major = 9;
        gpu->cores = 16896;
        gpu->pcie_gen = 4;
        gpu->pcie_width = 16;
        gpu->compute_mode = 0;
    }
    test->cuda = dlopen(test->cuda_path, RTLD_NOW | RTLD_LOCAL);
    EXPECT(test->cuda_path, 1, test->cuda != NULL);
}

void *use_cuda(const test_t *test, int device)
{
    void *context = NULL;
    EXPECT("cuInit", 0, CUDA(cuInit, 0));
    EXPECT("primary context", 0, CUDA(cuDevicePrimaryCtxRetain, &context, device));
    EXPECT("made current", 0, CUDA(cuCtxSetCurrent, context));
    return context;
}

static void test_symbols_of_cuda(const test_t *test)
{
    void *address = NULL;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
#define EXPORTED(name)                                                                     \
    if (strncmp(#name, "cu", 2) == 0) {                                                  \
        EXPECT(#name, 1, dlsym(test->cuda, #name) != NULL);                                \
    }
    SIM_FUNCTIONS(EXPORTED)
    EXPECT("newest by plain name", 0,
           CUDA(cuGetProcAddress, "cuMemAlloc", &address, 12040, (uint64_t)0));
    EXPECT("is _v2", 1, address == dlsym(test->cuda, "cuMemAlloc_v2"));
    EXPECT("unknown name", 500,
           CUDA(cuGetProcAddress_v2, "cuNothing", &address, 12040, (uint64_t)0, &status));
    EXPECT("status", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, status);
    EXPECT("NVML is elsewhere", 500, CUDA(cuGetProcAddress, "nvmlInit", &address, 12040, (uint64_t)0));
}

void test_cuda_devices(test_t *test)
{
    int number = -1, device = -1;
    char text[96];
    CUuuid uuid;
    size_t bytes;
    const char *name = NULL;
    begin_cuda(test);
    test_symbols_of_cuda(test);
    EXPECT("version before init", 0, CUDA(cuDriverGetVersion, &number));
    EXPECT("of the table", 12040, number);
    EXPECT("before init", 3, CUDA(cuDeviceGetCount, &number));
    EXPECT("flags", 1, CUDA(cuInit, 1));
    EXPECT("init", 0, CUDA(cuInit, 0));
    EXPECT("count", 0, CUDA(cuDeviceGetCount, &number));
    EXPECT("two", 2, number);
    EXPECT("device", 0, CUDA(cuDeviceGet, &device, 1));
    EXPECT("no such device", 101, CUDA(cuDeviceGet, &device, 2));
    CUDA(cuDeviceGetName, text, 10, 1);
    EXPECT("name, cut", 0, strcmp(text, "Simulated"));
    CUDA(cuDeviceGetUuid_v2, &uuid, 1);
    EXPECT("UUID", 1, uuid.bytes[15]);
    CUDA(cuDeviceGetPCIBusId, text, 96, 1);
    EXPECT("address", 0, strcmp(text, "0000:1C:00.0"));
    EXPECT("by address", 0, CUDA(cuDeviceGetByPCIBusId, &device, "0:1b:0.0"));
    EXPECT("the first", 0, device);
    CUDA(cuDeviceTotalMem_v2, &bytes, 0);
    EXPECT("memory without what is reserved", (int64_t)7168 * MIB, bytes);
    EXPECT("attribute", 0, CUDA(cuDeviceGetAttribute, &number, 16, 0));
    EXPECT("multiprocessors", 132, number);
    EXPECT("attribute that is none", 1, CUDA(cuDeviceGetAttribute, &number, 9999, 0));
    CUDA(cuDeviceCanAccessPeer, &number, 0, 1);
    EXPECT("peers", 1, number);
    CUDA(cuDeviceCanAccessPeer, &number, 0, 0);
    EXPECT("itself", 0, number);
    EXPECT("name of an error", 0, CUDA(cuGetErrorName, 700, &name));
    EXPECT("is", 0, name ? strcmp(name, "CUDA_ERROR_ILLEGAL_ADDRESS") : 1);
    EXPECT("no error", 1, CUDA(cuGetErrorName, 12345, &name));
}

/* Reopens the library, so that it reads the variable again; the number of devices, or -1 - the error. */
static int count_of(test_t *test, const char *visible)
{
    int count = 0;
    setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    dlclose(test->cuda);
    test->cuda = dlopen(test->cuda_path, RTLD_NOW | RTLD_LOCAL);
    CUresult result = (CUresult)CUDA(cuInit, 0);
    CUDA(cuDeviceGetCount, &count);
    unsetenv("CUDA_VISIBLE_DEVICES");
    return result == CUDA_SUCCESS ? count : -1 - (int)result;
}

static int first_bus(const test_t *test)
{
    int bus = 0;
    CUDA(cuDeviceGetAttribute, &bus, 33, 0);
    return bus;
}

void test_cuda_visible(test_t *test)
{
    CUuuid uuid;
    size_t bytes = 0;
    begin_cuda(test);
    EXPECT("none", -101, count_of(test, ""));
    EXPECT("one", 1, count_of(test, "1"));
    EXPECT("the second", 0x1c, first_bus(test));
    EXPECT("other order", 2, count_of(test, "1,0"));
    EXPECT("second first", 0x1c, first_bus(test));
    EXPECT("by UUID", 1, count_of(test, "GPU-00000000-0000-0000-0000-000000000001"));
    EXPECT("the second", 0x1c, first_bus(test));
    EXPECT("a beginning of two", -101, count_of(test, "GPU-0000"));
    EXPECT("up to the first wrong one", 1, count_of(test, "0,7,1"));
    EXPECT("wrong from the start", -101, count_of(test, "-1,0"));
    EXPECT("repeated", 1, count_of(test, "0,0"));
    sim_gpu_t *gpu = &test->table->gpu[0];
    gpu->mig_current = 1;
    EXPECT("MIG mode without a MIG device", 1, count_of(test, "0,1"));
    for (int i = 2; i < 4; i++) {
        gpu->mig[i].present = 1;
        gpu->mig[i].mem_total = (1 + i) * 100 * MIB;
        snprintf(gpu->mig[i].uuid, sizeof gpu->mig[i].uuid, "MIG-00000000-0000-0000-0000-0000000000%d", 70 + i);
    }
    EXPECT("the first MIG device", 2, count_of(test, "0,1"));
    CUDA(cuDeviceTotalMem_v2, &bytes, 0);
    EXPECT("its memory", 300 * MIB, bytes);
    EXPECT("another MIG device", 1, count_of(test, gpu->mig[3].uuid));
    CUDA(cuDeviceGetUuid_v2, &uuid, 0);
    EXPECT("its UUID", 0x73, uuid.bytes[15]);
    CUDA(cuDeviceGetUuid, &uuid, 0);
    EXPECT("the GPU's", 0, uuid.bytes[15]);
    test->table->header->init_result = 9;
    EXPECT("no driver", -101, count_of(test, "0"));
}
