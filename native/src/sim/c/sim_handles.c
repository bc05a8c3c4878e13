/* Counting GPUs and finding them by index, UUID, serial number and PCI address. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sim_call.h"
#include "sim_held.h"

static nvmlReturn_t count_gpus(const sim_call_t *call, unsigned *count)
{
    return sim_put_u32(call, sim_attached_count(), count);
}

SIM_SYSTEM(nvmlDeviceGetCount_v2, (unsigned *count), (count))
{
    return count_gpus(call, count);
}

SIM_SYSTEM(nvmlDeviceGetCount, (unsigned *count), (count))
{
    return count_gpus(call, count);
}

static nvmlReturn_t attach(const sim_call_t *call, int slot)
{
    int64_t state = call->table->gpu[slot].state;
    if (state == SIM_STATE_LOST || state == SIM_STATE_HIDDEN) {
        return NVML_ERROR_GPU_IS_LOST;
    }
    sim_hold(call->table, slot, SIM_HELD_MAX);
    return NVML_SUCCESS;
}

static nvmlReturn_t give_slot(const sim_call_t *call, int slot, nvmlDevice_t *device)
{
    nvmlReturn_t result = attach(call, slot);
    if (result != NVML_SUCCESS) {
        return result;
    }
    *device = sim_gpu_handle(slot);
    return NVML_SUCCESS;
}

static nvmlReturn_t by_index(const sim_call_t *call, unsigned index, nvmlDevice_t *device)
{
    SIM_NEED(device)
    int slot = index < SIM_GPU_MAX ? sim_attached_slot((int)index) : -1;
    return slot < 0 ? NVML_ERROR_INVALID_ARGUMENT : give_slot(call, slot, device);
}

SIM_SYSTEM(nvmlDeviceGetHandleByIndex_v2, (unsigned index, nvmlDevice_t *device), (index, device))
{
    return by_index(call, index, device);
}

SIM_SYSTEM(nvmlDeviceGetHandleByIndex, (unsigned index, nvmlDevice_t *device), (index, device))
{
    return by_index(call, index, device);
}

/*
 * A MIG UUID gives the MIG device's handle. NVIDIA's header: a search by UUID or serial number may attach other GPUs on its way, one by
 * index or PCI address attaches the GPU that it finds.
 */
static nvmlReturn_t by_uuid(const sim_call_t *call, const char *uuid, nvmlDevice_t *device)
{
    SIM_NEED(uuid)
    SIM_NEED(device)
    for (int index = 0; index < sim_attached_count(); index++) {
        int slot = sim_attached_slot(index);
        const sim_gpu_t *gpu = &call->table->gpu[slot];
        attach(call, slot);
        if (strcmp(gpu->uuid, uuid) == 0) {
            return give_slot(call, slot, device);
        }
        for (int i = 0; i < SIM_MIG_MAX && gpu->mig_current == 1; i++) {
            if (gpu->mig[i].present && strcmp(gpu->mig[i].uuid, uuid) == 0) {
                nvmlReturn_t result = give_slot(call, slot, device);
                *device = sim_mig_handle(slot, i);
                return result;
            }
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

SIM_SYSTEM(nvmlDeviceGetHandleByUUID, (const char *uuid, nvmlDevice_t *device), (uuid, device))
{
    return by_uuid(call, uuid, device);
}

/* nvml.h 13.3, nvmlUUIDType_t: 1 ASCII, 2 binary. */
SIM_SYSTEM(nvmlDeviceGetHandleByUUIDV, (const nvmlUUID_v1_t *uuid, nvmlDevice_t *device),
           (uuid, device))
{
    SIM_NEED(uuid)
    if (uuid->version != nvmlUUID_v1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    return uuid->type == 1 ? by_uuid(call, uuid->value.str, device) : NVML_ERROR_NOT_SUPPORTED;
}

SIM_SYSTEM(nvmlDeviceGetHandleBySerial, (const char *serial, nvmlDevice_t *device),
           (serial, device))
{
    SIM_NEED(serial)
    SIM_NEED(device)
    for (int index = 0; index < sim_attached_count(); index++) {
        int slot = sim_attached_slot(index);
        attach(call, slot);
        if (*serial && strcmp(call->table->gpu[slot].serial, serial) == 0) {
            return give_slot(call, slot, device);
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

/* "0000:3b:00.0", "00000000:3B:00.0" and "3b:00.0" are one address. */
static bool parse_bus_id(const char *text, unsigned *domain, unsigned *bus, unsigned *device)
{
    *domain = 0;
    return sscanf(text, "%x:%x:%x", domain, bus, device) == 3
           || (*domain = 0, sscanf(text, "%x:%x", bus, device) == 2);
}

static nvmlReturn_t by_bus_id(const sim_call_t *call, const char *text, nvmlDevice_t *device)
{
    unsigned domain, bus, number;
    SIM_NEED(text)
    SIM_NEED(device)
    if (!parse_bus_id(text, &domain, &bus, &number)) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    for (int index = 0; index < sim_attached_count(); index++) {
        int slot = sim_attached_slot(index);
        const sim_gpu_t *gpu = &call->table->gpu[slot];
        if (gpu->pci_domain == domain && gpu->pci_bus == bus && gpu->pci_device == number) {
            return give_slot(call, slot, device);
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

SIM_SYSTEM(nvmlDeviceGetHandleByPciBusId_v2, (const char *text, nvmlDevice_t *device),
           (text, device))
{
    return by_bus_id(call, text, device);
}

SIM_SYSTEM(nvmlDeviceGetHandleByPciBusId, (const char *text, nvmlDevice_t *device), (text, device))
{
    return by_bus_id(call, text, device);
}
