/* The way to libcuda. Its own file is beside this one on a simulated node; the loader's search comes second. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "nccl_sim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const cuda_shared_t *opened;

static void *open_library(void)
{
    Dl_info self;
    char path[PATH_MAX];
    void *library = NULL;
    if (dladdr(&opened, &self) != 0 && self.dli_fname && strrchr(self.dli_fname, '/')) {
        int folder = (int)(strrchr(self.dli_fname, '/') - self.dli_fname);
        int length = snprintf(path, sizeof path, "%.*s/libcuda.so.1", folder, self.dli_fname);
        library = length > 0 && length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    }
    return library ? library : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

typedef CUresult (*get_table_t)(const void **table, const CUuuid *id);

static const cuda_shared_t *find_table(void)
{
    void *library = open_library();
    void *address = library ? dlsym(library, "cuGetExportTable") : NULL;
    CUuuid id = CUDA_SHARED_ID;
    const void *table = NULL;
    get_table_t get;
    if (!address) {
        return NULL;
    }
    memcpy(&get, &address, sizeof get);
    if (get(&table, &id) != CUDA_SUCCESS) {
        return NULL;
    }
    const cuda_shared_t *found = table;
    return found->size == sizeof *found ? found : NULL;
}

/* Without libcuda the CUDA runtime inside the real library reports an old driver. */
ncclResult_t nc_cuda(const cuda_shared_t **cuda)
{
    pthread_mutex_lock(&lock);
    opened = opened ? opened : find_table();
    *cuda = opened;
    pthread_mutex_unlock(&lock);
    return *cuda ? ncclSuccess
                 : nc_fail(ncclUnhandledCudaError, "Cuda failure '%s'",
                           "CUDA driver version is insufficient for CUDA runtime version");
}

/* The CUDA runtime's words, which differ from those of the driver. */
static const char *text_of(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_INVALID_VALUE: return "invalid argument";
    case CUDA_ERROR_OUT_OF_MEMORY: return "out of memory";
    case CUDA_ERROR_NOT_INITIALIZED: return "initialization error";
    case CUDA_ERROR_DEVICE_UNAVAILABLE: return "CUDA-capable device(s) is/are busy or unavailable";
    case CUDA_ERROR_NO_DEVICE: return "no CUDA-capable device is detected";
    case CUDA_ERROR_INVALID_DEVICE: return "invalid device ordinal";
    case CUDA_ERROR_INVALID_CONTEXT: return "invalid device context";
    case CUDA_ERROR_INVALID_HANDLE: return "invalid resource handle";
    case CUDA_ERROR_ECC_UNCORRECTABLE: return "uncorrectable ECC error encountered";
    case CUDA_ERROR_NVLINK_UNCORRECTABLE: return "uncorrectable NVLink error detected during the execution";
    case CUDA_ERROR_ILLEGAL_ADDRESS: return "an illegal memory access was encountered";
    case CUDA_ERROR_LAUNCH_FAILED: return "unspecified launch failure";
    case CUDA_ERROR_SYSTEM_NOT_READY: return "system not yet initialized";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "system has unsupported display driver / cuda driver combination";
    default: return "unknown error";
    }
}

ncclResult_t nc_cuda_result(CUresult result)
{
    return result == CUDA_SUCCESS ? ncclSuccess
                                  : nc_fail(ncclUnhandledCudaError, "Cuda failure '%s'", text_of(result));
}

ncclResult_t nc_place(int ordinal, cuda_place_t *place)
{
    const cuda_shared_t *cuda;
    NC_TRY(nc_cuda(&cuda));
    return nc_cuda_result(cuda->place(ordinal, place));
}
