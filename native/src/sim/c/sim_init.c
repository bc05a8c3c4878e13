/* Init, shutdown, and which GPUs this process sees. */
#include <pthread.h>
#include <string.h>

#include "sim_call.h"
#include "sim_held.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int init_count;
static int attached_count;
static int attached[SIM_GPU_MAX];

bool sim_initialised(void)
{
    return __atomic_load_n(&init_count, __ATOMIC_ACQUIRE) > 0;
}

int sim_attached_count(void)
{
    return attached_count;
}

int sim_attached_slot(int index)
{
    return index >= 0 && index < attached_count ? attached[index] : -1;
}

int sim_attached_index(int slot)
{
    for (int index = 0; index < attached_count; index++) {
        if (attached[index] == slot) {
            return index;
        }
    }
    return -1;
}

static bool answers(const sim_gpu_t *gpu)
{
    return gpu->state == SIM_STATE_OK || gpu->state == SIM_STATE_RESET_REQUIRED;
}

/* Measured with driver 580.159.04: a GPU whose file this thread may not open is left out, and so are all with NO_ATTACH. */
static void attach_gpus(const sim_table_t *table, unsigned flags)
{
    int count = 0;
    for (int slot = 0; slot < SIM_GPU_MAX && slot < table->header->gpu_count; slot++) {
        const sim_gpu_t *gpu = &table->gpu[slot];
        bool listed = gpu->state != SIM_STATE_HIDDEN && !(flags & NVML_INIT_FLAG_NO_ATTACH);
        if (listed && (!answers(gpu) || sim_hold(table, slot, SIM_HELD_BY_INIT))) {
            attached[count++] = slot;
        }
    }
    attached_count = count;
}

static nvmlReturn_t first_init(unsigned flags)
{
    nvmlReturn_t result = sim_attach();
    if (result != NVML_SUCCESS) {
        return result;
    }
    sim_call_t call;
    result = sim_gate(&call, FN_nvmlInit_v2, NULL);
    if (result == NVML_SUCCESS) {
        sim_begin_read(call.table);
        int64_t loaded = call.table->header->kernel_driver;
        result = loaded != 0 && loaded != sim_generation
                     ? NVML_ERROR_LIB_RM_VERSION_MISMATCH
                     : (nvmlReturn_t)call.table->header->init_result;
    }
    if (result == NVML_SUCCESS) {
        attach_gpus(call.table, flags);
    }
    return sim_done(&call, result);
}

SIM_EXPORT nvmlReturn_t nvmlInitWithFlags(unsigned flags);
nvmlReturn_t nvmlInitWithFlags(unsigned flags)
{
    pthread_mutex_lock(&lock);
    nvmlReturn_t result = init_count > 0 ? NVML_SUCCESS : first_init(flags);
    if (result == NVML_SUCCESS) {
        __atomic_add_fetch(&init_count, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlInit_v2(void)
{
    return nvmlInitWithFlags(0);
}

SIM_EXPORT nvmlReturn_t nvmlInit(void);
nvmlReturn_t nvmlInit(void)
{
    return nvmlInitWithFlags(0);
}

/* Shutdown after a failed init answers 0 on the real library, and so it does here. */
SIM_EXPORT nvmlReturn_t nvmlShutdown(void);
nvmlReturn_t nvmlShutdown(void)
{
    pthread_mutex_lock(&lock);
    if (init_count > 0 && __atomic_sub_fetch(&init_count, 1, __ATOMIC_RELEASE) == 0) {
        sim_let_go();
    }
    pthread_mutex_unlock(&lock);
    return NVML_SUCCESS;
}
