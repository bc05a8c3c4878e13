/*
 * GPU instances, and the compute instances in them, made from the rows of MIG devices: rows with one `gi` are one GPU
 * instance, each row is a compute instance. A GPU instance's handle stands for its first row.
 */
#include <stdio.h>
#include <string.h>

#include "sim_call.h"

static char gpu_instances[SIM_GPU_MAX * SIM_MIG_MAX];
static char compute_instances[SIM_GPU_MAX * SIM_MIG_MAX];

/* The MIG device behind a handle; for an invalid handle, one that every call refuses. */
static nvmlDevice_t device_of(const void *handle, const char *handles)
{
    static char none;
    uintptr_t place = (uintptr_t)handle - (uintptr_t)handles;
    return place < sizeof gpu_instances ? sim_mig_handle((int)place / SIM_MIG_MAX, (int)place % SIM_MIG_MAX)
                                        : (nvmlDevice_t)(void *)&none;
}

static nvmlDevice_t of_gpu_instance(nvmlGpuInstance_t handle)
{
    return device_of(handle, gpu_instances);
}

static nvmlDevice_t of_compute_instance(nvmlComputeInstance_t handle)
{
    return device_of(handle, compute_instances);
}

static nvmlGpuInstance_t gpu_instance(const sim_call_t *call, int row)
{
    return (nvmlGpuInstance_t)(void *)&gpu_instances[call->slot * SIM_MIG_MAX + row];
}

static nvmlComputeInstance_t compute_instance(const sim_call_t *call, int row)
{
    return (nvmlComputeInstance_t)(void *)&compute_instances[call->slot * SIM_MIG_MAX + row];
}

/* The first row of a GPU instance; -1 if there is none. */
static int first_row(const sim_call_t *call, int64_t gi)
{
    for (int row = 0; row < SIM_MIG_MAX; row++) {
        if (call->gpu->mig[row].present && call->gpu->mig[row].gi == gi) {
            return row;
        }
    }
    return -1;
}

/* ---- of a GPU ----------------------------------------------------------------------------- */

static bool has_profile(const sim_call_t *call, unsigned id)
{
    for (int i = 0; i < SIM_MIG_PROFILE_MAX; i++) {
        if (call->gpu->mig_profile[i].id == id) {
            return true;
        }
    }
    return false;
}

/* The caller's buffer has room for as many as the profile's instance count, as the header demands. */
SIM_DEVICE(nvmlDeviceGetGpuInstances, 0, (unsigned profile, nvmlGpuInstance_t *instances, unsigned *count),
           (profile, instances, count))
{
    unsigned found = 0;
    SIM_NEED(instances && count)
    if (call->gpu->mig_current != 1) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    SIM_NEED(has_profile(call, profile))
    for (int row = 0; row < SIM_MIG_MAX; row++) {
        const sim_mig_t *mig = &call->gpu->mig[row];
        if (mig->present && mig->profile == profile && first_row(call, mig->gi) == row) {
            instances[found++] = gpu_instance(call, row);
        }
    }
    *count = found;
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetGpuInstanceById, 0, (unsigned id, nvmlGpuInstance_t *instance), (id, instance))
{
    SIM_NEED(instance)
    if (call->gpu->mig_current != 1) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    int row = first_row(call, id);
    if (row < 0) {
        return NVML_ERROR_NOT_FOUND;
    }
    *instance = gpu_instance(call, row);
    return NVML_SUCCESS;
}

/* ---- of a GPU instance -------------------------------------------------------------------- */

#define GPU_INSTANCE(name, parameters, arguments) \
    SIM_HANDLE(name, nvmlGpuInstance_t, of_gpu_instance, SIM_MIG_TOO, 0, parameters, arguments)

GPU_INSTANCE(nvmlGpuInstanceGetInfo, (nvmlGpuInstanceInfo_t * info), (info))
{
    const sim_mig_t *mig = call->mig;
    SIM_NEED(info)
    *info = (nvmlGpuInstanceInfo_t){.device = sim_gpu_handle(call->slot),
                                    .id = sim_u32(call, mig->gi),
                                    .profileId = sim_u32(call, mig->profile),
                                    .placement = {sim_u32(call, mig->placement_start), sim_u32(call, mig->placement_size)}};
    return NVML_SUCCESS;
}

GPU_INSTANCE(nvmlGpuInstanceGetComputeInstances,
             (unsigned profile, nvmlComputeInstance_t *instances, unsigned *count), (profile, instances, count))
{
    unsigned found = 0;
    SIM_NEED(instances && count)
    for (int row = 0; row < SIM_MIG_MAX; row++) {
        const sim_mig_t *mig = &call->gpu->mig[row];
        if (mig->present && mig->gi == call->mig->gi && mig->ci_profile == profile) {
            instances[found++] = compute_instance(call, row);
        }
    }
    *count = found;
    return NVML_SUCCESS;
}

GPU_INSTANCE(nvmlGpuInstanceGetComputeInstanceById, (unsigned id, nvmlComputeInstance_t *instance), (id, instance))
{
    SIM_NEED(instance)
    for (int row = 0; row < SIM_MIG_MAX; row++) {
        const sim_mig_t *mig = &call->gpu->mig[row];
        if (mig->present && mig->gi == call->mig->gi && mig->ci == id) {
            *instance = compute_instance(call, row);
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

/* ---- profiles of compute instances --------------------------------------------------------- */

/* nvml.h 13.3, NVML_COMPUTE_INSTANCE_PROFILE: 1, 2, 3, 4, 7, 8 and 6 slices, and two more kinds that no part here has. */
static const unsigned slices_of[] = {1, 2, 3, 4, 7, 8, 6};

/* Three of four slices are not offered (nvidia-smi mig -lcip). All rows of a GPU instance have a share of its multiprocessors. */
static nvmlReturn_t compute_profile(const sim_call_t *call, unsigned number, unsigned engines,
                                    nvmlComputeInstanceProfileInfo_t *info)
{
    const sim_mig_t *mig = call->mig;
    if (number >= sim_ci_profiles || engines > 0) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    unsigned slices = number < sizeof slices_of / sizeof slices_of[0] ? slices_of[number] : 0;
    if (slices == 0 || slices > mig->gi_slices || (slices == 3 && mig->gi_slices == 4)) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    int64_t of_slice = mig->ci_slices > 0 && mig->multiprocessors != SIM_NA ? mig->multiprocessors / mig->ci_slices : 0;
    *info = (nvmlComputeInstanceProfileInfo_t){.id = number,
                                               .sliceCount = slices,
                                               .instanceCount = (unsigned)mig->gi_slices / slices,
                                               .multiprocessorCount = sim_u32(call, of_slice * slices),
                                               .sharedCopyEngineCount = sim_u32(call, mig->copy_engines),
                                               .sharedDecoderCount = sim_u32(call, mig->decoders),
                                               .sharedEncoderCount = sim_u32(call, mig->encoders),
                                               .sharedJpegCount = sim_u32(call, mig->jpegs),
                                               .sharedOfaCount = sim_u32(call, mig->ofas)};
    return NVML_SUCCESS;
}

GPU_INSTANCE(nvmlGpuInstanceGetComputeInstanceProfileInfo,
             (unsigned number, unsigned engines, nvmlComputeInstanceProfileInfo_t *info), (number, engines, info))
{
    SIM_NEED(info)
    return compute_profile(call, number, engines, info);
}

/* "MIG 2c.3g.40gb", and "MIG 3g.40gb" for the whole. */
static void name_profile(const sim_call_t *call, unsigned slices, char name[96])
{
    const char *whole = "";
    for (int i = 0; i < SIM_MIG_PROFILE_MAX; i++) {
        if (call->gpu->mig_profile[i].id == call->mig->profile) {
            whole = call->gpu->mig_profile[i].name;
        }
    }
    if (slices == call->mig->gi_slices) {
        snprintf(name, 96, "MIG %s", whole);
    } else {
        snprintf(name, 96, "MIG %uc.%s", slices, whole);
    }
}

/* v3 is v2 with one number more at its end. */
GPU_INSTANCE(nvmlGpuInstanceGetComputeInstanceProfileInfoV,
             (unsigned number, unsigned engines, nvmlComputeInstanceProfileInfo_v3_t *info), (number, engines, info))
{
    nvmlComputeInstanceProfileInfo_t plain;
    SIM_NEED(info)
    bool third = info->version == nvmlComputeInstanceProfileInfo_v3 && sim_driver_major() >= 550;
    if (!third && info->version != nvmlComputeInstanceProfileInfo_v2) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    nvmlReturn_t result = compute_profile(call, number, engines, &plain);
    if (result == NVML_SUCCESS) {
        memcpy(&info->id, &plain, sizeof plain);
        memset(info->name, 0, sizeof info->name);
        name_profile(call, plain.sliceCount, info->name);
        if (third) {
            info->capabilities = 0;
        }
    }
    return result;
}

/* ---- of a compute instance ----------------------------------------------------------------- */

#define COMPUTE_INSTANCE(name, parameters, arguments) \
    SIM_HANDLE(name, nvmlComputeInstance_t, of_compute_instance, SIM_MIG_TOO, 0, parameters, arguments)

static nvmlReturn_t info_of(const sim_call_t *call, nvmlComputeInstanceInfo_t *info)
{
    unsigned start = 0;
    for (const sim_mig_t *mig = call->gpu->mig; mig < call->mig; mig++) {
        start += mig->present && mig->gi == call->mig->gi ? (unsigned)mig->ci_slices : 0;
    }
    *info = (nvmlComputeInstanceInfo_t){.device = sim_gpu_handle(call->slot),
                                        .gpuInstance = gpu_instance(call, first_row(call, call->mig->gi)),
                                        .id = sim_u32(call, call->mig->ci),
                                        .profileId = sim_u32(call, call->mig->ci_profile),
                                        .placement = {start, sim_u32(call, call->mig->ci_slices)}};
    return NVML_SUCCESS;
}

COMPUTE_INSTANCE(nvmlComputeInstanceGetInfo_v2, (nvmlComputeInstanceInfo_t * info), (info))
{
    SIM_NEED(info)
    return info_of(call, info);
}

/* The first form has no room for the placement. */
COMPUTE_INSTANCE(nvmlComputeInstanceGetInfo, (nvmlComputeInstanceInfo_t * info), (info))
{
    nvmlComputeInstanceInfo_t whole;
    SIM_NEED(info)
    nvmlReturn_t result = info_of(call, &whole);
    memcpy(info, &whole, offsetof(nvmlComputeInstanceInfo_t, placement));
    return result;
}
