/* cuInit, the driver's version, and the fork of a process that uses libcuda. */
#include "cuda_sim.h"
#include "sim_held.h"

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialised, forked;

bool cu_initialised(void)
{
    return __atomic_load_n(&initialised, __ATOMIC_ACQUIRE);
}

bool cu_forked(void)
{
    return forked;
}

/* The child has the parent's memory and none of its contexts: every call returns 3. */
static void after_fork(void)
{
    if (initialised) {
        forked = true;
        cu_account_forget();
    }
}

__attribute__((constructor)) static void prepare_fork(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

/* Without a kernel driver real libraries of 535 and 550 return 100. A mismatch of versions is 803. */
static CUresult driver_state(nvmlReturn_t result)
{
    switch (result) {
    case NVML_SUCCESS: return CUDA_SUCCESS;
    case NVML_ERROR_DRIVER_NOT_LOADED: return CUDA_ERROR_NO_DEVICE;
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH: return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    default: return CUDA_ERROR_UNKNOWN;
    }
}

/* Until the process ends, also without a context. */
static void hold(const sim_table_t *table, int slot)
{
    int64_t state = table->gpu[slot].state;
    if (state == SIM_STATE_OK || state == SIM_STATE_RESET_REQUIRED) {
        sim_hold(table, slot, SIM_HELD_BY_INIT);
    }
}

static CUresult start(const sim_table_t *table)
{
    CUresult result = driver_state((nvmlReturn_t)table->header->init_result);
    if (result == CUDA_SUCCESS) {
        sim_begin_read(table);
        cu_find_devices(table);
        result = cu_device_count == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
    }
    for (int i = 0; i < cu_device_count && result == CUDA_SUCCESS; i++) {
        hold(table, cu_devices[i].slot);
    }
    return result;
}

CU_ANYWHERE(cuInit, CU_ALWAYS, (unsigned flags), (flags))
{
    CU_NEED(flags == 0)
    pthread_mutex_lock(&init_lock);
    CUresult result = CUDA_SUCCESS;
    if (!initialised) {
        result = call->table ? start(call->table) : driver_state(sim_attach());
        __atomic_store_n(&initialised, result == CUDA_SUCCESS && call->table, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&init_lock);
    return result;
}

/* Real libraries of 535 and 550 return their own version here even without a driver. */
CU_ANYWHERE(cuDriverGetVersion, CU_ALWAYS, (int *version), (version))
{
    CU_NEED(version)
    bool known = call->table && call->table->header->cuda_version != SIM_NA;
    *version = known ? (int)call->table->header->cuda_version : 0;
    return CUDA_SUCCESS;
}
