/* Calls that need no device: versions, error strings, confidential computing. */
#include <string.h>

#include "sim_call.h"
#include "sim_process.h"

/* Printed by the 470, 535 and 550 libraries; `since` is the first of these with the text. */
static const struct {
    nvmlReturn_t code;
    int since;
    const char *text;
} errors[] = {
    {0, 0, "Success"},
    {1, 0, "Uninitialized"},
    {2, 0, "Invalid Argument"},
    {3, 0, "Not Supported"},
    {4, 0, "Insufficient Permissions"},
    {5, 0, "Already Initialized"},
    {6, 0, "Not Found"},
    {7, 0, "Insufficient Size"},
    {8, 0, "Insufficient External Power"},
    {9, 0, "Driver Not Loaded"},
    {10, 0, "Timeout"},
    {11, 0, "Interrupt Request Issue"},
    {12, 0, "NVML Shared Library Not Found"},
    {13, 0, "Function Not Found"},
    {14, 0, "Corrupted infoROM"},
    {15, 0, "GPU is lost"},
    {16, 0, "GPU requires reset"},
    {17, 0, "GPU access blocked by the operating system"},
    {18, 0, "Driver/library version mismatch"},
    {19, 0, "In use by another client"},
    {20, 0, "Insufficient Memory"},
    {21, 535, "No data"},
    {22, 535, "vGPU ECC not supported"},
    {23, 0, "Insufficient Resources"},
    {24, 0, "Invalid Frequency"},
    {25, 535, "Argument version mismatch"},
    {26, 535, "Requested functionality has been deprecated"},
    {27, 535, "System is not in ready state"},
    {28, 550, "No supported GPUs were found"},
    {29, 550, "Resource not in correct state to perform requested operation"},
};

SIM_EXPORT const char *nvmlErrorString(nvmlReturn_t code);
const char *nvmlErrorString(nvmlReturn_t code)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (errors[i].code == code && sim_driver_major() >= errors[i].since) {
            return errors[i].text;
        }
    }
    return "Unknown Error";
}

static const char *text_or(const char *text, const char *standard)
{
    return *text ? text : standard;
}

/* Answers without init from 535 on, and even without a driver. */
SIM_EXPORT nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned length);
nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned length)
{
    sim_call_t call;
    nvmlReturn_t result = sim_gate(&call, FN_nvmlSystemGetNVMLVersion, NULL);
    bool early = result == NVML_ERROR_UNINITIALIZED && sim_driver_major() >= 535;
    if (result == NVML_SUCCESS || early) {
        const sim_table_t *table = sim_table();
        int64_t loaded = table ? table->header->kernel_driver : 0;
        bool own = loaded == 0 || loaded == sim_generation;
        const char *text = table && own ? table->header->nvml_version : "";
        result = sim_put_string(&call, text_or(text, sim_default_nvml), version, length);
    }
    return sim_done(&call, result);
}

SIM_SYSTEM(nvmlSystemGetDriverVersion, (char *version, unsigned length), (version, length))
{
    const char *text = call->table->header->driver_version;
    return sim_put_string(call, text_or(text, sim_default_driver), version, length);
}

SIM_SYSTEM(nvmlSystemGetDriverBranch,
           (nvmlSystemDriverBranchInfo_v1_t * info, unsigned length), (info, length))
{
    SIM_NEED(info)
    if (info->version != nvmlSystemDriverBranchInfo_v1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    size_t room = length < sizeof info->branch ? length : sizeof info->branch;
    return sim_put_string(call, call->table->header->driver_branch, info->branch, (unsigned)room);
}

SIM_SYSTEM(nvmlSystemGetCudaDriverVersion, (int *version), (version))
{
    return sim_put_u32(call, call->table->header->cuda_version, version);
}

SIM_SYSTEM(nvmlSystemGetCudaDriverVersion_v2, (int *version), (version))
{
    return sim_put_u32(call, call->table->header->cuda_version, version);
}

SIM_SYSTEM(nvmlSystemGetProcessName, (unsigned pid, char *name, unsigned length),
           (pid, name, length))
{
    SIM_NEED(name)
    const sim_process_t *process;
    sim_process_t room;
    for (int at = 0; (process = sim_next_process(call->table, &at, &room)) != NULL;) {
        if (process->pid == (int64_t)pid && *process->name) {
            return sim_put_string(call, process->name, name, length);
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

/* No GPU of a node is hidden from its driver. */
SIM_SYSTEM(nvmlGetExcludedDeviceCount, (unsigned *count), (count))
{
    return sim_put_u32(call, 0, count);
}

SIM_SYSTEM(nvmlGetExcludedDeviceInfoByIndex, (unsigned index, nvmlExcludedDeviceInfo_t *info), (index, info))
{
    (void)call;
    (void)index;
    (void)info;
    return NVML_ERROR_INVALID_ARGUMENT;
}

/* ---- confidential computing -------------------------------------------------------------- */

SIM_SYSTEM(nvmlSystemGetConfComputeState, (nvmlConfComputeSystemState_t * state), (state))
{
    const sim_header_t *header = call->table->header;
    SIM_NEED(state)
    if (header->cc_environment == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    state->environment = sim_u32(call, header->cc_environment);
    state->ccFeature = sim_u32(call, header->cc_feature);
    state->devToolsMode = sim_u32(call, header->cc_dev_tools);
    return NVML_SUCCESS;
}

SIM_SYSTEM(nvmlSystemGetConfComputeSettings, (nvmlSystemConfComputeSettings_v1_t * settings),
           (settings))
{
    const sim_header_t *header = call->table->header;
    SIM_NEED(settings)
    if (settings->version != nvmlSystemConfComputeSettings_v1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    if (header->cc_environment == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    settings->environment = sim_u32(call, header->cc_environment);
    settings->ccFeature = sim_u32(call, header->cc_feature);
    settings->devToolsMode = sim_u32(call, header->cc_dev_tools);
    settings->multiGpuMode = sim_u32(call, header->cc_multi_gpu);
    return NVML_SUCCESS;
}

SIM_SYSTEM(nvmlSystemGetConfComputeCapabilities, (nvmlConfComputeSystemCaps_t * caps), (caps))
{
    SIM_NEED(caps)
    if (call->table->header->cc_cpu_caps == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    caps->cpuCaps = sim_u32(call, call->table->header->cc_cpu_caps);
    caps->gpusCaps = sim_u32(call, call->table->header->cc_gpu_caps);
    return NVML_SUCCESS;
}

SIM_SYSTEM(nvmlSystemGetConfComputeGpusReadyState, (unsigned *ready), (ready))
{
    return sim_put_u32(call, call->table->header->cc_ready, ready);
}
