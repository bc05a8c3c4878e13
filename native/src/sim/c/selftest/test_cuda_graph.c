/* libcuda: operations that are captured do not run, and run with each launch of their graph. */
#include <pthread.h>
#include <string.h>

#include "arguments.h"
#include "cuda_mirror.h"
#include "selftest.h"

enum { THREAD_LOCAL = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, COUNT = 100, BYTES = COUNT * (int)sizeof(double) };

typedef struct {
    const test_t *test;
    CUstream stream;
    CUcontext context;
    CUresult end, allocated;
} other_t;

/* Another thread may allocate during a thread-local capture, and may not end it. */
static void *in_another_thread(void *argument)
{
    other_t *other = argument;
    const test_t *test = other->test;
    CUdeviceptr memory = 0;
    CUgraph graph = NULL;
    CUDA(cuCtxSetCurrent, other->context);
    other->end = (CUresult)CUDA(cuStreamEndCapture, other->stream, &graph);
    other->allocated = (CUresult)CUDA(cuMemAlloc_v2, &memory, (size_t)1);
    return NULL;
}

static CUgraphExec captured(const test_t *test, CUstream stream)
{
    CUgraph graph = NULL;
    CUgraphExec executable = NULL;
    EXPECT("end", 0, CUDA(cuStreamEndCapture, stream, &graph));
    EXPECT("instantiated", 0, CUDA(cuGraphInstantiateWithFlags, &executable, graph, 0ULL));
    EXPECT("graph", 0, CUDA(cuGraphDestroy, graph));
    EXPECT("graph that is gone", 1, CUDA(cuGraphDestroy, graph));
    return executable;
}

static void test_replay(const test_t *test, CUstream stream, CUdeviceptr from, CUdeviceptr to)
{
    unsigned char seen[4] = {0}, other[4] = {9, 9, 9, 9};
    CUDA(cuMemsetD8_v2, from, 0, (size_t)4);
    EXPECT("begin", 0, CUDA(cuStreamBeginCapture_v2, stream, THREAD_LOCAL));
    EXPECT("twice", 401, CUDA(cuStreamBeginCapture_v2, stream, THREAD_LOCAL));
    EXPECT("set", 0, CUDA(cuMemsetD8Async, from, 7, (size_t)4, stream));
    EXPECT("copy", 0, CUDA(cuMemcpyDtoDAsync_v2, to, from, (size_t)4, stream));
    EXPECT("copy to the host", 0, CUDA(cuMemcpyDtoHAsync_v2, seen, to, (size_t)4, stream));
    CUgraphExec executable = captured(test, stream);
    EXPECT("nothing ran", 0, seen[3]);
    for (int i = 0; i < 2; i++) {
        CUDA(cuMemcpyHtoD_v2, to, other, (size_t)4);
        EXPECT("launch", 0, CUDA(cuGraphLaunch, executable, stream));
        EXPECT("wait", 0, CUDA(cuStreamSynchronize, stream));
        EXPECT("it ran", 7, seen[3]);
        memset(seen, 0, sizeof seen);
    }
    EXPECT("executable", 0, CUDA(cuGraphExecDestroy, executable));
    EXPECT("launch of one that is gone", 1, CUDA(cuGraphLaunch, executable, stream));
}

/* The argument is read when the launch is captured. */
static void test_kernel(const test_t *test, CUstream stream, CUdeviceptr x, CUdeviceptr y)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    double seen[COUNT];
    daxpy_fill_args fill = {.x = (double *)x, .y = (double *)y, .count = COUNT, .per_block = COUNT, .seed = 7};
    void *arguments[] = {&fill};
    CUDA(cuMemsetD8_v2, x, 0, (size_t)BYTES);
    EXPECT("module", 0, CUDA(cuModuleLoadData, &module, ".version 7.8\n.target sm_75\n.visible .entry daxpy_fill(\n"));
    EXPECT("function", 0, CUDA(cuModuleGetFunction, &function, module, "daxpy_fill"));
    CUDA(cuStreamBeginCapture_v2, stream, THREAD_LOCAL);
    EXPECT("too many threads", 701,
           CUDA(cuLaunchKernel, function, 1, 1, 1, 2 * KERNEL_THREADS, 1, 1, 0, stream, arguments, NULL));
    EXPECT("kernel", 0, CUDA(cuLaunchKernel, function, 1, 1, 1, KERNEL_THREADS, 1, 1, 0, stream, arguments, NULL));
    fill.x = NULL;
    CUgraphExec executable = captured(test, stream);
    CUDA(cuMemcpyDtoH_v2, seen, x, (size_t)BYTES);
    EXPECT("it did not run", 1, seen[COUNT - 1] == 0);
    EXPECT("launch", 0, CUDA(cuGraphLaunch, executable, stream));
    CUDA(cuMemcpyDtoHAsync_v2, seen, x, (size_t)BYTES, stream);
    EXPECT("wait", 0, CUDA(cuStreamSynchronize, stream));
    EXPECT("it ran", 1, seen[COUNT - 1] != 0);
    EXPECT("executable", 0, CUDA(cuGraphExecDestroy, executable));
}

static void test_invalid(const test_t *test, CUstream stream, CUdeviceptr memory)
{
    CUgraph graph = (CUgraph)&graph;
    CUdeviceptr more = 0;
    EXPECT("end without a capture", 401, CUDA(cuStreamEndCapture, stream, &graph));
    EXPECT("the default stream", 900, CUDA(cuStreamBeginCapture_v2, NULL, THREAD_LOCAL));
    EXPECT("no mode", 1, CUDA(cuStreamBeginCapture_v2, stream, 3));
    CUDA(cuStreamBeginCapture_v2, stream, THREAD_LOCAL);
    EXPECT("query", 900, CUDA(cuStreamQuery, stream));
    EXPECT("and nothing more", 901, CUDA(cuMemsetD8Async, memory, 1, (size_t)1, stream));
    EXPECT("end", 901, CUDA(cuStreamEndCapture, stream, &graph));
    EXPECT("no graph", 1, graph == NULL);
    EXPECT("the stream works", 0, CUDA(cuStreamSynchronize, stream));
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        bool relaxed = mode == CU_STREAM_CAPTURE_MODE_RELAXED;
        CUDA(cuStreamBeginCapture_v2, stream, mode);
        EXPECT("allocation", relaxed ? 0 : 900, CUDA(cuMemAlloc_v2, &more, (size_t)1));
        EXPECT("end", relaxed ? 0 : 901, CUDA(cuStreamEndCapture, stream, &graph));
    }
    CUDA(cuGraphDestroy, graph);
}

static void test_threads(const test_t *test, CUstream stream, CUcontext context)
{
    CUgraph graph = NULL;
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= THREAD_LOCAL; mode++) {
        pthread_t thread;
        other_t other = {.test = test, .stream = stream, .context = context};
        CUDA(cuStreamBeginCapture_v2, stream, mode);
        pthread_create(&thread, NULL, in_another_thread, &other);
        pthread_join(thread, NULL);
        EXPECT("end by another thread", 908, other.end);
        EXPECT("allocation of another thread", mode == THREAD_LOCAL ? 0 : 900, other.allocated);
        EXPECT("end", mode == THREAD_LOCAL ? 0 : 901, CUDA(cuStreamEndCapture, stream, &graph));
    }
    CUDA(cuGraphDestroy, graph);
}

static void test_event(const test_t *test, CUstream stream)
{
    CUevent event;
    CUgraph graph = NULL;
    CUDA(cuEventCreate, &event, 0);
    CUDA(cuStreamBeginCapture_v2, stream, THREAD_LOCAL);
    EXPECT("record", 0, CUDA(cuEventRecord, event, stream));
    EXPECT("end", 0, CUDA(cuStreamEndCapture, stream, &graph));
    EXPECT("no time", 907, CUDA(cuEventElapsedTime, &(float){0}, event, event));
    EXPECT("no wait", 907, CUDA(cuEventSynchronize, event));
    EXPECT("recorded again", 0, CUDA(cuEventRecord, event, stream));
    EXPECT("a time", 0, CUDA(cuEventSynchronize, event));
    CUDA(cuStreamBeginCapture_v2, stream, THREAD_LOCAL);
    EXPECT("a capture waits for nothing outside", 905, CUDA(cuStreamWaitEvent, stream, event, 0));
    EXPECT("end", 901, CUDA(cuStreamEndCapture, stream, &graph));
    CUDA(cuStreamBeginCapture_v2, stream, THREAD_LOCAL);
    EXPECT("stream with a capture", 0, CUDA(cuStreamDestroy_v2, stream));
}

void test_cuda_graphs(test_t *test)
{
    CUstream stream;
    CUdeviceptr one, other;
    begin_cuda(test);
    CUcontext context = use_cuda(test, 0);
    CUDA(cuMemAlloc_v2, &one, (size_t)BYTES);
    CUDA(cuMemAlloc_v2, &other, (size_t)BYTES);
    CUDA(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    test_replay(test, stream, one, other);
    test_kernel(test, stream, one, other);
    test_invalid(test, stream, one);
    test_threads(test, stream, context);
    test_event(test, stream);
}
