/* Utilisation. Not known for a GPU in MIG mode, nor for a MIG device. */
#include "sim_call.h"

SIM_DEVICE(nvmlDeviceGetUtilizationRates, SIM_NOT_WITH_MIG, (nvmlUtilization_t * rates), (rates))
{
    SIM_NEED(rates)
    if (call->gpu->util_gpu == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    rates->gpu = sim_u32(call, call->gpu->util_gpu);
    rates->memory = sim_u32(call, call->gpu->util_mem);
    return NVML_SUCCESS;
}

SIM_GET_U32_PAIR(nvmlDeviceGetEncoderUtilization, SIM_NOT_WITH_MIG, gpu->util_enc, gpu->util_period_us)
SIM_GET_U32_PAIR(nvmlDeviceGetDecoderUtilization, SIM_NOT_WITH_MIG, gpu->util_dec, gpu->util_period_us)
SIM_GET_U32_PAIR(nvmlDeviceGetJpgUtilization, SIM_NOT_WITH_MIG, gpu->util_jpg, gpu->util_period_us)
SIM_GET_U32_PAIR(nvmlDeviceGetOfaUtilization, SIM_NOT_WITH_MIG, gpu->util_ofa, gpu->util_period_us)

/* Domains 0 graphics, 1 frame buffer, 2 video, 3 bus. */
SIM_DEVICE(nvmlDeviceGetDynamicPstatesInfo, SIM_NOT_WITH_MIG, (nvmlGpuDynamicPstatesInfo_t * info),
           (info))
{
    SIM_NEED(info)
    if (call->gpu->util_gpu == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    *info = (nvmlGpuDynamicPstatesInfo_t){.flags = 1};
    info->utilization[0] =
        (nvmlPstateUtilization_t){.bIsPresent = 1, .percentage = sim_u32(call, call->gpu->util_gpu)};
    info->utilization[1] =
        (nvmlPstateUtilization_t){.bIsPresent = 1, .percentage = sim_u32(call, call->gpu->util_mem)};
    return NVML_SUCCESS;
}
