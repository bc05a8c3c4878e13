/* Planned faults: errors, hangs, delays and lies, by function and by GPU. */
#include <time.h>

#include "sim_call.h"

static bool matches(const sim_fault_t *fault, int function, int slot)
{
    return fault->mode != SIM_FAULT_OFF && (fault->function == SIM_ALL || fault->function == function)
           && (fault->gpu == SIM_ALL || fault->gpu == slot);
}

static void hang(sim_fault_t *fault, int function, int slot)
{
    __atomic_add_fetch(&fault->waiting, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&fault->mode, __ATOMIC_ACQUIRE) == SIM_FAULT_HANG
           && matches(fault, function, slot)) {
        sim_sleep_ms(10);
    }
    __atomic_sub_fetch(&fault->waiting, 1, __ATOMIC_RELAXED);
}

static void delay(int64_t microseconds)
{
    struct timespec pause = {(time_t)(microseconds / 1000000),
                             (long)(microseconds % 1000000) * 1000};
    nanosleep(&pause, NULL);
}

/* Every matching entry counts: a delay and a lie may be planned for the same call. */
static nvmlReturn_t meet_faults(sim_call_t *call)
{
    for (int i = 0; i < SIM_FAULT_MAX; i++) {
        sim_fault_t *fault = &call->table->fault[i];
        if (!matches(fault, call->function, call->slot)) {
            continue;
        }
        __atomic_add_fetch(&fault->hits, 1, __ATOMIC_RELAXED);
        switch (fault->mode) {
        case SIM_FAULT_ERROR: return (nvmlReturn_t)fault->code;
        case SIM_FAULT_HANG: hang(fault, call->function, call->slot); break;
        case SIM_FAULT_DELAY: delay(fault->delay_us); break;
        case SIM_FAULT_LIE: call->lie = (int)fault->lie; break;
        default: break;
        }
    }
    return NVML_SUCCESS;
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
    return meet_faults(call);
}
