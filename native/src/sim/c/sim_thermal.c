/* Temperatures, margins and fans. */
#include "sim_call.h"

/* Sensor 0 is the GPU, the only one that these calls support. */
SIM_DEVICE(nvmlDeviceGetTemperature, 0, (unsigned sensor, unsigned *temperature),
           (sensor, temperature))
{
    return sensor == 0 ? sim_put_u32(call, call->gpu->temp_gpu, temperature)
                       : NVML_ERROR_INVALID_ARGUMENT;
}

SIM_DEVICE(nvmlDeviceGetTemperatureV, 0, (nvmlTemperature_v1_t * info), (info))
{
    SIM_NEED(info)
    if (info->version != nvmlTemperature_v1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    return info->sensorType == 0 ? sim_put_u32(call, call->gpu->temp_gpu, &info->temperature)
                                 : NVML_ERROR_INVALID_ARGUMENT;
}

SIM_DEVICE(nvmlDeviceGetTemperatureThreshold, 0, (unsigned threshold, unsigned *temperature),
           (threshold, temperature))
{
    return threshold < NVML_THRESHOLD_COUNT
               ? sim_put_u32(call, call->gpu->temp_threshold[threshold], temperature)
               : NVML_ERROR_INVALID_ARGUMENT;
}

SIM_DEVICE(nvmlDeviceGetMarginTemperature, 0, (nvmlMarginTemperature_v1_t * margin), (margin))
{
    SIM_NEED(margin)
    if (margin->version != nvmlMarginTemperature_v1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    return sim_put_u32(call, call->gpu->temp_margin, &margin->marginTemperature);
}

/* nvml.h 13.3: sensor index 15 asks for all of them. */
SIM_DEVICE(nvmlDeviceGetThermalSettings, 0, (unsigned index, nvmlGpuThermalSettings_t *settings),
           (index, settings))
{
    SIM_NEED(settings)
    if (index != 0 && index != 15) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if (call->gpu->temp_gpu == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    *settings = (nvmlGpuThermalSettings_t){.count = 1};
    settings->sensor[0] = (nvmlGpuThermalSensor_t){
        .controller = 1, .currentTemp = (int)sim_u32(call, call->gpu->temp_gpu), .target = 1};
    return NVML_SUCCESS;
}

static nvmlReturn_t fan_speed(const sim_call_t *call, unsigned fan, unsigned *speed)
{
    if (call->gpu->fan_count == 0) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    if (fan >= SIM_FAN_MAX || fan >= call->gpu->fan_count) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    return sim_put_u32(call, call->gpu->fan_speed[fan], speed);
}

SIM_DEVICE(nvmlDeviceGetFanSpeed, 0, (unsigned *speed), (speed))
{
    return fan_speed(call, 0, speed);
}

SIM_DEVICE(nvmlDeviceGetFanSpeed_v2, 0, (unsigned fan, unsigned *speed), (fan, speed))
{
    return fan_speed(call, fan, speed);
}

SIM_GET_U32(nvmlDeviceGetNumFans, 0, gpu->fan_count)
