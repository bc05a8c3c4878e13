/* Process lists and events. */
#include <stdio.h>
#include <string.h>

#include "selftest.h"

/* Bytes per entry as a careful client finds it: what a call overwrote, divided by the count. */
static void stride(const test_t *test, const char *name, size_t bytes)
{
    unsigned char buffer[8 * 32];
    unsigned count = 0;
    if (!has(test, name)) {
        return;
    }
    EXPECT("asking for the count", 7, find(test, name)(test->gpu, &count, NULL));
    EXPECT("the count", 3, count);
    count = 2;
    memset(buffer, 0xAA, sizeof buffer);
    EXPECT("buffer of two", 7, find(test, name)(test->gpu, &count, buffer));
    EXPECT("needs three", 3, count);
    EXPECT("and writes nothing", 0xAA, buffer[0]);
    count = 8;
    EXPECT(name, 0, find(test, name)(test->gpu, &count, buffer));
    size_t end = sizeof buffer;
    while (end > 0 && buffer[end - 1] == 0xAA) {
        end--;
    }
    EXPECT(name, bytes, count == 3 ? end / 3 : 0);
    nvmlProcessInfo_v2_t first;
    memcpy(&first, buffer, bytes < sizeof first ? bytes : sizeof first);
    EXPECT("pid", 100, first.pid);
    EXPECT("memory not known", -1, first.usedGpuMemory);
    if (bytes >= sizeof first) {
        EXPECT("no instance", 0xFFFFFFFFU, first.gpuInstanceId);
    }
}

void test_processes(test_t *test)
{
    unsigned count = 0;
    begin(test);
    EXPECT("no process", 0, CALL(nvmlDeviceGetComputeRunningProcesses_v2, test->gpu, &count, NULL));
    add_process(test, 0, 100, SIM_NA, SIM_PROCESS_COMPUTE);
    add_process(test, 1, 200, 4096, SIM_PROCESS_COMPUTE);
    add_process(test, 0, 101, 4096, SIM_PROCESS_COMPUTE);
    add_process(test, 0, 102, 4096, SIM_PROCESS_COMPUTE);
    add_process(test, 0, 103, 4096, SIM_PROCESS_MPS);
    stride(test, "nvmlDeviceGetComputeRunningProcesses", 16);
    stride(test, "nvmlDeviceGetComputeRunningProcesses_v2", 24);
    stride(test, "nvmlDeviceGetComputeRunningProcesses_v3", is(test, "535.54") ? 32 : 24);
    test->table->header->process_stride = 16;
    stride(test, "nvmlDeviceGetComputeRunningProcesses_v3", 16);
    if (has(test, "nvmlDeviceGetRunningProcessDetailList")) {
        nvmlProcessDetail_v1_t entries[4];
        nvmlProcessDetailList_v1_t list = {nvmlProcessDetailList_v1, 2, 4, entries};
        EXPECT("details", 0, CALL(nvmlDeviceGetRunningProcessDetailList, test->gpu, &list));
        EXPECT("one under MPS", 1, list.numProcArrayEntries);
        EXPECT("its pid", 103, entries[0].pid);
        list.version = 1;
        EXPECT("plain version", 25, CALL(nvmlDeviceGetRunningProcessDetailList, test->gpu, &list));
    }
}

static void add_event(const test_t *test, int gpu, int type, int data)
{
    sim_event_t *event = &test->table->event[test->table->header->event_head % SIM_EVENT_MAX];
    event->gpu = gpu;
    event->type = type;
    event->data = data;
    __atomic_add_fetch(&test->table->header->event_head, 1, __ATOMIC_RELEASE);
}

void test_events(test_t *test)
{
    nvmlEventSet_t one, two;
    nvmlEventData_t data;
    begin(test);
    EXPECT("first set", 0, CALL(nvmlEventSetCreate, &one));
    EXPECT("unsupported type", 3, CALL(nvmlDeviceRegisterEvents, test->gpu, 0x8000ULL, one));
    EXPECT("register", 0, CALL(nvmlDeviceRegisterEvents, test->gpu, NVML_EVENT_XID, one));
    EXPECT("nothing yet", 10, CALL(nvmlEventSetWait_v2, one, &data, 5));
    add_event(test, 0, 8, 79);
    add_event(test, 0, 4, 0); /* not registered */
    add_event(test, 1, 8, 31); /* not this GPU */
    add_event(test, 0, 8, 48);
    EXPECT("second set", 0, CALL(nvmlEventSetCreate, &two));
    CALL(nvmlDeviceRegisterEvents, test->gpu, NVML_EVENT_XID, two);
    EXPECT("first XID", 0, CALL(nvmlEventSetWait_v2, one, &data, 5));
    EXPECT("its number", 79, data.eventData);
    EXPECT("its GPU", 1, data.device == test->gpu);
    EXPECT("no instance", 0xFFFFFFFFU, data.gpuInstanceId);
    EXPECT("second XID", 0, CALL(nvmlEventSetWait_v2, one, &data, 5));
    EXPECT("its number", 48, data.eventData);
    EXPECT("drained", 10, CALL(nvmlEventSetWait_v2, one, &data, 1));
    EXPECT("a later set sees later events only", 10, CALL(nvmlEventSetWait_v2, two, &data, 1));
    add_event(test, 0, 8, 94);
    EXPECT("own cursor", 0, CALL(nvmlEventSetWait_v2, two, &data, 5));
    EXPECT("its number", 94, data.eventData);
    EXPECT("free", 0, CALL(nvmlEventSetFree, two));
    EXPECT("wait on a freed set", 2, CALL(nvmlEventSetWait_v2, two, &data, 1));
}
