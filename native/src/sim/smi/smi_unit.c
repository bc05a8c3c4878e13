/*
 * GPUs that only a common reset reaches. nvidia-smi(1) of a driver after 580, both tables of --gpu-reset: before Ampere, all GPUs with
 * NVLinks to each other or to the same switches. From Ampere on each alone, but on switches without a fabric manager all.
 */
#include "smi.h"

enum { TO_GPU = 0, TO_SWITCH = 2, AMPERE = 7 };

static bool before_ampere(const sim_gpu_t *gpu)
{
    return gpu->architecture != SIM_NA && gpu->architecture < AMPERE;
}

static bool on_switches(const sim_gpu_t *gpu)
{
    for (int i = 0; i < gpu->nvlink_count && i < SIM_LINK_MAX; i++) {
        if (gpu->link[i].state != SIM_NA && gpu->link[i].remote_type == TO_SWITCH) {
            return true;
        }
    }
    return false;
}

static bool points_to(const sim_gpu_t *gpu, const sim_gpu_t *other)
{
    for (int i = 0; i < gpu->nvlink_count && i < SIM_LINK_MAX; i++) {
        const sim_link_t *link = &gpu->link[i];
        if (link->state != SIM_NA && link->remote_type == TO_GPU && link->remote_domain == other->pci_domain
            && link->remote_bus == other->pci_bus && link->remote_device == other->pci_device) {
            return true;
        }
    }
    return false;
}

static bool tied(const sim_gpu_t *gpu, const sim_gpu_t *other)
{
    bool old = before_ampere(gpu) || before_ampere(other);
    bool unmanaged = gpu->reset_together == 1 || other->reset_together == 1;
    return (old && (points_to(gpu, other) || points_to(other, gpu)))
           || ((old || unmanaged) && on_switches(gpu) && on_switches(other));
}

smi_set_t smi_unit(const sim_table_t *table, int slot)
{
    smi_set_t listed = smi_listed(table), unit = {.count = 1, .slot = {slot}};
    for (int i = 0; i < unit.count; i++) {
        for (int k = 0; k < listed.count; k++) {
            if (!smi_has(&unit, listed.slot[k]) && tied(&table->gpu[unit.slot[i]], &table->gpu[listed.slot[k]])) {
                unit.slot[unit.count++] = listed.slot[k];
            }
        }
    }
    return unit;
}
