/* The MIG profiles that a part supports. */
#include <stdio.h>
#include <string.h>

#include "sim_call.h"

/* 2 beyond the last profile that this driver has, 3 for one that this part lacks: callers walk until they see 2. */
static nvmlReturn_t find(const sim_call_t *call, unsigned number, const sim_mig_profile_t **profile)
{
    if (number >= sim_gi_profiles || number >= SIM_MIG_PROFILE_MAX) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    *profile = &call->gpu->mig_profile[number];
    return call->gpu->mig_current == SIM_NA || (*profile)->id == SIM_NA ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

static nvmlGpuInstanceProfileInfo_t plain(const sim_call_t *call, const sim_mig_profile_t *profile)
{
    return (nvmlGpuInstanceProfileInfo_t){.id = sim_u32(call, profile->id),
                                          .sliceCount = sim_u32(call, profile->slices),
                                          .instanceCount = sim_u32(call, profile->instances),
                                          .multiprocessorCount = sim_u32(call, profile->multiprocessors),
                                          .copyEngineCount = sim_u32(call, profile->copy_engines),
                                          .decoderCount = sim_u32(call, profile->decoders),
                                          .encoderCount = sim_u32(call, profile->encoders),
                                          .jpegCount = sim_u32(call, profile->jpegs),
                                          .ofaCount = sim_u32(call, profile->ofas),
                                          .memorySizeMB = sim_u64(call, profile->mem_mb)};
}

SIM_DEVICE(nvmlDeviceGetGpuInstanceProfileInfo, 0, (unsigned number, nvmlGpuInstanceProfileInfo_t *info),
           (number, info))
{
    const sim_mig_profile_t *profile;
    SIM_NEED(info)
    nvmlReturn_t result = find(call, number, &profile);
    if (result == NVML_SUCCESS) {
        *info = plain(call, profile);
    }
    return result;
}

/* The numbers from `first` up to the memory, which follow each other alike in every version. */
#define COPY_FROM(first, to, from)                                                                         \
    memcpy(&(to).first, &(from).first,                                                                     \
           offsetof(nvmlGpuInstanceProfileInfo_t, memorySizeMB) - offsetof(nvmlGpuInstanceProfileInfo_t, first))

/* v3 came with 550; it lost v2's field for peer-to-peer and has one for capabilities. */
static nvmlReturn_t versioned(const sim_call_t *call, const sim_mig_profile_t *profile,
                              nvmlGpuInstanceProfileInfo_v2_t *info)
{
    nvmlGpuInstanceProfileInfo_t from = plain(call, profile);
    nvmlGpuInstanceProfileInfo_v2_t second = {.version = info->version, .memorySizeMB = from.memorySizeMB};
    nvmlGpuInstanceProfileInfo_v3_t third = {
        .version = info->version, .id = from.id, .memorySizeMB = from.memorySizeMB};
    if (info->version == nvmlGpuInstanceProfileInfo_v3 && sim_driver_major() >= 550) {
        COPY_FROM(sliceCount, third, from);
        snprintf(third.name, sizeof third.name, "MIG %s", profile->name);
        memcpy(info, &third, sizeof third);
        return NVML_SUCCESS;
    }
    if (info->version != nvmlGpuInstanceProfileInfo_v2) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    COPY_FROM(id, second, from);
    snprintf(second.name, sizeof second.name, "MIG %s", profile->name);
    *info = second;
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetGpuInstanceProfileInfoV, 0, (unsigned number, nvmlGpuInstanceProfileInfo_v2_t *info),
           (number, info))
{
    const sim_mig_profile_t *profile;
    SIM_NEED(info)
    nvmlReturn_t result = find(call, number, &profile);
    return result != NVML_SUCCESS ? result : versioned(call, profile, info);
}

SIM_DEVICE(nvmlDeviceGetGpuInstanceProfileInfoByIdV, 0, (unsigned id, nvmlGpuInstanceProfileInfo_v2_t *info),
           (id, info))
{
    const sim_mig_profile_t *profile;
    SIM_NEED(info)
    for (unsigned number = 0; number < sim_gi_profiles; number++) {
        if (find(call, number, &profile) == NVML_SUCCESS && profile->id == id) {
            return versioned(call, profile, info);
        }
    }
    return call->gpu->mig_current == SIM_NA ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT;
}
