#include <stdio.h>

#include "smi.h"

static const char *word(int64_t mode)
{
    return mode ? "Enabled" : "Disabled";
}

static void set(sim_table_t *table, sim_gpu_t *gpu, int64_t mode)
{
    if (gpu->persistence == SIM_NA) {
        printf("Setting persistence mode is not supported for GPU %s on this platform.\nTreating as warning and moving on.\n",
               smi_bus_id(gpu));
    } else if (gpu->persistence == mode) {
        printf("Persistence mode is already %s for GPU %s.\n", word(mode), smi_bus_id(gpu));
    } else if (smi_change_begin(table)) {
        gpu->persistence = mode;
        smi_change_end(table);
        printf("%s persistence mode for GPU %s.\n", word(mode), smi_bus_id(gpu));
    } else {
        printf("Unable to set persistence mode for GPU %s: Unknown Error\nTreating as warning and moving on.\n",
               smi_bus_id(gpu));
    }
}

int smi_set_persistence(sim_table_t *table, const smi_set_t *chosen, int64_t mode)
{
    for (int i = 0; i < chosen->count; i++) {
        sim_gpu_t *gpu = &table->gpu[chosen->slot[i]];
        if (gpu->persistence != mode && gpu->persistence != SIM_NA && !smi_privileged()) {
            printf("Unable to set persistence mode for GPU %s: Insufficient Permissions\n"
                   "Terminating early due to previous errors.\n",
                   smi_bus_id(gpu));
            return SMI_NO_PERMISSION;
        }
        set(table, gpu, mode);
    }
    printf("All done.\n");
    return SMI_SUCCESS;
}
