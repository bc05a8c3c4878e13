/* The identity of a GPU: names, numbers, PCI address. These calls answer even while the GPU needs a reset. */
#include <stdio.h>
#include <string.h>

#include "sim_call.h"

#define WHO (SIM_IDENTITY | SIM_MIG_TOO)

SIM_GET_STRING(nvmlDeviceGetName, WHO, call->mig && *call->mig->name ? call->mig->name : gpu->name)
SIM_GET_STRING(nvmlDeviceGetUUID, WHO, call->mig ? call->mig->uuid : gpu->uuid)
SIM_GET_STRING(nvmlDeviceGetSerial, SIM_IDENTITY, gpu->serial)
SIM_GET_STRING(nvmlDeviceGetBoardPartNumber, SIM_IDENTITY, gpu->board_part)
SIM_GET_STRING(nvmlDeviceGetVbiosVersion, SIM_IDENTITY, gpu->vbios)
SIM_GET_STRING(nvmlDeviceGetInforomImageVersion, SIM_IDENTITY, gpu->inforom_image)
SIM_GET_U32(nvmlDeviceGetInforomConfigurationChecksum, 0, gpu->inforom_checksum)
SIM_GET_U32(nvmlDeviceGetMinorNumber, WHO, gpu->minor)
SIM_GET_U32(nvmlDeviceGetBrand, WHO, gpu->brand)
SIM_GET_U32(nvmlDeviceGetArchitecture, WHO, gpu->architecture)
SIM_GET_U32(nvmlDeviceGetNumGpuCores, SIM_IDENTITY, gpu->cores)
SIM_GET_U32(nvmlDeviceGetModuleId, SIM_IDENTITY, gpu->module_id)
SIM_GET_U32(nvmlDeviceGetBoardId, SIM_IDENTITY, gpu->board_id)
SIM_GET_U32(nvmlDeviceGetMultiGpuBoard, SIM_IDENTITY, gpu->multi_gpu_board)
SIM_GET_U32(nvmlDeviceGetNumaNodeId, SIM_IDENTITY, gpu->numa_node)
SIM_GET_U32(nvmlDeviceGetBusType, SIM_IDENTITY, gpu->bus_type)
SIM_GET_U32(nvmlDeviceGetMemoryBusWidth, SIM_IDENTITY, gpu->bus_width)
SIM_GET_U32(nvmlDeviceGetIrqNum, SIM_IDENTITY, gpu->irq)
SIM_GET_U32_PAIR(nvmlDeviceGetCudaComputeCapability, WHO, gpu->cuda_major, gpu->cuda_minor)
SIM_GET_U32_PAIR(nvmlDeviceGetGspFirmwareMode, SIM_IDENTITY, gpu->gsp_mode, gpu->gsp_default)

/* On a MIG device the index among its siblings. */
SIM_DEVICE(nvmlDeviceGetIndex, WHO, (unsigned *index), (index))
{
    int64_t number = call->mig ? call->mig - call->gpu->mig : sim_attached_index(call->slot);
    return sim_put_u32(call, number, index);
}

/* nvml.h 13.3, nvmlInforomObject_t: 0 OEM, 1 ECC, 2 power. */
SIM_DEVICE(nvmlDeviceGetInforomVersion, SIM_IDENTITY,
           (unsigned object, char *version, unsigned length), (object, version, length))
{
    const sim_gpu_t *gpu = call->gpu;
    const char *texts[] = {gpu->inforom_oem, gpu->inforom_ecc, gpu->inforom_power};
    return object < 3 ? sim_put_string(call, texts[object], version, length)
                      : NVML_ERROR_INVALID_ARGUMENT;
}

/* The only string call that takes no length: callers give 80 bytes. */
SIM_DEVICE(nvmlDeviceGetGspFirmwareVersion, SIM_IDENTITY, (char *version), (version))
{
    return sim_put_string(call, call->gpu->gsp_version, version, 80);
}

SIM_EXPORT nvmlReturn_t nvmlDeviceValidateInforom(nvmlDevice_t device);
nvmlReturn_t nvmlDeviceValidateInforom(nvmlDevice_t device)
{
    sim_call_t call;
    nvmlReturn_t result = sim_gate(&call, FN_nvmlDeviceValidateInforom, device);
    if (result == NVML_SUCCESS) {
        result = sim_locate(&call, device, SIM_IDENTITY);
    }
    if (result == NVML_SUCCESS) {
        int64_t valid = call.gpu->inforom_valid;
        result = valid == SIM_NA ? NVML_ERROR_NOT_SUPPORTED
                 : valid == 0    ? NVML_ERROR_CORRUPTED_INFOROM
                                 : NVML_SUCCESS;
    }
    return sim_done(&call, result);
}

static void print_bus_id(const sim_gpu_t *gpu, char *text, size_t length, int domain_digits)
{
    snprintf(text, length, "%0*X:%02X:%02X.0", domain_digits, (unsigned)gpu->pci_domain,
             (unsigned)gpu->pci_bus & 0xFF, (unsigned)gpu->pci_device & 0xFF);
}

static nvmlReturn_t pci_info(const sim_call_t *call, nvmlPciInfo_t *pci)
{
    const sim_gpu_t *gpu = call->gpu;
    SIM_NEED(pci)
    memset(pci, 0, sizeof *pci);
    print_bus_id(gpu, pci->busIdLegacy, sizeof pci->busIdLegacy, 4);
    print_bus_id(gpu, pci->busId, sizeof pci->busId, 8);
    pci->domain = (unsigned)gpu->pci_domain;
    pci->bus = (unsigned)gpu->pci_bus;
    pci->device = (unsigned)gpu->pci_device;
    pci->pciDeviceId = (unsigned)gpu->pci_device_id;
    pci->pciSubSystemId = (unsigned)gpu->pci_subsystem_id;
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetPciInfo_v3, SIM_IDENTITY, (nvmlPciInfo_t * pci), (pci))
{
    return pci_info(call, pci);
}

/* _v2 and the unsuffixed call have the older struct, which ends before busId and has four more
 * reserved words in its place: only the part up to pciSubSystemId is common. */
static nvmlReturn_t pci_info_old(const sim_call_t *call, void *pci)
{
    nvmlPciInfo_t full;
    nvmlReturn_t result = pci_info(call, &full);
    if (result == NVML_SUCCESS) {
        SIM_NEED(pci)
        memcpy(pci, &full, offsetof(nvmlPciInfo_t, busId));
    }
    return result;
}

SIM_DEVICE(nvmlDeviceGetPciInfo_v2, SIM_IDENTITY, (void *pci), (pci))
{
    return pci_info_old(call, pci);
}

SIM_DEVICE(nvmlDeviceGetPciInfo, SIM_IDENTITY, (void *pci), (pci))
{
    return pci_info_old(call, pci);
}

SIM_DEVICE(nvmlDeviceGetPciInfoExt, SIM_IDENTITY, (nvmlPciInfoExt_v1_t * pci), (pci))
{
    const sim_gpu_t *gpu = call->gpu;
    SIM_NEED(pci)
    if (pci->version != nvmlPciInfoExt_v1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    pci->domain = (unsigned)gpu->pci_domain;
    pci->bus = (unsigned)gpu->pci_bus;
    pci->device = (unsigned)gpu->pci_device;
    pci->pciDeviceId = (unsigned)gpu->pci_device_id;
    pci->pciSubSystemId = (unsigned)gpu->pci_subsystem_id;
    pci->baseClass = (unsigned)gpu->pci_base_class;
    pci->subClass = (unsigned)gpu->pci_sub_class;
    memset(pci->busId, 0, sizeof pci->busId);
    print_bus_id(gpu, pci->busId, sizeof pci->busId, 8);
    return NVML_SUCCESS;
}
