/* The identity of devices. These calls answer without a context, and also for a GPU that is off the bus. */
#include <stdio.h>
#include <string.h>

#include "cuda_sim.h"
#include "sim_client.h"

cu_context_t *cu_device(CUdevice device)
{
    return device >= 0 && device < cu_device_count ? &cu_devices[device] : NULL;
}

#define CU_NEED_DEVICE                    \
    if (!call->context) {                 \
        return CUDA_ERROR_INVALID_DEVICE; \
    }

CU_ANYWHERE(cuDeviceGetCount, CU_DRIVER, (int *count), (count))
{
    (void)call;
    CU_NEED(count)
    *count = cu_device_count;
    return CUDA_SUCCESS;
}

CU_ANYWHERE(cuDeviceGet, CU_DRIVER, (CUdevice * device, int ordinal), (device, ordinal))
{
    (void)call;
    CU_NEED(device)
    if (!cu_device(ordinal)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *device = ordinal;
    return CUDA_SUCCESS;
}

static const sim_mig_t *mig(const cu_call_t *call)
{
    return call->context->mig == SIM_ALL ? NULL : &cu_gpu(call)->mig[call->context->mig];
}

/* A name that is too long is cut, as the real one is. */
CU_OF_DEVICE(cuDeviceGetName, (char *name, int length, CUdevice device), (name, length, device))
{
    (void)device;
    CU_NEED_DEVICE
    CU_NEED(name && length > 0)
    const sim_mig_t *part = mig(call);
    snprintf(name, (size_t)length, "%s", part && *part->name ? part->name : cu_gpu(call)->name);
    return CUDA_SUCCESS;
}

static CUresult put_uuid(const char *text, CUuuid *uuid)
{
    unsigned char bytes[16];
    sim_parse_hex(strchr(text, '-') ? strchr(text, '-') : text, bytes);
    memcpy(uuid->bytes, bytes, sizeof bytes);
    return CUDA_SUCCESS;
}

CU_OF_DEVICE(cuDeviceGetUuid, (CUuuid * uuid, CUdevice device), (uuid, device))
{
    (void)device;
    CU_NEED_DEVICE
    CU_NEED(uuid)
    return put_uuid(cu_gpu(call)->uuid, uuid);
}

/* Returns the UUID of a MIG device, where the first version returns that of its GPU. */
CU_OF_DEVICE(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device), (uuid, device))
{
    (void)device;
    CU_NEED_DEVICE
    CU_NEED(uuid)
    return put_uuid(mig(call) ? mig(call)->uuid : cu_gpu(call)->uuid, uuid);
}

CU_OF_DEVICE(cuDeviceGetPCIBusId, (char *id, int length, CUdevice device), (id, length, device))
{
    (void)device;
    CU_NEED_DEVICE
    CU_NEED(id && length >= 13)
    const sim_gpu_t *gpu = cu_gpu(call);
    snprintf(id, (size_t)length, "%04X:%02X:%02X.0", (unsigned)gpu->pci_domain & 0xFFFF,
             (unsigned)gpu->pci_bus & 0xFF, (unsigned)gpu->pci_device & 0xFF);
    return CUDA_SUCCESS;
}

CU_ANYWHERE(cuDeviceGetByPCIBusId, CU_DRIVER, (CUdevice * device, const char *id), (device, id))
{
    unsigned domain = 0, bus, number;
    CU_NEED(device && id)
    if (sscanf(id, "%x:%x:%x", &domain, &bus, &number) != 3) {
        domain = 0;
        CU_NEED(sscanf(id, "%x:%x", &bus, &number) == 2)
    }
    for (int i = 0; i < cu_device_count; i++) {
        const sim_gpu_t *gpu = &call->table->gpu[cu_devices[i].slot];
        if (gpu->pci_domain == domain && gpu->pci_bus == bus && gpu->pci_device == number) {
            *device = i;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

/* Without the reserved memory: 81008 MiB of an H100 where NVML has 81559 in total. */
CU_OF_DEVICE(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device), (bytes, device))
{
    (void)device;
    CU_NEED_DEVICE
    CU_NEED(bytes)
    sim_memory_t memory = sim_gpu_memory(call->table, call->context->slot, call->context->mig);
    *bytes = memory.total == SIM_NA ? 0 : (size_t)(memory.total - memory.reserved);
    return CUDA_SUCCESS;
}

/* Not between parts of a GPU, nor with itself. */
CU_OF_DEVICE(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer), (can, device, peer))
{
    (void)device;
    cu_context_t *other = cu_device(peer);
    CU_NEED_DEVICE
    CU_NEED(can)
    if (!other) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *can = other->slot != call->context->slot && other->mig == SIM_ALL && !mig(call);
    return CUDA_SUCCESS;
}
