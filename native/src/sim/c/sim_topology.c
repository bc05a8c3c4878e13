/* The topology of GPUs: CPUs, memory nodes, and the path from one GPU to another. */
#include <string.h>

#include "sim_call.h"

enum { BITS = 8 * sizeof(unsigned long) };

static nvmlReturn_t cpus(const sim_call_t *call, unsigned words, unsigned long *set)
{
    SIM_NEED(set)
    if (call->gpu->cpu_first == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    memset(set, 0, words * sizeof *set);
    for (int64_t cpu = call->gpu->cpu_first; cpu <= call->gpu->cpu_last; cpu++) {
        if (cpu / BITS < words) {
            set[cpu / BITS] |= 1UL << cpu % BITS;
        }
    }
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetCpuAffinity, 0, (unsigned words, unsigned long *set), (words, set))
{
    return cpus(call, words, set);
}

/* Scope 0 node, 1 socket: here the same. */
SIM_DEVICE(nvmlDeviceGetCpuAffinityWithinScope, 0,
           (unsigned words, unsigned long *set, unsigned scope), (words, set, scope))
{
    return scope > 1 ? NVML_ERROR_INVALID_ARGUMENT : cpus(call, words, set);
}

SIM_DEVICE(nvmlDeviceGetMemoryAffinity, 0, (unsigned words, unsigned long *set, unsigned scope),
           (words, set, scope))
{
    SIM_NEED(set && words > 0 && scope <= 1)
    if (call->gpu->host_node == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    memset(set, 0, words * sizeof *set);
    if (call->gpu->host_node / BITS < words) {
        set[call->gpu->host_node / BITS] |= 1UL << call->gpu->host_node % BITS;
    }
    return NVML_SUCCESS;
}

static const sim_gpu_t *other_gpu(const sim_call_t *call, nvmlDevice_t device)
{
    int slot, instance;
    return sim_handle_slot(device, &slot, &instance) && instance < 0 ? &call->table->gpu[slot] : NULL;
}

/* nvml.h 13.3, nvmlGpuTopologyLevel_t: 10 one PCIe switch, 40 same node, 50 another node. */
SIM_DEVICE(nvmlDeviceGetTopologyCommonAncestor, 0, (nvmlDevice_t device2, unsigned *level),
           (device2, level))
{
    const sim_gpu_t *other = other_gpu(call, device2);
    SIM_NEED(other)
    bool one_switch = call->gpu->topology_switch != SIM_NA
                      && call->gpu->topology_switch == other->topology_switch;
    return sim_put_u32(call, one_switch ? 10 : call->gpu->host_node == other->host_node ? 40 : 50,
                       level);
}

/* nvml.h 13.3, nvmlGpuP2PCapsIndex_t: 2 is NVLink. Status 0 OK, 5 not supported. */
SIM_DEVICE(nvmlDeviceGetP2PStatus, 0, (nvmlDevice_t device2, unsigned index, unsigned *status),
           (device2, index, status))
{
    const sim_gpu_t *other = other_gpu(call, device2);
    SIM_NEED(other)
    bool linked = call->gpu->nvlink_count > 0 && other->nvlink_count > 0;
    return sim_put_u32(call, index == 2 && !linked ? 5 : 0, status);
}
