/* The node around the GPUs: sockets, excluded devices, confidential computing, system events; and clocks to choose from. */
#include <string.h>

#include "selftest.h"

void test_topology(test_t *test)
{
    nvmlDevice_t second;
    unsigned level = 0;
    unsigned long nodes[1];
    begin(test);
    CALL(nvmlDeviceGetHandleByIndex_v2, 1, &second);
    test->table->gpu[0].host_node = 0;
    test->table->gpu[1].host_node = 1;
    EXPECT("other socket", 0, CALL(nvmlDeviceGetTopologyCommonAncestor, test->gpu, second, &level));
    EXPECT("is another node", 50, level);
    EXPECT("memory of the other socket", 0, CALL(nvmlDeviceGetMemoryAffinity, second, 1, nodes, 0));
    EXPECT("is node 1", 2, nodes[0]);
    EXPECT("the GPU itself is no node", has(test, "nvmlDeviceGetNumaNodeId") ? 3 : 13,
           CALL(nvmlDeviceGetNumaNodeId, test->gpu, &level));
    test->table->gpu[1].host_node = 0;
    CALL(nvmlDeviceGetTopologyCommonAncestor, test->gpu, second, &level);
    EXPECT("same socket", 40, level);
}

/* A part without a fabric reports that it has none; it does not refuse the question. */
static void no_fabric(const test_t *test)
{
    nvmlGpuFabricInfo_t info;
    nvmlGpuFabricInfo_v2_t info2 = {.version = nvmlGpuFabricInfo_v2};
    test->table->gpu[0].fabric_state = SIM_NA;
    memset(&info, 0xAA, sizeof info);
    if (has(test, "nvmlDeviceGetGpuFabricInfo")) {
        EXPECT("fabric of a part without", 0, CALL(nvmlDeviceGetGpuFabricInfo, test->gpu, &info));
        EXPECT("not supported", 0, info.state);
        EXPECT("nothing failed", 0, info.status);
    }
    if (has(test, "nvmlDeviceGetGpuFabricInfoV")) {
        info2.state = 9;
        EXPECT("v2 of a part without", 0, CALL(nvmlDeviceGetGpuFabricInfoV, test->gpu, &info2));
        EXPECT("not supported", 0, info2.state);
    }
}

static void system_events(const test_t *test)
{
    nvmlSystemEventSetCreateRequest_v1_t create = {.version = nvmlSystemEventSetCreateRequest_v1};
    nvmlSystemEventSetFreeRequest_v1_t free_request = {.version = nvmlSystemEventSetFreeRequest_v1};
    nvmlSystemRegisterEventRequest_v1_t request = {.version = nvmlSystemRegisterEventRequest_v1, .eventTypes = 3};
    nvmlSystemEventData_v1_t data[1];
    nvmlSystemEventSetWaitRequest_v1_t wait = {
        .version = nvmlSystemEventSetWaitRequest_v1, .timeoutms = 1, .data = data, .dataSize = 1, .numEvent = 9};
    if (!has(test, "nvmlSystemEventSetCreate")) {
        return;
    }
    EXPECT("system event set", 0, CALL(nvmlSystemEventSetCreate, &create));
    request.set = wait.set = free_request.set = create.set;
    EXPECT("drivers that come and go", 0, CALL(nvmlSystemRegisterEvents, &request));
    EXPECT("none does", 10, CALL(nvmlSystemEventSetWait, &wait));
    EXPECT("no event", 0, wait.numEvent);
    EXPECT("freed", 0, CALL(nvmlSystemEventSetFree, &free_request));
    EXPECT("freed before", 2, CALL(nvmlSystemEventSetWait, &wait));
    create.version = 1;
    EXPECT("plain version", 25, CALL(nvmlSystemEventSetCreate, &create));
}

void test_node(test_t *test)
{
    nvmlExcludedDeviceInfo_t excluded;
    nvmlConfComputeSystemState_t state;
    unsigned count = 9, clocks[200];
    begin(test);
    EXPECT("excluded GPUs", 0, CALL(nvmlGetExcludedDeviceCount, &count));
    EXPECT("none", 0, count);
    EXPECT("the first of none", 2, CALL(nvmlGetExcludedDeviceInfoByIndex, 0, &excluded));
    if (has(test, "nvmlSystemGetConfComputeState")) {
        EXPECT("parts before Hopper", 3, CALL(nvmlSystemGetConfComputeState, &state));
        test->table->header->cc_environment = 0;
        memset(&state, 0xAA, sizeof state);
        EXPECT("Hopper", 0, CALL(nvmlSystemGetConfComputeState, &state));
        EXPECT("is off", 0, state.ccFeature);
    }
    count = 0;
    EXPECT("clocks are not known", 3, CALL(nvmlDeviceGetSupportedMemoryClocks, test->gpu, &count, NULL));
    test->table->gpu[0].clock_max[2] = 2619;
    EXPECT("how many", 7, CALL(nvmlDeviceGetSupportedMemoryClocks, test->gpu, &count, NULL));
    EXPECT("memory clocks", 0, CALL(nvmlDeviceGetSupportedMemoryClocks, test->gpu, &count, clocks));
    EXPECT("one", 1, count);
    EXPECT("the highest", 2619, clocks[0]);
    test->table->gpu[0].clock_max[0] = 1980;
    test->table->gpu[0].clock_min = 345;
    count = 200;
    EXPECT("graphics clocks", 0, CALL(nvmlDeviceGetSupportedGraphicsClocks, test->gpu, 2619, &count, clocks));
    EXPECT("from the highest to the lowest", 110, count);
    EXPECT("the lowest", 345, clocks[109]);
    EXPECT("of no memory clock", 6, CALL(nvmlDeviceGetSupportedGraphicsClocks, test->gpu, 2618, &count, clocks));
    no_fabric(test);
    system_events(test);
}
