/* Sets of system events (580 and later): drivers that are bound and unbound. Here none ever is. */
#include <pthread.h>

#include "sim_call.h"

enum { SETS = 64, BIND_AND_UNBIND = 3 };

struct nvml_system_event_set {
    bool used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nvml_system_event_set sets[SETS];

static bool known(nvmlSystemEventSet_t set)
{
    return set >= &sets[0] && set < &sets[SETS] && set->used;
}

#define NEED_REQUEST(word)                                \
    SIM_NEED(request)                                     \
    if (request->version != (word)) {                     \
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;      \
    }

SIM_SYSTEM(nvmlSystemEventSetCreate, (nvmlSystemEventSetCreateRequest_v1_t * request), (request))
{
    (void)call;
    nvmlReturn_t result = NVML_ERROR_INSUFFICIENT_RESOURCES;
    NEED_REQUEST(nvmlSystemEventSetCreateRequest_v1)
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SETS && result != NVML_SUCCESS; i++) {
        if (!sets[i].used) {
            sets[i].used = true;
            request->set = &sets[i];
            result = NVML_SUCCESS;
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

SIM_SYSTEM(nvmlSystemEventSetFree, (nvmlSystemEventSetFreeRequest_v1_t * request), (request))
{
    (void)call;
    NEED_REQUEST(nvmlSystemEventSetFreeRequest_v1)
    pthread_mutex_lock(&lock);
    bool found = known(request->set);
    if (found) {
        request->set->used = false;
    }
    pthread_mutex_unlock(&lock);
    return found ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

SIM_SYSTEM(nvmlSystemRegisterEvents, (nvmlSystemRegisterEventRequest_v1_t * request), (request))
{
    (void)call;
    NEED_REQUEST(nvmlSystemRegisterEventRequest_v1)
    SIM_NEED(known(request->set))
    return request->eventTypes & ~(unsigned long long)BIND_AND_UNBIND ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

SIM_EXPORT nvmlReturn_t nvmlSystemEventSetWait(nvmlSystemEventSetWaitRequest_v1_t *request);

static nvmlReturn_t wait_for_none(nvmlSystemEventSetWaitRequest_v1_t *request)
{
    NEED_REQUEST(nvmlSystemEventSetWaitRequest_v1)
    SIM_NEED(known(request->set) && request->data)
    request->numEvent = 0;
    sim_sleep_ms((int)(request->timeoutms & 0x7FFFFFFF));
    return NVML_ERROR_TIMEOUT;
}

/* Not written as SIM_SYSTEM: its body may run twice. */
nvmlReturn_t nvmlSystemEventSetWait(nvmlSystemEventSetWaitRequest_v1_t *request)
{
    sim_call_t call;
    nvmlReturn_t result = sim_gate(&call, FN_nvmlSystemEventSetWait, NULL);
    return sim_done(&call, result != NVML_SUCCESS ? result : wait_for_none(request));
}
