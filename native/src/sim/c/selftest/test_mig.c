/* MIG devices, and the instances and profiles behind them. */
#include <stdio.h>
#include <string.h>

#include "selftest.h"

void test_mig(test_t *test)
{
    sim_gpu_t *gpu = &test->table->gpu[0];
    unsigned number = 0;
    nvmlDevice_t mig = NULL, other = NULL;
    nvmlMemory_t memory;
    nvmlUtilization_t rates;
    begin(test);
    EXPECT("utilisation without MIG", 0, CALL(nvmlDeviceGetUtilizationRates, test->gpu, &rates));
    gpu->mig_current = 1;
    gpu->mig[1].present = 1;
    gpu->mig[1].gi = 3;
    gpu->mig[1].ci = 0;
    gpu->mig[1].mem_total = 1 << 10;
    snprintf(gpu->mig[1].uuid, sizeof gpu->mig[1].uuid, "MIG-1");
    add_process(test, 0, 100, 10, SIM_PROCESS_COMPUTE);
    add_process(test, 0, 101, 10, SIM_PROCESS_COMPUTE);
    test->table->process[1].gi = 3;
    test->table->process[1].ci = 0;
    EXPECT("hole", 6, CALL(nvmlDeviceGetMigDeviceHandleByIndex, test->gpu, 0, &mig));
    EXPECT("after the hole", 0, CALL(nvmlDeviceGetMigDeviceHandleByIndex, test->gpu, 1, &mig));
    EXPECT("beyond", 2, CALL(nvmlDeviceGetMigDeviceHandleByIndex, test->gpu, 7, &other));
    EXPECT("by MIG UUID", 0, CALL(nvmlDeviceGetHandleByUUID, "MIG-1", &other));
    EXPECT("same handle", 1, other == mig);
    EXPECT("memory", 0, CALL(nvmlDeviceGetMemoryInfo, mig, &memory));
    EXPECT("bytes", 1 << 10, memory.total);
    EXPECT("GPU instance", 0, CALL(nvmlDeviceGetGpuInstanceId, mig, &number));
    EXPECT("its id", 3, number);
    EXPECT("utilisation of MIG", 3, CALL(nvmlDeviceGetUtilizationRates, mig, &rates));
    EXPECT("utilisation under MIG", 3, CALL(nvmlDeviceGetUtilizationRates, test->gpu, &rates));
    EXPECT("clock of MIG", 3, CALL(nvmlDeviceGetClockInfo, mig, 0, &number));
    EXPECT("parent", 0, CALL(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, mig, &other));
    EXPECT("is the GPU", 1, other == test->gpu);
    nvmlProcessInfo_v2_t processes[4];
    number = 4;
    EXPECT("processes", 0, CALL(nvmlDeviceGetComputeRunningProcesses_v2, mig, &number, processes));
    EXPECT("one of two", 1, number);
    EXPECT("its pid", 101, processes[0].pid);
}

/* Two of a part's profiles, and three instances: 3g.40gb whole, 2g.20gb cut in two compute instances. */
static void partition(sim_gpu_t *gpu)
{
    gpu->mig_current = 1;
    gpu->mig_profile[1] = (sim_mig_profile_t){.id = 14, .slices = 2, .instances = 3, .mem_mb = 19968, .name = "2g.20gb"};
    gpu->mig_profile[2] = (sim_mig_profile_t){
        .id = 9, .slices = 3, .instances = 2, .multiprocessors = 42, .copy_engines = 3, .mem_mb = 40192, .name = "3g.40gb"};
    for (int i = 0; i < 3; i++) {
        gpu->mig[i].present = 1;
        gpu->mig[i].gi = i == 0 ? 1 : 3;
        gpu->mig[i].ci = i == 2 ? 1 : 0;
        gpu->mig[i].profile = i == 0 ? 9 : 14;
        gpu->mig[i].ci_profile = i == 0 ? 2 : 0;
        gpu->mig[i].placement_start = i == 0 ? 0 : 4;
        gpu->mig[i].placement_size = i == 0 ? 4 : 2;
        gpu->mig[i].gi_slices = i == 0 ? 3 : 2;
        gpu->mig[i].ci_slices = i == 0 ? 3 : 1;
        gpu->mig[i].multiprocessors = i == 0 ? 42 : 14;
    }
}

/* Follows the header: from 0 on, until the answer is INVALID_ARGUMENT. A walk that does not end has 99 steps. */
static void walk_profiles(const test_t *test)
{
    nvmlGpuInstanceProfileInfo_t info = {.id = 0};
    unsigned index = 0, found = 0;
    nvmlReturn_t result = 0;
    for (; index < 99 && result != 2; index++) {
        result = CALL(nvmlDeviceGetGpuInstanceProfileInfo, test->gpu, index, &info);
        found += result == 0;
        EXPECT("profile, none, or the end", 1, result == 0 || result == 2 || result == 3);
    }
    EXPECT("profiles that the header of this driver counts",
           is(test, "470") ? 7 : is(test, "580") ? 17 : is(test, "615") ? 18 : 10, index - 1);
    EXPECT("profiles of the part", 2, found);
}

void test_mig_profiles(test_t *test)
{
    nvmlGpuInstanceProfileInfo_t info;
    nvmlGpuInstanceProfileInfo_v2_t info2 = {.version = nvmlGpuInstanceProfileInfo_v2};
    nvmlGpuInstanceProfileInfo_v3_t info3 = {.version = nvmlGpuInstanceProfileInfo_v3};
    partition(&test->table->gpu[0]);
    begin(test);
    walk_profiles(test);
    EXPECT("profile", 0, CALL(nvmlDeviceGetGpuInstanceProfileInfo, test->gpu, 2, &info));
    EXPECT("its id", 9, info.id);
    EXPECT("its multiprocessors", 42, info.multiprocessorCount);
    EXPECT("its memory", 40192, info.memorySizeMB);
    EXPECT("how many fit", 2, info.instanceCount);
    EXPECT("no buffer", 2, CALL(nvmlDeviceGetGpuInstanceProfileInfo, test->gpu, 2, NULL));
    if (has(test, "nvmlDeviceGetGpuInstanceProfileInfoV")) {
        bool old = test->generation[0] == '5' && test->generation[1] == '3';
        EXPECT("v2", 0, CALL(nvmlDeviceGetGpuInstanceProfileInfoV, test->gpu, 2, &info2));
        EXPECT("its name", 0, strcmp(info2.name, "MIG 3g.40gb"));
        EXPECT("v3", old ? 25 : 0, CALL(nvmlDeviceGetGpuInstanceProfileInfoV, test->gpu, 2, &info3));
        EXPECT("copy engines in v3", old ? 0 : 3, info3.copyEngineCount);
        info2.version = 2;
        EXPECT("plain version", 25, CALL(nvmlDeviceGetGpuInstanceProfileInfoV, test->gpu, 2, &info2));
    }
    if (has(test, "nvmlDeviceGetGpuInstanceProfileInfoByIdV")) {
        info2.version = nvmlGpuInstanceProfileInfo_v2;
        EXPECT("by id", 0, CALL(nvmlDeviceGetGpuInstanceProfileInfoByIdV, test->gpu, 14, &info2));
        EXPECT("its slices", 2, info2.sliceCount);
        EXPECT("by no id", 2, CALL(nvmlDeviceGetGpuInstanceProfileInfoByIdV, test->gpu, 77, &info2));
    }
    test->table->gpu[0].mig_current = SIM_NA;
    EXPECT("part without MIG", 3, CALL(nvmlDeviceGetGpuInstanceProfileInfo, test->gpu, 2, &info));
    EXPECT("the end of a part without MIG", 2, CALL(nvmlDeviceGetGpuInstanceProfileInfo, test->gpu, 99, &info));
}

/* The profiles of compute instances in a GPU instance. */
static void compute_profiles(const test_t *test, nvmlGpuInstance_t instance)
{
    nvmlComputeInstanceProfileInfo_t info = {.id = 9};
    nvmlComputeInstanceProfileInfo_v2_t info2 = {.version = nvmlComputeInstanceProfileInfo_v2};
    unsigned index = 0;
    nvmlReturn_t result = 0;
    for (; index < 99 && result != 2; index++) {
        result = CALL(nvmlGpuInstanceGetComputeInstanceProfileInfo, instance, index, 0, &info);
        EXPECT("one, two or three slices of three", index < 3, result == 0);
    }
    EXPECT("compute profiles", is(test, "470") ? 7 : is(test, "615") ? 9 : 8, index - 1);
    EXPECT("one slice", 0, CALL(nvmlGpuInstanceGetComputeInstanceProfileInfo, instance, 0, 0, &info));
    EXPECT("a third of the multiprocessors", 14, info.multiprocessorCount);
    EXPECT("three of them", 3, info.instanceCount);
    EXPECT("no such engines", 2, CALL(nvmlGpuInstanceGetComputeInstanceProfileInfo, instance, 0, 1, &info));
    if (has(test, "nvmlGpuInstanceGetComputeInstanceProfileInfoV")) {
        EXPECT("v2", 0, CALL(nvmlGpuInstanceGetComputeInstanceProfileInfoV, instance, 1, 0, &info2));
        EXPECT("its name", 0, strcmp(info2.name, "MIG 2c.3g.40gb"));
        CALL(nvmlGpuInstanceGetComputeInstanceProfileInfoV, instance, 2, 0, &info2);
        EXPECT("name of the whole", 0, strcmp(info2.name, "MIG 3g.40gb"));
    }
}

void test_mig_instances(test_t *test)
{
    nvmlGpuInstance_t instances[7] = {NULL}, other;
    nvmlComputeInstance_t compute[7] = {NULL}, by_id;
    nvmlGpuInstanceInfo_t info;
    nvmlComputeInstanceInfo_t leaf;
    unsigned count = 0;
    partition(&test->table->gpu[0]);
    begin(test);
    EXPECT("instances of 3g", 0, CALL(nvmlDeviceGetGpuInstances, test->gpu, 9, instances, &count));
    EXPECT("one", 1, count);
    compute_profiles(test, instances[0]);
    EXPECT("instances of 2g", 0, CALL(nvmlDeviceGetGpuInstances, test->gpu, 14, instances, &count));
    EXPECT("one, with two compute instances", 1, count);
    EXPECT("no such profile", 2, CALL(nvmlDeviceGetGpuInstances, test->gpu, 77, instances, &count));
    EXPECT("info", 0, CALL(nvmlGpuInstanceGetInfo, instances[0], &info));
    EXPECT("its GPU", 1, info.device == test->gpu);
    EXPECT("its id", 3, info.id);
    EXPECT("its profile", 14, info.profileId);
    EXPECT("its place", 4, info.placement.start);
    EXPECT("by id", 0, CALL(nvmlDeviceGetGpuInstanceById, test->gpu, 3, &other));
    EXPECT("same handle", 1, other == instances[0]);
    EXPECT("by no id", 6, CALL(nvmlDeviceGetGpuInstanceById, test->gpu, 5, &other));
    EXPECT("no such handle", 2, CALL(nvmlGpuInstanceGetInfo, (nvmlGpuInstance_t)(void *)test, &info));
    EXPECT("a GPU is no instance", 2, CALL(nvmlGpuInstanceGetInfo, (nvmlGpuInstance_t)(void *)test->gpu, &info));
    EXPECT("compute instances", 0, CALL(nvmlGpuInstanceGetComputeInstances, instances[0], 0, compute, &count));
    EXPECT("two", 2, count);
    EXPECT("none of two slices", 0, CALL(nvmlGpuInstanceGetComputeInstances, instances[0], 1, compute + 2, &count));
    EXPECT("none", 0, count);
    EXPECT("leaf", 0, CALL(nvmlComputeInstanceGetInfo_v2, compute[1], &leaf));
    EXPECT("its GPU instance", 1, leaf.gpuInstance == instances[0]);
    EXPECT("its id", 1, leaf.id);
    EXPECT("after the first", 1, leaf.placement.start);
    memset(&leaf, 0xAA, sizeof leaf);
    EXPECT("first form", 0, CALL(nvmlComputeInstanceGetInfo, compute[1], &leaf));
    EXPECT("has no place", 0xAAAAAAAAU, leaf.placement.start);
    EXPECT("leaf by id", 0, CALL(nvmlGpuInstanceGetComputeInstanceById, instances[0], 1, &by_id));
    EXPECT("same handle", 1, by_id == compute[1]);
    test->table->gpu[0].state = SIM_STATE_LOST;
    EXPECT("lost", 15, CALL(nvmlGpuInstanceGetInfo, instances[0], &info));
    test->table->gpu[0].state = SIM_STATE_OK;
    test->table->gpu[0].mig_current = 0;
    EXPECT("MIG is off", 3, CALL(nvmlDeviceGetGpuInstances, test->gpu, 9, instances, &count));
}
