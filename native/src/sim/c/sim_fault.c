/* Planned faults: errors, hangs, delays and lies, by function and by GPU. */
#include <time.h>

#include "sim_state.h"

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
sim_effect_t sim_meet_faults(sim_table_t *table, int function, int slot)
{
    sim_effect_t effect = {0};
    for (int i = 0; i < SIM_FAULT_MAX; i++) {
        sim_fault_t *fault = &table->fault[i];
        if (!matches(fault, function, slot)) {
            continue;
        }
        __atomic_add_fetch(&fault->hits, 1, __ATOMIC_RELAXED);
        switch (fault->mode) {
        case SIM_FAULT_ERROR:
            effect.code = (int)fault->code;
            effect.by_name = fault->function != SIM_ALL;
            return effect;
        case SIM_FAULT_HANG: hang(fault, function, slot); break;
        case SIM_FAULT_DELAY: delay(fault->delay_us); break;
        case SIM_FAULT_LIE: effect.lie = (int)fault->lie; break;
        default: break;
        }
    }
    return effect;
}
