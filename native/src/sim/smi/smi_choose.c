/* The GPUs that an order names, by index, UUID or PCI address. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "smi.h"

bool smi_privileged(void)
{
    return geteuid() == 0 || getenv("GPUWARDEN_SIM_ROOT") != NULL;
}

const char *smi_bus_id(const sim_gpu_t *gpu)
{
    static char text[32];
    snprintf(text, sizeof text, "%08X:%02X:%02X.0", (unsigned)gpu->pci_domain, (unsigned)gpu->pci_bus & 0xFF,
             (unsigned)gpu->pci_device & 0xFF);
    return text;
}

bool smi_has(const smi_set_t *set, int slot)
{
    for (int i = 0; i < set->count; i++) {
        if (set->slot[i] == slot) {
            return true;
        }
    }
    return false;
}

smi_set_t smi_listed(const sim_table_t *table)
{
    smi_set_t listed = {0};
    for (int slot = 0; slot < SIM_GPU_MAX && slot < table->header->gpu_count; slot++) {
        if (table->gpu[slot].state != SIM_STATE_HIDDEN) {
            listed.slot[listed.count++] = slot;
        }
    }
    return listed;
}

/* "0000:3b:00.0", "00000000:3B:00.0" and "3b:00.0" are one address. */
static bool is_address(const char *text, const sim_gpu_t *gpu)
{
    unsigned domain = 0, bus, device, function = 0;
    int end = 0;
    bool read = (sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &end) == 4 && !text[end])
                || (domain = 0, sscanf(text, "%x:%x.%x%n", &bus, &device, &function, &end) == 3 && !text[end]);
    return read && function == 0 && gpu->pci_domain == domain && gpu->pci_bus == bus && gpu->pci_device == device;
}

static bool is_index(const char *text, int index)
{
    char *end;
    return isdigit((unsigned char)*text) && strtol(text, &end, 10) == index && !*end;
}

/* A name without a GPU is passed over in silence, as by the real program. */
static void mark(const sim_table_t *table, const smi_set_t *listed, const char *name, bool named[SIM_GPU_MAX])
{
    for (int index = 0; index < listed->count; index++) {
        const sim_gpu_t *gpu = &table->gpu[listed->slot[index]];
        named[index] = named[index] || is_index(name, index) || strcmp(gpu->uuid, name) == 0 || is_address(name, gpu);
    }
}

int smi_choose(const sim_table_t *table, const smi_order_t *order, smi_set_t *chosen)
{
    smi_set_t listed = smi_listed(table);
    bool named[SIM_GPU_MAX] = {0};
    char *ids = order->ids ? strdup(order->ids) : NULL, *rest = NULL;
    if (ids && !*ids) {
        printf("Failed to parse device string on command line");
        return SMI_OTHER;
    }
    for (char *name = ids ? strtok_r(ids, ",", &rest) : NULL; name; name = strtok_r(NULL, ",", &rest)) {
        mark(table, &listed, name, named);
    }
    free(ids);
    *chosen = (smi_set_t){0};
    for (int index = 0; index < listed.count; index++) {
        if (!order->ids || named[index]) {
            chosen->slot[chosen->count++] = listed.slot[index];
        }
        if ((!order->ids || named[index]) && table->gpu[listed.slot[index]].state == SIM_STATE_LOST) {
            printf("Unable to determine the device handle for GPU%d: GPU is lost.  Reboot the system to recover this GPU\n\n\n",
                   index);
            return SMI_GPU_LOST;
        }
    }
    if (chosen->count == 0) {
        printf("No devices were found\n");
        return SMI_NOT_FOUND;
    }
    return SMI_SUCCESS;
}
