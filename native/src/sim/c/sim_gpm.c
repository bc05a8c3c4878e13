/* GPM, the metrics of Hopper and later. A sample remembers its GPU; values come from the table. */
#include <stdlib.h>

#include "sim_call.h"

struct nvml_gpm_sample {
    int slot; /* -1 until a sample was taken */
};

SIM_DEVICE(nvmlGpmQueryDeviceSupport, 0, (nvmlGpmSupport_t * support), (support))
{
    SIM_NEED(support)
    if (support->version != 1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    support->isSupportedDevice = call->gpu->gpm_supported == 1;
    return NVML_SUCCESS;
}

/* Not written as SIM_SYSTEM: its body may run twice. */
SIM_EXPORT nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *sample);
nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *sample)
{
    sim_call_t call;
    nvmlReturn_t result = sim_gate(&call, FN_nvmlGpmSampleAlloc, NULL);
    if (result == NVML_SUCCESS) {
        SIM_NEED(sample)
        *sample = malloc(sizeof **sample);
        if (*sample) {
            (*sample)->slot = -1;
        } else {
            result = NVML_ERROR_MEMORY;
        }
    }
    return sim_done(&call, result);
}

SIM_EXPORT nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample);
nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample)
{
    sim_call_t call;
    nvmlReturn_t result = sim_gate(&call, FN_nvmlGpmSampleFree, NULL);
    if (result == NVML_SUCCESS) {
        SIM_NEED(sample)
        free(sample);
    }
    return sim_done(&call, result);
}

SIM_DEVICE(nvmlGpmSampleGet, 0, (nvmlGpmSample_t sample), (sample))
{
    SIM_NEED(sample)
    if (call->gpu->gpm_supported != 1) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    sample->slot = call->slot;
    return NVML_SUCCESS;
}

/* A partition is as busy as its GPU: the table has no numbers of its own for it. */
SIM_DEVICE(nvmlGpmMigSampleGet, 0, (unsigned instance, nvmlGpmSample_t sample), (instance, sample))
{
    SIM_NEED(sample)
    if (call->gpu->gpm_supported != 1) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    for (int i = 0; i < SIM_MIG_MAX; i++) {
        const sim_mig_t *mig = &call->gpu->mig[i];
        if (call->gpu->mig_current == 1 && mig->present && mig->gi == instance) {
            sample->slot = call->slot;
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_INVALID_ARGUMENT;
}

enum { METRICS = sizeof((sim_gpu_t *)0)->gpm_milli / sizeof(int64_t) };

static const double not_a_number = __builtin_nan("");

SIM_SYSTEM(nvmlGpmMetricsGet, (nvmlGpmMetricsGet_t * get), (get))
{
    SIM_NEED(get)
    if (get->version != 1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    SIM_NEED(get->sample1 && get->sample2 && get->sample1->slot == get->sample2->slot)
    SIM_NEED(get->sample1->slot >= 0)
    const int64_t *values = call->table->gpu[get->sample1->slot].gpm_milli;
    for (unsigned i = 0; i < get->numMetrics && i < 333; i++) {
        nvmlGpmMetric_t *metric = &get->metrics[i];
        bool have = metric->metricId < METRICS && values[metric->metricId] != SIM_NA;
        metric->nvmlReturn = have ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
        metric->value = call->lie == SIM_LIE_NAN ? not_a_number
                        : have                   ? (double)values[metric->metricId] / 1000
                                                 : 0;
    }
    return NVML_SUCCESS;
}
