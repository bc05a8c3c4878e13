/* Planned faults, and answers while the table changes. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "selftest.h"

static void *release(void *argument)
{
    sim_fault_t *fault = argument;
    for (int i = 0; i < 2000 && __atomic_load_n(&fault->waiting, __ATOMIC_ACQUIRE) == 0; i++) {
        usleep(1000);
    }
    usleep(30000);
    __atomic_store_n(&fault->mode, SIM_FAULT_OFF, __ATOMIC_RELEASE);
    return NULL;
}

void test_faults(test_t *test)
{
    sim_fault_t *fault = &test->table->fault[3];
    unsigned number = 0;
    char text[96];
    unsigned char raw[64];
    nvmlDevice_t second;
    begin(test);
    CALL(nvmlDeviceGetHandleByIndex_v2, 1, &second);

    *fault = (sim_fault_t){
        .mode = SIM_FAULT_ERROR, .function = FN_nvmlDeviceGetTemperature, .code = 999};
    EXPECT("error on the other GPU", 0, CALL(nvmlDeviceGetTemperature, second, 0, &number));
    EXPECT("error on this GPU", 999, CALL(nvmlDeviceGetTemperature, test->gpu, 0, &number));
    EXPECT("counted", 1, fault->hits);
    EXPECT("another function", 0, CALL(nvmlDeviceGetName, test->gpu, text, 96));
    *fault = (sim_fault_t){.mode = SIM_FAULT_ERROR, .function = SIM_ALL, .gpu = SIM_ALL, .code = 4};
    EXPECT("error for all", 4, CALL(nvmlDeviceGetCount_v2, &number));
    EXPECT("also for what is not simulated", 4, CALL(nvmlUnitGetUnitInfo, NULL, NULL));

    pthread_t thread;
    *fault = (sim_fault_t){.mode = SIM_FAULT_HANG, .function = FN_nvmlDeviceGetTemperature};
    pthread_create(&thread, NULL, release, fault);
    EXPECT("hang, released", 0, CALL(nvmlDeviceGetTemperature, test->gpu, 0, &number));
    EXPECT("released by the table", SIM_FAULT_OFF, fault->mode);
    EXPECT("nobody waits", 0, fault->waiting);
    pthread_join(thread, NULL);

    *fault = (sim_fault_t){.mode = SIM_FAULT_LIE, .function = SIM_ALL, .lie = SIM_LIE_U32_MAX};
    CALL(nvmlDeviceGetTemperature, test->gpu, 0, &number);
    EXPECT("absurd number", 0xFFFFFFFFU, number);
    fault->lie = SIM_LIE_NOT_UTF8;
    CALL(nvmlDeviceGetName, test->gpu, text, 96);
    EXPECT("not UTF-8", 0xC3, (unsigned char)text[0]);
    fault->lie = SIM_LIE_UNTERMINATED;
    CALL(nvmlDeviceGetName, test->gpu, text, 96);
    EXPECT("no end", 1, memchr(text, 0, sizeof text) == NULL);
    add_process(test, 0, 100, 4096, SIM_PROCESS_COMPUTE);
    number = 2;
    fault->lie = SIM_LIE_COUNT_ABOVE;
    EXPECT("list", 0, CALL(nvmlDeviceGetComputeRunningProcesses_v2, test->gpu, &number, raw));
    EXPECT("count above the buffer", 3, number);
    number = 2;
    fault->lie = SIM_LIE_COUNT_2_31;
    CALL(nvmlDeviceGetComputeRunningProcesses_v2, test->gpu, &number, raw);
    EXPECT("count 2^31", 0x80000000U, number);
    nvmlFieldValue_t value = {.fieldId = 82};
    fault->lie = SIM_LIE_NAN;
    CALL(nvmlDeviceGetFieldValues, test->gpu, 1, &value);
    EXPECT("NaN", 1, value.value.dVal != value.value.dVal);
}

typedef struct {
    sim_table_t *table;
    int stop;
} writer_t;

/* Total is always four times what is used: a reader that sees both halves of a change notices. */
static void *write_table(void *argument)
{
    writer_t *writer = argument;
    sim_header_t *header = writer->table->header;
    sim_gpu_t *gpu = &writer->table->gpu[0];
    for (int64_t n = 1; !__atomic_load_n(&writer->stop, __ATOMIC_RELAXED); n++) {
        __atomic_store_n(&header->sequence, header->sequence + 1, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* else a store below may move above */
        gpu->mem_reserved = 0;
        gpu->mem_used = n;
        if (n % 64 == 0) {
            usleep(50);
        }
        gpu->mem_total = 4 * n;
        __atomic_store_n(&header->sequence, header->sequence + 1, __ATOMIC_RELEASE);
        usleep(5);
    }
    return NULL;
}

void test_consistency(test_t *test)
{
    writer_t writer = {.table = test->table};
    nvmlMemory_t memory;
    pthread_t thread;
    int torn = 0;
    begin(test);
    test->table->gpu[0].mem_reserved = 0;
    test->table->gpu[0].mem_total = 4 * test->table->gpu[0].mem_used;
    pthread_create(&thread, NULL, write_table, &writer);
    for (int i = 0; i < 2000; i++) {
        CALL(nvmlDeviceGetMemoryInfo, test->gpu, &memory);
        torn += memory.total != 4 * memory.used;
    }
    __atomic_store_n(&writer.stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    EXPECT("torn answers", 0, torn);
}
