/* The attributes of a device that a client needs. One that is not served is an invalid value. */
#include "cuda_sim.h"

/* CUDA programming guide, technical specifications by compute capability: 64 cores each for 7.x and 8.0, 128 for later ones. */
static int64_t multiprocessors(const cu_call_t *call, const sim_gpu_t *gpu)
{
    if (call->context->mig != SIM_ALL) {
        return gpu->mig[call->context->mig].multiprocessors;
    }
    bool small = gpu->cuda_major < 8 || (gpu->cuda_major == 8 && gpu->cuda_minor == 0);
    return gpu->cores == SIM_NA ? SIM_NA : gpu->cores / (small ? 64 : 128);
}

unsigned cu_multiprocessors(const cu_call_t *call)
{
    int64_t count = multiprocessors(call, cu_gpu(call));
    return count > 0 ? (unsigned)count : 1;
}

/* The same guide: 1024 threads for 7.5, 1536 for 8.6 to 8.9 and 12.x, 2048 for the others. */
static int64_t threads(const sim_gpu_t *gpu)
{
    bool middle = (gpu->cuda_major == 8 && gpu->cuda_minor != 0) || gpu->cuda_major == 12;
    return gpu->cuda_major == 7 && gpu->cuda_minor == 5 ? 1024 : middle ? 1536 : 2048;
}

static int64_t kilohertz(int64_t megahertz)
{
    return megahertz == SIM_NA ? SIM_NA : megahertz * 1000;
}

static int64_t or_zero(int64_t value)
{
    return value == SIM_NA ? 0 : value;
}

/* Here NA: the number is none that is served. */
static int64_t attribute(const cu_call_t *call, int number)
{
    const sim_gpu_t *gpu = cu_gpu(call);
    switch (number) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return INT32_MAX;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return or_zero(kilohertz(gpu->clock_max[1]));
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP: return 1;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return or_zero(multiprocessors(call, gpu));
    case CU_DEVICE_ATTRIBUTE_INTEGRATED: return 0;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY: return 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE: return or_zero(gpu->compute_mode);
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS: return 1;
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED: return gpu->ecc_current == 1;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: return gpu->pci_bus;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID: return gpu->pci_device;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID: return gpu->pci_domain;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return or_zero(kilohertz(gpu->clock_max[2]));
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return or_zero(gpu->bus_width);
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return threads(gpu);
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return 2; /* one for each direction: cu_engine_t */
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: return 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return or_zero(gpu->cuda_major);
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return gpu->cuda_minor;
    case CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD: return gpu->multi_gpu_board;
    default: return SIM_NA;
    }
}

CU_OF_DEVICE(cuDeviceGetAttribute, (int *value, int number, CUdevice device), (value, number, device))
{
    (void)device;
    if (!call->context) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    int64_t found = attribute(call, number);
    CU_NEED(value && found != SIM_NA)
    *value = (int)found;
    return CUDA_SUCCESS;
}
