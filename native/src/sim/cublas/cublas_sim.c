/*
 * A libcublas.so.12 for simulated nodes, as far as gpuwarden calls it: products in FP64 by gpuwarden's own kernel, which the libcuda.so.1
 * beside it runs. Numbers are those of cublas_api.h 11.11 and 12.9. Compared with the real 11.11.3: names, version, and the result of
 * cublasCreate_v2 without a driver.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "cuda_mirror.h"

#define EXPORT __attribute__((visibility("default")))

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_NOT_SUPPORTED = 15
} cublas_status_t;

/* CUDA 12 needs a driver of CUDA 12. */
enum { MAJOR = 12, MINOR = 9, PATCH = 1, DRIVER = 12000 };

typedef struct {
    CUmodule module;
    CUfunction kernel;
    CUstream stream;
} handle_t;

typedef struct {
    CUresult (*version)(int *version);
    CUresult (*load)(CUmodule *module, const void *image);
    CUresult (*unload)(CUmodule module);
    CUresult (*function)(CUfunction *function, CUmodule module, const char *name);
    CUresult (*launch)(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                       CUstream stream, void **args, void **extra);
} driver_t;

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry dgemm(\n";

static driver_t driver;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_driver(void)
{
    Dl_info self;
    char path[PATH_MAX];
    void *library = NULL;
    if (dladdr(&driver, &self) != 0 && self.dli_fname && strrchr(self.dli_fname, '/')) {
        int folder = (int)(strrchr(self.dli_fname, '/') - self.dli_fname);
        int length = snprintf(path, sizeof path, "%.*s/libcuda.so.1", folder, self.dli_fname);
        library = length > 0 && length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    }
    library = library ? library : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library) {
        *(void **)&driver.version = dlsym(library, "cuDriverGetVersion");
        *(void **)&driver.load = dlsym(library, "cuModuleLoadData");
        *(void **)&driver.unload = dlsym(library, "cuModuleUnload");
        *(void **)&driver.function = dlsym(library, "cuModuleGetFunction");
        *(void **)&driver.launch = dlsym(library, "cuLaunchKernel");
    }
}

EXPORT cublas_status_t cublasGetProperty(int part, int *value)
{
    static const int parts[] = {MAJOR, MINOR, PATCH};
    if (part < 0 || part > 2 || !value) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    *value = parts[part];
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublas_status_t cublasCreate_v2(handle_t **out)
{
    int version = 0;
    pthread_once(&once, open_driver);
    if (!out) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (!driver.launch || driver.version(&version) != CUDA_SUCCESS || version < DRIVER) {
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    handle_t *handle = calloc(1, sizeof *handle);
    if (!handle) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    if (driver.load(&handle->module, ptx) != CUDA_SUCCESS
        || driver.function(&handle->kernel, handle->module, "dgemm") != CUDA_SUCCESS) {
        free(handle);
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    *out = handle;
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublas_status_t cublasDestroy_v2(handle_t *handle)
{
    if (!handle) {
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    driver.unload(handle->module);
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublas_status_t cublasSetStream_v2(handle_t *handle, CUstream stream)
{
    if (!handle) {
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

/* Columns are in a row here, and rows in the kernel: the product of the second factor's rows with the first's is the same memory. */
EXPORT cublas_status_t cublasDgemm_v2(handle_t *handle, int transposed_a, int transposed_b, int m, int n, int k, const double *alpha,
                                      const double *a, int lda, const double *b, int ldb, const double *beta, double *c, int ldc)
{
    if (!handle) {
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    if (!alpha || !beta || m < 0 || n < 0 || k < 0 || lda < m || ldb < k || ldc < m) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (transposed_a || transposed_b || m != n || n != k || lda != n || ldb != n || ldc != n || n % (int)DGEMM_TILE || *alpha != 1
        || *beta != 0) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    dgemm_args arguments = {b, a, c, (u64)n, NULL};
    void *list[] = {&arguments};
    unsigned tiles = (unsigned)n / DGEMM_TILE;
    return driver.launch(handle->kernel, tiles * tiles, 1, 1, KERNEL_THREADS, 1, 1, 0, handle->stream, list, NULL) == CUDA_SUCCESS
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_EXECUTION_FAILED;
}
