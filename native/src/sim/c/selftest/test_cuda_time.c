/* libcuda: copies, what they take by events, and how long a wait lasts. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_mirror.h"
#include "selftest.h"

enum { BYTES = 16 * MIB };

void test_cuda_copies(test_t *test)
{
    CUdeviceptr one, other;
    unsigned char *host = malloc(BYTES), *back = NULL;
    void *first, *second;
    begin_cuda(test);
    second = use_cuda(test, 1);
    EXPECT("on the other GPU", 0, CUDA(cuMemAlloc_v2, &other, (size_t)BYTES));
    first = use_cuda(test, 0);
    EXPECT("alloc", 0, CUDA(cuMemAlloc_v2, &one, (size_t)BYTES));
    EXPECT("host memory", 0, CUDA(cuMemHostAlloc, &back, (size_t)BYTES, 1));
    for (int i = 0; i < BYTES; i++) {
        host[i] = (unsigned char)(i * 7 >> 3);
    }
    EXPECT("to the device", 0, CUDA(cuMemcpyHtoD_v2, one, host, (size_t)BYTES));
    EXPECT("peer access", 0, CUDA(cuCtxEnablePeerAccess, second, 0));
    EXPECT("enabled before", 704, CUDA(cuCtxEnablePeerAccess, second, 0));
    EXPECT("to the other", 0, CUDA(cuMemcpyPeer, other, second, one, first, (size_t)BYTES));
    EXPECT("and back", 0, CUDA(cuMemcpyDtoH_v2, back, other, (size_t)BYTES));
    EXPECT("the same bytes", 0, memcmp(host, back, BYTES));
    EXPECT("words", 0, CUDA(cuMemsetD32_v2, one + 4, 0x01020304U, (size_t)2));
    EXPECT("a byte", 0, CUDA(cuMemsetD8_v2, one + 12, 9, (size_t)1));
    EXPECT("within", 0, CUDA(cuMemcpyDtoD_v2, one, one + 8, (size_t)8));
    CUDA(cuMemcpyDtoH_v2, back, one, (size_t)8);
    EXPECT("moved", 0, memcmp(back, "\4\3\2\1\11", 5));
    EXPECT("not aligned", 1, CUDA(cuMemsetD32_v2, one + 2, 0U, (size_t)1));
    EXPECT("nothing to copy", 0, CUDA(cuMemcpyDtoD_v2, one, (CUdeviceptr)8, (size_t)0));
    EXPECT("host memory freed", 0, CUDA(cuMemFreeHost, back));
    EXPECT("twice", 1, CUDA(cuMemFreeHost, back));
    EXPECT("beyond the end", 700, CUDA(cuMemcpyHtoD_v2, one + 1, host, (size_t)BYTES));
    EXPECT("from then on", 700, CUDA(cuCtxSynchronize));
    EXPECT("also for memory", 700, CUDA(cuMemAlloc_v2, &one, (size_t)1));
    CUDA(cuCtxSetCurrent, second);
    EXPECT("not on the other GPU", 0, CUDA(cuMemcpyHtoD_v2, other, host, (size_t)BYTES));
    free(host);
}

/* MB/s of ten copies of 16 MiB, by events. */
static double rate(const test_t *test, CUdeviceptr to, CUdeviceptr from, void *host)
{
    CUstream stream;
    CUevent begin, end;
    float milliseconds = 0;
    CUDA(cuStreamCreate, &stream, 1);
    CUDA(cuEventCreate, &begin, 0);
    CUDA(cuEventCreate, &end, 0);
    EXPECT("begin", 0, CUDA(cuEventRecord, begin, stream));
    for (int i = 0; i < 10; i++) {
        if (to && from) {
            EXPECT("copy", 0, CUDA(cuMemcpyDtoDAsync_v2, to, from, (size_t)BYTES, stream));
        } else if (to) {
            EXPECT("copy", 0, CUDA(cuMemcpyHtoDAsync_v2, to, host, (size_t)BYTES, stream));
        } else {
            EXPECT("copy", 0, CUDA(cuMemcpyDtoHAsync_v2, host, from, (size_t)BYTES, stream));
        }
    }
    EXPECT("end", 0, CUDA(cuEventRecord, end, stream));
    EXPECT("wait", 0, CUDA(cuEventSynchronize, end));
    EXPECT("time", 0, CUDA(cuEventElapsedTime, &milliseconds, begin, end));
    EXPECT("destroyed", 0, CUDA(cuStreamDestroy_v2, stream));
    EXPECT("no stream any more", 400, CUDA(cuStreamQuery, stream));
    return 10.0 * BYTES / 1e3 / (double)milliseconds;
}

#define EXPECT_RATE(subject, expected, seen) \
    EXPECT(subject, 1, (seen) > 0.98 * (expected) && (seen) < 1.02 * (expected))

void test_cuda_rates(test_t *test)
{
    CUdeviceptr one, second, other;
    void *host = malloc(BYTES);
    sim_gpu_t *gpu = test->table->gpu;
    begin_cuda(test);
    memset(host, 1, BYTES);
    use_cuda(test, 1);
    CUDA(cuMemAlloc_v2, &other, (size_t)BYTES);
    use_cuda(test, 0);
    CUDA(cuMemAlloc_v2, &one, (size_t)BYTES);
    CUDA(cuMemAlloc_v2, &second, (size_t)BYTES);
    EXPECT_RATE("PCIe 4.0 x16", 25833, rate(test, one, 0, host));
    gpu[0].pcie_width = 8;
    EXPECT_RATE("x8", 12916, rate(test, 0, one, host));
    gpu[0].copy_to_device_mbps = 7000;
    gpu[0].copy_to_host_mbps = 3000;
    EXPECT_RATE("set to the device", 7000, rate(test, one, 0, host));
    EXPECT_RATE("set to the host", 3000, rate(test, 0, one, host));
    gpu[0].clock_max[2] = 2619;
    gpu[0].bus_width = 5120;
    EXPECT_RATE("in memory", 1257120, rate(test, second, one, NULL));
    gpu[0].copy_memory_mbps = 50000;
    EXPECT_RATE("set in memory", 50000, rate(test, second, one, NULL));
    EXPECT_RATE("peers over PCIe: the slower end", 3000, rate(test, other, one, NULL));
    for (int g = 0; g < 2; g++) {
        gpu[g].nvlink_count = 18;
        for (int i = 0; i < 18; i++) {
            gpu[g].link[i].state = 1;
            gpu[g].link[i].speed_mbps = 26562;
            gpu[g].link[i].remote_type = 2;
        }
    }
    EXPECT_RATE("peers over NVLink", 392055, rate(test, other, one, NULL));
    gpu[1].link[3].state = 0;
    EXPECT_RATE("one link down", 370274, rate(test, other, one, NULL));
    gpu[0].peer[1].copy_mbps = 9000;
    EXPECT_RATE("set for this pair", 9000, rate(test, other, one, NULL));
    EXPECT_RATE("not for the other direction", 370274, rate(test, one, other, NULL));
    free(host);
}

typedef struct {
    const test_t *test;
    int device;
    double mbps;
} measured_t;

static void *measure(void *argument)
{
    measured_t *measured = argument;
    const test_t *test = measured->test;
    CUdeviceptr address = 0;
    void *host = calloc(1, BYTES);
    use_cuda(test, measured->device);
    EXPECT("alloc", 0, CUDA(cuMemAlloc_v2, &address, (size_t)BYTES));
    measured->mbps = rate(test, address, 0, host);
    free(host);
    return NULL;
}

/* Two GPUs at the same time have the rates that each has alone, also if this machine could not copy so fast. */
void test_cuda_threads(test_t *test)
{
    static const double mbps[] = {400000, 30000};
    measured_t measured[] = {{test, 0, 0}, {test, 1, 0}};
    pthread_t threads[2];
    begin_cuda(test);
    for (int i = 0; i < 2; i++) {
        test->table->gpu[i].copy_to_device_mbps = (int64_t)mbps[i];
        pthread_create(&threads[i], NULL, measure, &measured[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        EXPECT_RATE("beside another", mbps[i], measured[i].mbps);
    }
}

static double milliseconds_since(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) * 1e3 + (double)(now.tv_nsec - begin->tv_nsec) / 1e6;
}

/* 1 MiB at 10 MB/s: 104.9 ms for each copy. */
void test_cuda_waits(test_t *test)
{
    CUdeviceptr one, other;
    CUstream stream, another;
    CUevent event, end;
    void *host = malloc(MIB), *second;
    float milliseconds;
    struct timespec begin;
    begin_cuda(test);
    second = use_cuda(test, 1);
    CUDA(cuMemAlloc_v2, &other, (size_t)MIB);
    use_cuda(test, 0);
    CUDA(cuMemAlloc_v2, &one, (size_t)MIB);
    test->table->gpu[0].copy_to_device_mbps = test->table->gpu[0].copy_to_host_mbps = 10;
    CUDA(cuStreamCreate, &stream, 1);
    CUDA(cuStreamCreate, &another, 1);
    CUDA(cuEventCreate, &event, 0);
    CUDA(cuEventCreate, &end, 0);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    memset(host, 1, MIB);
    EXPECT("event not recorded", 0, CUDA(cuEventQuery, event));
    EXPECT("no time of it", 400, CUDA(cuEventElapsedTime, &milliseconds, event, event));
    EXPECT("copy", 0, CUDA(cuMemcpyHtoDAsync_v2, one, host, (size_t)MIB, stream));
    CUDA(cuEventRecord, event, stream);
    EXPECT("not ready", 600, CUDA(cuStreamQuery, stream));
    EXPECT("nor the event", 600, CUDA(cuEventQuery, event));
    EXPECT("nor its time", 600, CUDA(cuEventElapsedTime, &milliseconds, event, event));
    EXPECT("another stream is ready", 0, CUDA(cuStreamQuery, another));
    EXPECT("until it waits", 0, CUDA(cuStreamWaitEvent, another, event, 0));
    EXPECT("and is not ready", 600, CUDA(cuStreamQuery, another));
    CUDA(cuMemcpyDtoHAsync_v2, host, one, (size_t)MIB, another);
    CUDA(cuEventRecord, end, another);
    EXPECT("wait", 0, CUDA(cuStreamSynchronize, stream));
    EXPECT("as long as the copy", 1, milliseconds_since(&begin) >= 104);
    EXPECT("ready", 0, CUDA(cuEventQuery, event));
    EXPECT("all", 0, CUDA(cuCtxSynchronize));
    EXPECT("both copies", 1, milliseconds_since(&begin) >= 209);
    CUDA(cuEventElapsedTime, &milliseconds, event, end);
    EXPECT_RATE("one after the other", 104.86, (double)milliseconds);
    /* On one engine copies of two streams follow each other. */
    clock_gettime(CLOCK_MONOTONIC, &begin);
    CUDA(cuEventRecord, event, stream);
    CUDA(cuMemcpyHtoDAsync_v2, one, host, (size_t)MIB, stream);
    CUDA(cuMemcpyHtoDAsync_v2, one, host, (size_t)MIB, another);
    CUDA(cuEventRecord, end, another);
    CUDA(cuEventSynchronize, end);
    EXPECT("as long as both", 1, milliseconds_since(&begin) >= 209);
    CUDA(cuEventElapsedTime, &milliseconds, event, end);
    EXPECT_RATE("one engine", 209.72, (double)milliseconds);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    EXPECT("without a stream: waits", 0, CUDA(cuMemcpyDtoH_v2, host, one, (size_t)MIB));
    EXPECT("as long", 1, milliseconds_since(&begin) >= 104);
    CUDA(cuMemcpyHtoDAsync_v2, one, host, (size_t)MIB, stream);
    CUDA(cuCtxSetCurrent, second);
    EXPECT("a copy on another GPU's stream", 400, CUDA(cuMemcpyHtoDAsync_v2, other, host, (size_t)MIB, stream));
    EXPECT("its own work", 0, CUDA(cuCtxSynchronize));
    EXPECT("that of the other goes on", 600, CUDA(cuStreamQuery, stream));
    EXPECT("and can be waited for", 0, CUDA(cuStreamSynchronize, stream));
    EXPECT("until it is done", 0, CUDA(cuStreamQuery, stream));
    free(host);
}
