/* NVLink, per link. A link beyond the last answers INVALID_ARGUMENT, a missing one NOT_SUPPORTED. */
#include <stdio.h>
#include <string.h>

#include "sim_call.h"

static nvmlReturn_t find(const sim_call_t *call, unsigned number, const sim_link_t **link)
{
    if (number >= NVML_NVLINK_MAX_LINKS) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    *link = &call->gpu->link[number];
    return (*link)->state == SIM_NA ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

#define LINK(name, parameters, arguments)                                                         \
    static nvmlReturn_t link_##name(const sim_call_t *call, const sim_link_t *link,               \
                                    SIM_UNWRAP parameters);                                       \
    SIM_DEVICE(name, 0, (unsigned number, SIM_UNWRAP parameters), (number, SIM_UNWRAP arguments)) \
    {                                                                                             \
        const sim_link_t *link;                                                                   \
        nvmlReturn_t result = find(call, number, &link);                                          \
        return result != NVML_SUCCESS ? result : link_##name(call, link, SIM_UNWRAP arguments);   \
    }                                                                                             \
    static nvmlReturn_t link_##name(const sim_call_t *call, const sim_link_t *link,               \
                                    SIM_UNWRAP parameters)

LINK(nvmlDeviceGetNvLinkState, (unsigned *active), (active))
{
    return sim_put_u32(call, link->state, active);
}

LINK(nvmlDeviceGetNvLinkVersion, (unsigned *version), (version))
{
    return sim_put_u32(call, link->version, version);
}

LINK(nvmlDeviceGetNvLinkRemoteDeviceType, (unsigned *type), (type))
{
    return sim_put_u32(call, link->remote_type, type);
}

/* nvml.h 13.3, nvmlNvLinkCapability_t has six bits. */
LINK(nvmlDeviceGetNvLinkCapability, (unsigned capability, unsigned *has), (capability, has))
{
    if (capability > 5) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    int64_t mask = link->capabilities;
    return sim_put_u32(call, mask == SIM_NA ? SIM_NA : mask >> capability & 1, has);
}

LINK(nvmlDeviceGetNvLinkErrorCounter, (unsigned counter, unsigned long long *count), (counter, count))
{
    return counter < NVML_NVLINK_ERROR_COUNT ? sim_put_u64(call, link->error[counter], count)
                                             : NVML_ERROR_INVALID_ARGUMENT;
}

static nvmlReturn_t remote(const sim_link_t *link, nvmlPciInfo_t *pci)
{
    if (link->remote_domain == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    SIM_NEED(pci)
    memset(pci, 0, offsetof(nvmlPciInfo_t, busId));
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0",
             (unsigned)link->remote_domain & 0xFFFF, (unsigned)link->remote_bus & 0xFF,
             (unsigned)link->remote_device & 0xFF);
    pci->domain = (unsigned)link->remote_domain;
    pci->bus = (unsigned)link->remote_bus;
    pci->device = (unsigned)link->remote_device;
    pci->pciDeviceId = (unsigned)link->remote_device_id;
    return NVML_SUCCESS;
}

LINK(nvmlDeviceGetNvLinkRemotePciInfo, (nvmlPciInfo_t * pci), (pci))
{
    (void)call;
    return remote(link, pci);
}

LINK(nvmlDeviceGetNvLinkRemotePciInfo_v2, (nvmlPciInfo_t * pci), (pci))
{
    (void)call;
    nvmlReturn_t result = remote(link, pci);
    if (result == NVML_SUCCESS) {
        snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", pci->domain, pci->bus & 0xFF,
                 pci->device & 0xFF);
    }
    return result;
}
