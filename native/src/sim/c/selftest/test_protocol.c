/* Init, symbols, values, states, field values. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftest.h"

void test_start(test_t *test)
{
    unsigned count = 0;
    char text[80] = "";
    bool old = is(test, "470");
    EXPECT("count before init", 1, CALL(nvmlDeviceGetCount_v2, &count));
    EXPECT("NVML version before init", old ? 1 : 0, CALL(nvmlSystemGetNVMLVersion, text, 80));
    EXPECT("driver version before init", 1, CALL(nvmlSystemGetDriverVersion, text, 80));
    unsetenv("GPUWARDEN_SIM");
    EXPECT("init without driver", 9, CALL(nvmlInit_v2));
    EXPECT("shutdown after failed init", 0, CALL(nvmlShutdown));
    setenv("GPUWARDEN_SIM", test->path, 1);
    test->table->header->init_result = 18;
    EXPECT("init that the table refuses", 18, CALL(nvmlInitWithFlags, 1));
    test->table->header->init_result = 0;
    EXPECT("first init", 0, CALL(nvmlInit_v2));
    EXPECT("second init", 0, CALL(nvmlInit_v2));
    EXPECT("first shutdown", 0, CALL(nvmlShutdown));
    EXPECT("count, still initialised", 0, CALL(nvmlDeviceGetCount_v2, &count));
    EXPECT("count", 2, count);
    EXPECT("last shutdown", 0, CALL(nvmlShutdown));
    EXPECT("count after shutdown", 1, CALL(nvmlDeviceGetCount_v2, &count));

    const char *(*error)(int);
    void *address = dlsym(test->library, "nvmlErrorString");
    memcpy(&error, &address, sizeof error);
    EXPECT("text of 15", 0, strcmp(error(15), "GPU is lost"));
    EXPECT("text of 25", 0, strcmp(error(25), old ? "Unknown Error" : "Argument version mismatch"));
    EXPECT("text of 12345", 0, strcmp(error(12345), "Unknown Error"));
}

/* Exactly the list's symbols: all of these, and none that only other generations have. */
void test_symbols(test_t *test)
{
#define NAME(name) #name,
    static const char *const all[] = {SIM_FUNCTIONS(NAME)};
    static bool listed[sizeof all / sizeof all[0]];
    char line[128];
    memset(listed, 0, sizeof listed);
    FILE *file = fopen(test->symbols, "r");
    EXPECT(test->symbols, 1, file != NULL);
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            listed[i] = listed[i] || strcmp(all[i], line) == 0;
        }
    }
    if (file) {
        fclose(file);
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        EXPECT(all[i], listed[i], has(test, all[i]));
    }
    test->table->header->magic = 1;
    EXPECT("init with a table of another layout", 18, CALL(nvmlInit_v2));
}

void test_values(test_t *test)
{
    sim_gpu_t *gpu = &test->table->gpu[0];
    unsigned number = 0;
    char text[96];
    nvmlMemory_t memory;
    nvmlMemory_v2_t memory2 = {.version = nvmlMemory_v2};
    nvmlDevice_t device = NULL;
    begin(test);
    EXPECT("temperature", 0, CALL(nvmlDeviceGetTemperature, test->gpu, 0, &number));
    EXPECT("degrees", 40, number);
    EXPECT("no buffer", 2, CALL(nvmlDeviceGetTemperature, test->gpu, 0, NULL));
    EXPECT("no such sensor", 2, CALL(nvmlDeviceGetTemperature, test->gpu, 9, &number));
    EXPECT("no such handle", 2, CALL(nvmlDeviceGetTemperature, &number, 0, &number));
    EXPECT("value that the part lacks", 3, CALL(nvmlDeviceGetPowerUsage, test->gpu, &number));
    EXPECT("short buffer", 7, CALL(nvmlDeviceGetName, test->gpu, text, 5));
    EXPECT("memory", 0, CALL(nvmlDeviceGetMemoryInfo, test->gpu, &memory));
    EXPECT("v1 used includes reserved", 3 << 10, memory.used);
    if (has(test, "nvmlDeviceGetMemoryInfo_v2")) {
        EXPECT("memory v2", 0, CALL(nvmlDeviceGetMemoryInfo_v2, test->gpu, &memory2));
        EXPECT("v2 used does not", 2 << 10, memory2.used);
        EXPECT("free", 77 << 10, memory2.free);
        memory2.version = 2;
        EXPECT("plain version", 25, CALL(nvmlDeviceGetMemoryInfo_v2, test->gpu, &memory2));
    }
    EXPECT("by UUID", 0, CALL(nvmlDeviceGetHandleByUUID, gpu->uuid, &device));
    EXPECT("same handle", 1, device == test->gpu);
    EXPECT("by serial", 0, CALL(nvmlDeviceGetHandleBySerial, "serial-1", &device));
    EXPECT("other handle", 1, device != test->gpu);
    EXPECT("by short bus id", 0, CALL(nvmlDeviceGetHandleByPciBusId_v2, "0000:1b:00.0", &device));
    EXPECT("by long bus id", 0, CALL(nvmlDeviceGetHandleByPciBusId_v2, "00000000:1C:00.0", &device));
    EXPECT("by no bus id", 6, CALL(nvmlDeviceGetHandleByPciBusId_v2, "0000:7f:00.0", &device));
    EXPECT("link", 0, CALL(nvmlDeviceGetNvLinkState, test->gpu, 0, &number));
    EXPECT("missing link", 3, CALL(nvmlDeviceGetNvLinkState, test->gpu, 1, &number));
    EXPECT("beyond all links", 2, CALL(nvmlDeviceGetNvLinkState, test->gpu, 36, &number));
    if (has(test, "nvmlDeviceGetGpuFabricInfoV")) {
        nvmlGpuFabricInfo_v3_t fabric = {.version = nvmlGpuFabricInfo_v3};
        EXPECT("fabric v3", is(test, "550") ? 25 : 0,
               CALL(nvmlDeviceGetGpuFabricInfoV, test->gpu, &fabric));
        fabric.version = nvmlGpuFabricInfo_v2;
        EXPECT("fabric v2", 0, CALL(nvmlDeviceGetGpuFabricInfoV, test->gpu, &fabric));
    }
    gpu->energy_mj = 1000;
    gpu->energy_epoch_ns = 1;
    gpu->power_usage = 100000;
    unsigned long long energy = 0;
    CALL(nvmlDeviceGetTotalEnergyConsumption, test->gpu, &energy);
    EXPECT("energy grows", 1, energy > 1000);
    test->table->header->frozen_time_ns = 5;
    CALL(nvmlDeviceGetTotalEnergyConsumption, test->gpu, &energy);
    EXPECT("energy in frozen time", 1000, energy);
}

void test_states(test_t *test)
{
    sim_gpu_t *gpu = &test->table->gpu[0];
    unsigned number = 0;
    char text[96];
    nvmlDevice_t device;
    begin(test);
    gpu->state = SIM_STATE_LOST;
    EXPECT("lost: temperature", 15, CALL(nvmlDeviceGetTemperature, test->gpu, 0, &number));
    EXPECT("lost: name", 15, CALL(nvmlDeviceGetName, test->gpu, text, 96));
    EXPECT("lost: handle", 15, CALL(nvmlDeviceGetHandleByIndex_v2, 0, &device));
    EXPECT("lost: count", 0, CALL(nvmlDeviceGetCount_v2, &number));
    EXPECT("lost: still counted", 2, number);
    gpu->state = SIM_STATE_RESET_REQUIRED;
    EXPECT("reset: temperature", 16, CALL(nvmlDeviceGetTemperature, test->gpu, 0, &number));
    EXPECT("reset: name", 0, CALL(nvmlDeviceGetName, test->gpu, text, 96));
    gpu->state = SIM_STATE_HIDDEN;
    EXPECT("hidden: temperature", 15, CALL(nvmlDeviceGetTemperature, test->gpu, 0, &number));
    CALL(nvmlShutdown);
    CALL(nvmlInit_v2);
    CALL(nvmlDeviceGetCount_v2, &number);
    EXPECT("hidden: gone after init", 1, number);
    EXPECT("hidden: old handle", 2, CALL(nvmlDeviceGetTemperature, test->gpu, 0, &number));
    EXPECT("next GPU took the index", 0, CALL(nvmlDeviceGetHandleByIndex_v2, 0, &device));
    CALL(nvmlDeviceGetTemperature, device, 0, &number);
    EXPECT("its temperature", 41, number);
    EXPECT("no such index", 2, CALL(nvmlDeviceGetHandleByIndex_v2, 1, &device));
}

void test_fields(test_t *test)
{
    nvmlFieldValue_t values[5] = {{.fieldId = 82}, {.fieldId = 83}, {.fieldId = 99999},
                                  {.fieldId = 164, .scopeId = 0}, {.fieldId = 230}};
    bool old = is(test, "470"), recent = is(test, "580") || is(test, "615");
    test->table->header->frozen_time_ns = 7000;
    test->table->gpu[0].link[0].speed_mbps = 26562;
    test->table->gpu[0].recovery_action = 1;
    begin(test);
    EXPECT("batch", 0, CALL(nvmlDeviceGetFieldValues, test->gpu, 5, values));
    EXPECT("memory temperature", 0, values[0].nvmlReturn);
    EXPECT("its value", 50, values[0].value.uiVal);
    EXPECT("its type", NVML_VALUE_TYPE_UNSIGNED_INT, values[0].valueType);
    EXPECT("its time", 7, values[0].timestamp);
    EXPECT("energy that the part lacks", 3, values[1].nvmlReturn);
    EXPECT("unknown id", 2, values[2].nvmlReturn);
    EXPECT("link speed by scope", old ? 2 : 0, values[3].nvmlReturn);
    EXPECT("its value", old ? 0 : 26562, values[3].value.uiVal);
    EXPECT("recovery action", recent ? 0 : 2, values[4].nvmlReturn);
}
