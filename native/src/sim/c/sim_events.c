/*
 * Event sets. Events lie in the table's ring; each set reads it with its own cursor, from the
 * moment of its creation on, and sees the GPUs and types that were registered with it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "sim_call.h"

enum { SETS = 64 };

struct nvml_event_set {
    bool used;
    int64_t cursor;
    unsigned long long types[SIM_GPU_MAX];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nvml_event_set sets[SETS];

static bool known(nvmlEventSet_t set)
{
    return set >= &sets[0] && set < &sets[SETS] && set->used;
}

static int64_t head(const sim_table_t *table)
{
    return __atomic_load_n(&table->header->event_head, __ATOMIC_ACQUIRE);
}

SIM_SYSTEM(nvmlEventSetCreate, (nvmlEventSet_t * out), (out))
{
    nvmlReturn_t result = NVML_ERROR_INSUFFICIENT_RESOURCES;
    SIM_NEED(out)
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SETS && result != NVML_SUCCESS; i++) {
        if (!sets[i].used) {
            sets[i] = (struct nvml_event_set){.used = true, .cursor = head(call->table)};
            *out = &sets[i];
            result = NVML_SUCCESS;
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

SIM_SYSTEM(nvmlEventSetFree, (nvmlEventSet_t set), (set))
{
    (void)call;
    pthread_mutex_lock(&lock);
    bool found = known(set);
    if (found) {
        set->used = false;
    }
    pthread_mutex_unlock(&lock);
    return found ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

SIM_DEVICE(nvmlDeviceRegisterEvents, 0, (unsigned long long types, nvmlEventSet_t set), (types, set))
{
    int64_t supported = call->gpu->events_supported;
    if (supported == SIM_NA || (types & ~(unsigned long long)supported) != 0) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    pthread_mutex_lock(&lock);
    bool found = known(set);
    if (found) {
        set->types[call->slot] |= types;
    }
    pthread_mutex_unlock(&lock);
    return found ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

/* Takes the set's next event. A set that fell behind by more than the ring loses the oldest. */
static bool take(const sim_table_t *table, nvmlEventSet_t set, sim_event_t *event)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    int64_t end = head(table);
    if (set->cursor < end - SIM_EVENT_MAX) {
        set->cursor = end - SIM_EVENT_MAX;
    }
    while (!found && set->used && set->cursor < end) {
        *event = table->event[set->cursor++ % SIM_EVENT_MAX];
        found = event->gpu >= 0 && event->gpu < SIM_GPU_MAX
                && (set->types[event->gpu] & (unsigned long long)event->type) != 0;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Frozen table time does not stop a timeout: it is the caller's time. */
static nvmlReturn_t wait_event(sim_call_t *call, nvmlEventSet_t set, nvmlEventData_t *data,
                               unsigned timeout_ms)
{
    sim_event_t event;
    SIM_NEED(data)
    SIM_NEED(known(set))
    int64_t deadline = monotonic_ms() + timeout_ms;
    while (!take(call->table, set, &event)) {
        if (monotonic_ms() >= deadline) {
            return NVML_ERROR_TIMEOUT;
        }
        sim_sleep_ms(2);
    }
    data->device = sim_gpu_handle((int)event.gpu);
    data->eventType = (unsigned long long)event.type;
    data->eventData = sim_u64(call, event.data);
    data->gpuInstanceId = sim_u32(call, event.gi);
    data->computeInstanceId = sim_u32(call, event.ci);
    return NVML_SUCCESS;
}

SIM_EXPORT nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned ms);
nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned ms)
{
    sim_call_t call;
    nvmlReturn_t result = sim_gate(&call, FN_nvmlEventSetWait_v2, NULL);
    return sim_done(&call, result != NVML_SUCCESS ? result : wait_event(&call, set, data, ms));
}

/* The first form has no room for instance ids. */
SIM_EXPORT nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_v1_t *data, unsigned ms);
nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_v1_t *data, unsigned ms)
{
    sim_call_t call;
    nvmlEventData_t full;
    nvmlReturn_t result = sim_gate(&call, FN_nvmlEventSetWait, NULL);
    if (result == NVML_SUCCESS) {
        result = data ? wait_event(&call, set, &full, ms) : NVML_ERROR_INVALID_ARGUMENT;
    }
    if (result == NVML_SUCCESS) {
        *data = (nvmlEventData_v1_t){full.device, full.eventType, full.eventData};
    }
    return sim_done(&call, result);
}
