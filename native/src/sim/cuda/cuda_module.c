/* Modules: PTX is read as far as a driver would refuse it, and its entries are looked up among the kernels that were compiled for the host. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_graph.h"

typedef struct cu_module {
    cu_object_t object;
    char ptx[];
} cu_module_t;

typedef struct cu_function {
    cu_object_t object;
    const cuda_kernel_t *kernel;
} cu_function_t;

/* Skips blanks and comments. */
static const char *skip(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n");
        const char *end = strncmp(at, "//", 2) == 0   ? strchr(at, '\n')
                          : strncmp(at, "/*", 2) == 0 ? strstr(at, "*/")
                                                      : at;
        if (end == at) {
            return at;
        }
        at = end ? end + (*end == '*' ? 2 : 1) : at + strlen(at);
    }
}

/* PTX reference, release notes: 7.x came with CUDA 11.x, 8.0 to 8.5 with 12.0 to 12.5, 8.5 to 8.8 with 12.6 to 12.9, 9.x with 13.x. */
static int newest_ptx(int64_t cuda_version)
{
    int major = (int)(cuda_version / 1000), minor = (int)(cuda_version % 1000 / 10);
    return (major - 4) * 10 + (major == 12 && minor > 5 ? minor - 1 : minor);
}

static CUresult check(const cu_call_t *call, const char *ptx)
{
    int major, minor, target = 0;
    const char *at = skip(ptx);
    if (sscanf(at, ".version %d.%d", &major, &minor) != 2) {
        return CUDA_ERROR_INVALID_PTX;
    }
    int64_t driver = call->table->header->cuda_version;
    if (driver != SIM_NA && major * 10 + minor > newest_ptx(driver)) {
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    at = strstr(at, ".target sm_");
    if (!at || sscanf(at, ".target sm_%d", &target) != 1) {
        return CUDA_ERROR_INVALID_PTX;
    }
    const sim_gpu_t *gpu = cu_gpu(call);
    bool newer = gpu->cuda_major != SIM_NA && target > gpu->cuda_major * 10 + gpu->cuda_minor;
    return newer ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_SUCCESS;
}

/* Compiled code (ELF, or a "fat" binary by its first word) has nothing that could run here. */
static bool compiled(const char *image)
{
    return memcmp(image, "\177ELF", 4) == 0 || memcmp(image, "\x50\xed\x55\xba", 4) == 0;
}

static CUresult load(const cu_call_t *call, CUmodule *handle, const void *image)
{
    CU_NEED(handle && image)
    const char *text = image;
    if (*text && text[1] && text[2] && compiled(text)) {
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    CUresult result = check(call, text);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    size_t length = strlen(text) + 1;
    pthread_mutex_lock(&cu_lock);
    cu_module_t *module = cu_object_add(call->context, CU_IS_MODULE, sizeof *module + length);
    if (module) {
        memcpy(module->ptx, text, length);
        *handle = module;
    }
    pthread_mutex_unlock(&cu_lock);
    return module ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CU_IN_CONTEXT(cuModuleLoadData, (CUmodule * module, const void *image), (module, image))
{
    return load(call, module, image);
}

/* The options steer a compiler that is not here. */
CU_IN_CONTEXT(cuModuleLoadDataEx,
              (CUmodule * module, const void *image, unsigned count, int *options, void **values),
              (module, image, count, options, values))
{
    (void)count, (void)options, (void)values;
    return load(call, module, image);
}

CU_IN_CONTEXT(cuModuleUnload, (CUmodule module), (module))
{
    pthread_mutex_lock(&cu_lock);
    bool known = cu_object_remove(call->context, CU_IS_MODULE, module);
    pthread_mutex_unlock(&cu_lock);
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static bool has_entry(const char *ptx, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = ptx; (at = strstr(at, ".entry")) != NULL;) {
        at = skip(at + strlen(".entry"));
        if (strncmp(at, name, length) == 0 && !isalnum((unsigned char)at[length])
            && at[length] != '_' && at[length] != '$') {
            return true;
        }
    }
    return false;
}

static const cuda_kernel_t *find_kernel(const char *name)
{
    const cuda_kernel_t *kernel = cuda_kernels;
    while (kernel->name && strcmp(kernel->name, name) != 0) {
        kernel++;
    }
    return kernel->name ? kernel : NULL;
}

CU_IN_CONTEXT(cuModuleGetFunction, (CUfunction * handle, CUmodule module, const char *name),
              (handle, module, name))
{
    CU_NEED(handle && name)
    cu_function_t *function = NULL;
    pthread_mutex_lock(&cu_lock);
    bool known = cu_object_owner(CU_IS_MODULE, module) == call->context;
    const cuda_kernel_t *kernel = known && has_entry(module->ptx, name) ? find_kernel(name) : NULL;
    if (kernel) {
        function = cu_object_add(call->context, CU_IS_FUNCTION, sizeof *function);
    }
    if (function) {
        function->kernel = kernel;
        *handle = function;
    }
    pthread_mutex_unlock(&cu_lock);
    return !known      ? CUDA_ERROR_INVALID_HANDLE
           : !kernel   ? CUDA_ERROR_NOT_FOUND
           : !function ? CUDA_ERROR_OUT_OF_MEMORY
                       : CUDA_SUCCESS;
}

/* A launch of a kernel that does nothing, seen from the host. */
enum { LAUNCH_NS = 5000 };

static CUresult launch(cu_call_t *call, const cuda_kernel_t *kernel, cuda_launch_t *shape, cu_stream_t *stream)
{
    CUresult result = cu_settle(call, stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    int64_t enqueued_ns = cu_enqueue_ns(), began_ns = cu_host_ns();
    int64_t duration_ns = LAUNCH_NS + cu_kernel_ns(call, kernel->cost(shape->args[0]));
    cu_wrong_t wrong = {.gpu = cu_gpu(call), .kernel = kernel->name, .blocks = shape->grid[0], .sm_count = shape->sm_count};
    shape->spoil = cu_wrong_spoil;
    shape->spoil_env = &wrong;
    shape->stuck = cu_wrong_stuck(&wrong);
    shape->stuck_sm = wrong.gpu->wrong_sm == SIM_NA ? -1 : (int)wrong.gpu->wrong_sm;
    if (!cu_wrong_nothing(&wrong)) {
        kernel->run(shape);
    }
    cu_spent_since(began_ns);
    pthread_mutex_lock(&cu_lock);
    cu_enqueue(call->context, stream, enqueued_ns, duration_ns, &call->context->engine_end_ns[CU_KERNELS], NULL);
    pthread_mutex_unlock(&cu_lock);
    return CUDA_SUCCESS;
}

/* A launch in a graph, with a copy of its argument. */
typedef struct {
    const cuda_kernel_t *kernel;
    cuda_launch_t shape;
    max_align_t argument[64];
} recorded_t;

static CUresult replay(cu_call_t *call, CUstream handle, void *work)
{
    recorded_t *recorded = work;
    cuda_launch_t shape = recorded->shape;
    void *arguments[] = {recorded->argument};
    shape.args = arguments;
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_stream(call, handle);
    pthread_mutex_unlock(&cu_lock);
    return launch(call, recorded->kernel, &shape, stream);
}

static CUresult record(cu_stream_t *stream, const cuda_kernel_t *kernel, const cuda_launch_t *shape)
{
    recorded_t recorded = {.kernel = kernel, .shape = *shape};
    if (kernel->argument_bytes > sizeof recorded.argument) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    memcpy(recorded.argument, shape->args[0], kernel->argument_bytes);
    pthread_mutex_lock(&cu_lock);
    CUresult result = cu_capture(stream, replay, NULL, &recorded, sizeof recorded);
    pthread_mutex_unlock(&cu_lock);
    return result;
}

/* Arguments by address only: those in one buffer (`extra`) are not supported. */
CU_IN_CONTEXT(cuLaunchKernel,
              (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
               unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream handle,
               void **arguments, void **extra),
              (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, handle,
               arguments, extra))
{
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_stream(call, handle);
    bool known = stream && cu_object_owner(CU_IS_FUNCTION, function) == call->context;
    const cuda_kernel_t *kernel = known ? function->kernel : NULL;
    bool captured = known && stream->capture;
    pthread_mutex_unlock(&cu_lock);
    if (!known) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    uint64_t threads = (uint64_t)block_x * block_y * block_z; /* at most 1024: cuda_attribute.c */
    CU_NEED(grid_x > 0 && grid_y > 0 && grid_z > 0 && threads > 0)
    CU_NEED(block_x <= 1024 && block_y <= 1024 && block_z <= 64 && threads <= 1024)
    if (extra) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    CU_NEED(arguments)
    cuda_launch_t shape = {.grid = {grid_x, grid_y, grid_z},
                           .block = {block_x, block_y, block_z},
                           .shared_bytes = shared_bytes,
                           .sm_count = cu_multiprocessors(call),
                           .args = arguments};
    if (block_x > kernel->block_threads || block_y * block_z != 1) {
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    return captured ? record(stream, kernel, &shape) : launch(call, kernel, &shape, stream);
}
