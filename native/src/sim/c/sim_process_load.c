/* Utilisation samples by process. None on a MIG device or under MIG mode; NOT_FOUND when idle. */
#include "sim_call.h"

static unsigned long long sample_time(const sim_call_t *call, const sim_process_t *process)
{
    return (unsigned long long)(process->sample_time_us != 0 ? process->sample_time_us
                                                             : sim_now_ns(call->table) / 1000);
}

/* The next process after `from` with a sample newer than `last_seen`, or NULL. */
static const sim_process_t *next(const sim_call_t *call, int *from, unsigned long long last_seen)
{
    int64_t total = call->table->header->process_count;
    for (; *from < total && *from < SIM_PROCESS_MAX; ++*from) {
        const sim_process_t *process = &call->table->process[*from];
        if (process->gpu == call->slot && process->sm_util != SIM_NA
            && sample_time(call, process) > last_seen) {
            ++*from;
            return process;
        }
    }
    return NULL;
}

static nvmlReturn_t count_samples(const sim_call_t *call, unsigned long long last_seen, bool buffer,
                                  unsigned *count)
{
    unsigned found = 0;
    for (int at = 0; next(call, &at, last_seen);) {
        found++;
    }
    *count = found;
    return found == 0                              ? NVML_ERROR_NOT_FOUND
           : !buffer || found > call->capacity ? NVML_ERROR_INSUFFICIENT_SIZE
                                                   : NVML_SUCCESS;
}

SIM_LIST(nvmlDeviceGetProcessUtilization, SIM_NOT_WITH_MIG, count ? *count : 0,
         (nvmlProcessUtilizationSample_t * samples, unsigned *count, unsigned long long last_seen),
         (samples, count, last_seen))
{
    SIM_NEED(count)
    nvmlReturn_t result = count_samples(call, last_seen, samples != NULL, count);
    if (result != NVML_SUCCESS) {
        return result;
    }
    const sim_process_t *process;
    for (int at = 0; (process = next(call, &at, last_seen)) != NULL; samples++) {
        samples->pid = (unsigned)process->pid;
        samples->timeStamp = sample_time(call, process);
        samples->smUtil = sim_u32(call, process->sm_util);
        samples->memUtil = sim_u32(call, process->mem_util);
        samples->encUtil = sim_u32(call, process->enc_util);
        samples->decUtil = sim_u32(call, process->dec_util);
    }
    *count = sim_list_count(call, *count, call->capacity);
    return NVML_SUCCESS;
}

SIM_LIST(nvmlDeviceGetProcessesUtilizationInfo, SIM_NOT_WITH_MIG,
         info ? info->processSamplesCount : 0, (nvmlProcessesUtilizationInfo_v1_t * info), (info))
{
    SIM_NEED(info)
    if (info->version != nvmlProcessesUtilizationInfo_v1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    nvmlProcessUtilizationInfo_v1_t *sample = info->procUtilArray;
    nvmlReturn_t result = count_samples(call, info->lastSeenTimeStamp, sample != NULL,
                                        &info->processSamplesCount);
    if (result != NVML_SUCCESS) {
        return result;
    }
    const sim_process_t *process;
    for (int at = 0; (process = next(call, &at, info->lastSeenTimeStamp)) != NULL; sample++) {
        *sample = (nvmlProcessUtilizationInfo_v1_t){
            .timeStamp = sample_time(call, process),
            .pid = (unsigned)process->pid,
            .smUtil = sim_u32(call, process->sm_util),
            .memUtil = sim_u32(call, process->mem_util),
            .encUtil = sim_u32(call, process->enc_util),
            .decUtil = sim_u32(call, process->dec_util),
        };
    }
    info->processSamplesCount = sim_list_count(call, info->processSamplesCount, call->capacity);
    return NVML_SUCCESS;
}
