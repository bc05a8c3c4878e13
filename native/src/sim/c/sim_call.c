#include "sim_call.h"

#include <stdio.h>
#include <stdlib.h>
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

const char *sim_function_name(int function)
{
#define NAME(name) #name,
    static const char *const names[] = {"?", SIM_FUNCTIONS(NAME)};
    return names[function];
}

nvmlReturn_t sim_stub(int function)
{
    sim_call_t call;
    nvmlReturn_t result = sim_gate(&call, function, NULL);
    return sim_done(&call, result != NVML_SUCCESS ? result : NVML_ERROR_NOT_SUPPORTED);
}

nvmlReturn_t sim_done(const sim_call_t *call, nvmlReturn_t result)
{
    static int trace = -1;
    if (trace < 0) {
        const char *wanted = getenv("GPUWARDEN_SIM_TRACE");
        trace = wanted && *wanted;
    }
    if (trace) {
        fprintf(stderr, "sim: %s gpu %d -> %d\n", sim_function_name(call->function), call->slot,
                result);
    }
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

void sim_parse_hex(const char *text, unsigned char bytes[16])
{
    int digits = 0;
    memset(bytes, 0, 16);
    for (; *text && digits < 32; text++) {
        int digit = *text >= '0' && *text <= '9'   ? *text - '0'
                    : *text >= 'a' && *text <= 'f' ? *text - 'a' + 10
                    : *text >= 'A' && *text <= 'F' ? *text - 'A' + 10
                                                   : -1;
        if (digit >= 0) {
            bytes[digits / 2] = (unsigned char)(bytes[digits / 2] | digit << (digits % 2 ? 0 : 4));
            digits++;
        }
    }
}

unsigned sim_list_count(const sim_call_t *call, unsigned count, unsigned capacity)
{
    switch (call->lie) {
    case SIM_LIE_COUNT_ABOVE: return capacity + 1;
    case SIM_LIE_COUNT_2_31: return 0x80000000U;
    default: return count;
    }
}
