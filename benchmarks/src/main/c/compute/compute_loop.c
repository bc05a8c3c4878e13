/*
 * The baseline of the compute benchmarks: the same calls of libcuda by a plain C program. Usage:
 *
 *     compute_loop LIBCUDA PTX-FOLDER [LIBCUBLAS]
 *
 * Then one command per line on standard input, one line of answer each. A copy has 1 MiB of pinned memory, a DAXPY 16,384 elements.
 *
 *     trivial N | launch N | daxpy N | to-device N | to-host N | within N      N calls:     NANOSECONDS of the host, without their end
 *     hold BYTES                                                               allocates them until the program ends: "held"
 *     sync                                                                     waits:       NANOSECONDS
 *     rate to-device BYTES N | to-host | within | daxpy | dgemm                N of BYTES:  UNITS-PER-SECOND by the GPU's clock, or "none"
 *
 * Of a DAXPY BYTES are those of one vector, of a DGEMM those of one matrix. Units are bytes, and operations for DGEMM.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arguments.h"
#include "cuda_mirror.h"

enum { COPY_BYTES = 1 << 20, ELEMENTS = 1 << 14, PER_BLOCK = 1 << 14, PTX_BYTES = 1 << 20 };

#define FUNCTIONS(F)                                                                                              \
    F(cuInit, (unsigned))                                                                                         \
    F(cuDeviceGet, (CUdevice *, int))                                                                             \
    F(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                                          \
    F(cuCtxSetCurrent, (CUcontext))                                                                               \
    F(cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                                     \
    F(cuMemFree_v2, (CUdeviceptr))                                                                                \
    F(cuMemHostAlloc, (void **, size_t, unsigned))                                                                \
    F(cuMemFreeHost, (void *))                                                                                    \
    F(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))                                            \
    F(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream))                                        \
    F(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream))                                              \
    F(cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                                         \
    F(cuStreamCreate, (CUstream *, unsigned))                                                                     \
    F(cuStreamQuery, (CUstream))                                                                                  \
    F(cuEventCreate, (CUevent *, unsigned))                                                                       \
    F(cuEventRecord, (CUevent, CUstream))                                                                         \
    F(cuEventSynchronize, (CUevent))                                                                              \
    F(cuEventElapsedTime, (float *, CUevent, CUevent))                                                            \
    F(cuModuleLoadData, (CUmodule *, const void *))                                                               \
    F(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                                                \
    F(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **))

#define DECLARE(name, arguments) static CUresult(*name) arguments;
FUNCTIONS(DECLARE)

static int (*dgemm)(void *, int, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int);
static void *cublas;

static CUstream stream;
static CUevent begin, end;
static CUfunction daxpy;
static CUdeviceptr device, other;
static void *host;

static void fail(const char *what, int code)
{
    fprintf(stderr, "compute_loop: %s: %d\n", what, code);
    exit(1);
}

#define CHECK(call)                                \
    do {                                           \
        CUresult check_result = (call);            \
        if (check_result != CUDA_SUCCESS) {        \
            fail(#call, (int)check_result);        \
        }                                          \
    } while (0)

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "compute_loop: %s\n", dlerror());
        exit(1);
    }
#define FIND(name, arguments)                     \
    *(void **)&name = dlsym(library, #name);      \
    if (!name) {                                  \
        fail("no " #name, 0);                     \
    }
    FUNCTIONS(FIND)
}

static void open_cublas(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    int (*create)(void **) = NULL, (*set)(void *, CUstream) = NULL;
    if (library) {
        *(void **)&create = dlsym(library, "cublasCreate_v2");
        *(void **)&set = dlsym(library, "cublasSetStream_v2");
        *(void **)&dgemm = dlsym(library, "cublasDgemm_v2");
    }
    if (!create || !set || !dgemm || create(&cublas) != 0 || set(cublas, stream) != 0) {
        cublas = NULL;
    }
}

static CUfunction kernel(const char *folder, const char *file, const char *name)
{
    static char text[PTX_BYTES];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.ptx", folder, file);
    FILE *in = fopen(path, "r");
    if (!in) {
        fail(path, 0);
    }
    size_t bytes = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[bytes] = 0;
    CUmodule module;
    CUfunction function;
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&function, module, name));
    return function;
}

static void launch_daxpy(CUdeviceptr x, CUdeviceptr y, u64 count)
{
    daxpy_args arguments = {0, (const double *)(uintptr_t)x, (double *)(uintptr_t)y, count, PER_BLOCK, NULL};
    void *list[] = {&arguments};
    CHECK(cuLaunchKernel(daxpy, (unsigned)((count + PER_BLOCK - 1) / PER_BLOCK), 1, 1, KERNEL_THREADS, 1, 1, 0, stream, list, NULL));
}

static void once(const char *work, CUdeviceptr to, CUdeviceptr from, void *memory, size_t bytes)
{
    if (strcmp(work, "to-device") == 0) {
        CHECK(cuMemcpyHtoDAsync_v2(to, memory, bytes, stream));
    } else if (strcmp(work, "to-host") == 0) {
        CHECK(cuMemcpyDtoHAsync_v2(memory, from, bytes, stream));
    } else if (strcmp(work, "within") == 0) {
        CHECK(cuMemcpyDtoDAsync_v2(to, from, bytes, stream));
    } else if (strcmp(work, "daxpy") == 0) {
        launch_daxpy(from, to, bytes / sizeof(double));
    } else if (strcmp(work, "launch") == 0) {
        launch_daxpy(from, to, 1);
    } else if (strcmp(work, "dgemm") == 0) {
        static const double one = 1, zero = 0;
        int n = (int)sqrt((double)(bytes / sizeof(double)));
        int status = dgemm(cublas, 0, 0, n, n, n, &one, (double *)(uintptr_t)from, n, (double *)(uintptr_t)from, n, &zero,
                           (double *)(uintptr_t)to, n);
        if (status != 0) {
            fail("cublasDgemm_v2", status);
        }
    } else {
        fail(work, 0);
    }
}

static void synchronize(void)
{
    CHECK(cuEventRecord(end, stream));
    CHECK(cuEventSynchronize(end));
}

/* Calls of the host, each as in the binding. */
static void calls(const char *work, long count)
{
    size_t bytes = strcmp(work, "daxpy") == 0 ? ELEMENTS * sizeof(double) : COPY_BYTES;
    long long start = now_ns();
    if (strcmp(work, "trivial") == 0) {
        for (long i = 0; i < count; i++) {
            cuStreamQuery(stream);
        }
    } else {
        for (long i = 0; i < count; i++) {
            once(work, device, other, host, bytes);
        }
    }
    printf("%lld\n", now_ns() - start);
}

/* By events of the GPU. The first time is not measured: it maps memory and loads kernels. */
static void rate(const char *work, size_t bytes, long count)
{
    CUdeviceptr to, from;
    void *memory = NULL;
    float milliseconds = 0;
    double n = sqrt((double)(bytes / sizeof(double)));
    if (strcmp(work, "dgemm") == 0 && !cublas) {
        puts("none");
        return;
    }
    CHECK(cuMemAlloc_v2(&to, bytes));
    CHECK(cuMemAlloc_v2(&from, bytes));
    CHECK(cuMemsetD8Async(to, 0, bytes, stream));
    CHECK(cuMemsetD8Async(from, 0, bytes, stream));
    if (strncmp(work, "to-", 3) == 0) {
        CHECK(cuMemHostAlloc(&memory, bytes, 0));
        memset(memory, 1, bytes);
    }
    once(work, to, from, memory, bytes);
    synchronize();
    CHECK(cuEventRecord(begin, stream));
    for (long i = 0; i < count; i++) {
        once(work, to, from, memory, bytes);
    }
    synchronize();
    CHECK(cuEventElapsedTime(&milliseconds, begin, end));
    /* A copy within a GPU reads and writes; a DAXPY reads two vectors and writes one. */
    double units = strcmp(work, "dgemm") == 0    ? 2 * n * n * n
                   : strcmp(work, "daxpy") == 0  ? 3.0 * (double)bytes
                   : strcmp(work, "within") == 0 ? 2.0 * (double)bytes
                                                 : (double)bytes;
    printf("%.6g\n", units * (double)count / ((double)milliseconds / 1e3));
    if (memory) {
        CHECK(cuMemFreeHost(memory));
    }
    CHECK(cuMemFree_v2(to));
    CHECK(cuMemFree_v2(from));
}

static void hold(size_t bytes)
{
    CUdeviceptr held;
    CHECK(cuMemAlloc_v2(&held, bytes));
    CHECK(cuMemsetD8Async(held, 0, bytes, stream));
    synchronize();
    puts("held");
}

int main(int argc, char **argv)
{
    char line[128], work[16];
    long count;
    size_t bytes;
    CUdevice gpu;
    CUcontext context;
    if (argc < 3) {
        fputs("usage: compute_loop LIBCUDA PTX-FOLDER [LIBCUBLAS]\n", stderr);
        return 2;
    }
    open_library(argv[1]);
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&gpu, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, gpu));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, 1));
    CHECK(cuEventCreate(&begin, 0));
    CHECK(cuEventCreate(&end, 0));
    CHECK(cuMemAlloc_v2(&device, COPY_BYTES));
    CHECK(cuMemAlloc_v2(&other, COPY_BYTES));
    CHECK(cuMemHostAlloc(&host, COPY_BYTES, 0));
    memset(host, 1, COPY_BYTES);
    daxpy = kernel(argv[2], "daxpy", "daxpy");
    if (argc > 3) {
        open_cublas(argv[3]);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "rate %15s %zu %ld", work, &bytes, &count) == 3) {
            rate(work, bytes, count);
        } else if (sscanf(line, "hold %zu", &bytes) == 1) {
            hold(bytes);
        } else if (strncmp(line, "sync", 4) == 0) {
            long long start = now_ns();
            synchronize();
            printf("%lld\n", now_ns() - start);
        } else if (sscanf(line, "%15s %ld", work, &count) == 2) {
            calls(work, count);
        } else {
            fail(line, 0);
        }
    }
    return 0;
}
