#include "sim_call.h"

#include <string.h>

/* Handles are addresses inside these; anything else is INVALID_ARGUMENT, not a crash. */
static char gpu_handles[SIM_GPU_MAX];
static char mig_handles[SIM_GPU_MAX * SIM_MIG_MAX];

nvmlDevice_t sim_gpu_handle(int slot)
{
    return (nvmlDevice_t)(void *)&gpu_handles[slot];
}

nvmlDevice_t sim_mig_handle(int slot, int instance)
{
    return (nvmlDevice_t)(void *)&mig_handles[slot * SIM_MIG_MAX + instance];
}

bool sim_handle_slot(nvmlDevice_t device, int *slot, int *instance)
{
    uintptr_t gpu = (uintptr_t)device - (uintptr_t)gpu_handles;
    uintptr_t mig = (uintptr_t)device - (uintptr_t)mig_handles;
    if (gpu < sizeof gpu_handles) {
        *slot = (int)gpu;
        *instance = -1;
        return true;
    }
    if (mig < sizeof mig_handles) {
        *slot = (int)(mig / SIM_MIG_MAX);
        *instance = (int)(mig % SIM_MIG_MAX);
        return true;
    }
    return false;
}

nvmlReturn_t sim_locate(sim_call_t *call, nvmlDevice_t device, int flags)
{
    int slot, instance;
    if (!sim_handle_slot(device, &slot, &instance) || sim_attached_index(slot) < 0) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    call->slot = slot;
    call->gpu = &call->table->gpu[slot];
    call->mig = instance < 0 ? NULL : &call->gpu->mig[instance];
    if (call->gpu->state == SIM_STATE_LOST || call->gpu->state == SIM_STATE_HIDDEN) {
        return NVML_ERROR_GPU_IS_LOST;
    }
    if (call->gpu->state == SIM_STATE_RESET_REQUIRED && !(flags & SIM_IDENTITY)) {
        return NVML_ERROR_RESET_REQUIRED;
    }
    if (call->mig) {
        if (!call->mig->present) {
            return NVML_ERROR_NOT_FOUND;
        }
        return flags & SIM_MIG_TOO ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
    }
    if ((flags & SIM_NOT_WITH_MIG) && call->gpu->mig_current == 1) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    return NVML_SUCCESS;
}

int sim_driver_major(void)
{
    return sim_generation > 1000 ? 535 : sim_generation;
}

nvmlReturn_t sim_gate(sim_call_t *call, int function, nvmlDevice_t device)
{
    int instance;
    *call = (sim_call_t){.slot = -1, .function = function};
    if (function != FN_nvmlInit_v2 && !sim_initialised()) {
        return NVML_ERROR_UNINITIALIZED;
    }
    call->table = sim_table();
    if (!call->table) {
        return NVML_ERROR_DRIVER_NOT_LOADED;
    }
    if (device && !sim_handle_slot(device, &call->slot, &instance)) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    sim_effect_t effect = sim_meet_faults(call->table, function, call->slot);
    call->lie = effect.lie;
    return (nvmlReturn_t)effect.code;
}

nvmlReturn_t sim_stub(int function)
{
    sim_call_t call;
    nvmlReturn_t result = sim_gate(&call, function, NULL);
    return sim_done(&call, result != NVML_SUCCESS ? result : NVML_ERROR_NOT_SUPPORTED);
}

nvmlReturn_t sim_done(const sim_call_t *call, nvmlReturn_t result)
{
    sim_trace(call->function, call->slot, (int)result);
    return result;
}

/* ---- answers ----------------------------------------------------------------------------- */

static int64_t spoiled(const sim_call_t *call, int64_t value)
{
    switch (call->lie) {
    case SIM_LIE_U32_MAX: return UINT32_MAX;
    case SIM_LIE_808334905: return 808334905;
    case SIM_LIE_ZERO: return 0;
    default: return value;
    }
}

nvmlReturn_t sim_put_u32(const sim_call_t *call, int64_t value, void *out)
{
    SIM_NEED(out)
    if (value == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    uint32_t number = (uint32_t)spoiled(call, value);
    memcpy(out, &number, sizeof number);
    return NVML_SUCCESS;
}

nvmlReturn_t sim_put_u64(const sim_call_t *call, int64_t value, unsigned long long *out)
{
    SIM_NEED(out)
    if (value == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    *out = (unsigned long long)spoiled(call, value);
    return NVML_SUCCESS;
}

unsigned sim_u32(const sim_call_t *call, int64_t value)
{
    return value == SIM_NA ? NVML_VALUE_NOT_AVAILABLE_U32 : (unsigned)spoiled(call, value);
}

unsigned long long sim_u64(const sim_call_t *call, int64_t value)
{
    return value == SIM_NA ? NVML_VALUE_NOT_AVAILABLE_U64
                           : (unsigned long long)spoiled(call, value);
}

nvmlReturn_t sim_put_string(const sim_call_t *call, const char *value, char *out, unsigned length)
{
    SIM_NEED(out)
    if (*value == '\0') {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    size_t needed = strlen(value) + 1;
    if (length < needed) {
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    memcpy(out, value, needed);
    if (call->lie == SIM_LIE_NOT_UTF8) {
        memset(out, 0xC3, needed - 1); /* a lead byte that no continuation byte follows */
    } else if (call->lie == SIM_LIE_UNTERMINATED) {
        memset(out, 'A', length);
    }
    return NVML_SUCCESS;
}

unsigned sim_list_count(const sim_call_t *call, unsigned count, unsigned capacity)
{
    switch (call->lie) {
    case SIM_LIE_COUNT_ABOVE: return capacity + 1;
    case SIM_LIE_COUNT_2_31: return 0x80000000U;
    default: return count;
    }
}
