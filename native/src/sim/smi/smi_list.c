#include <stdio.h>

#include "smi.h"

int smi_list(const sim_table_t *table)
{
    smi_set_t listed = smi_listed(table);
    int code = SMI_SUCCESS;
    if (listed.count == 0) {
        printf("No devices found.\n");
    }
    for (int index = 0; index < listed.count; index++) {
        const sim_gpu_t *gpu = &table->gpu[listed.slot[index]];
        if (gpu->state == SIM_STATE_LOST) {
            printf("Unable to determine the device handle for gpu %d: GPU is lost.  Reboot the system to recover this GPU\n\n\n",
                   index);
            code = SMI_GPU_LOST;
            continue;
        }
        printf("GPU %d: %s (UUID: %s)\n", index, gpu->name, gpu->uuid);
        for (int i = 0; i < SIM_MIG_MAX && gpu->mig_current == 1; i++) {
            if (gpu->mig[i].present) {
                printf("  %-17s Device %2d: (UUID: %s)\n", gpu->mig[i].name, i, gpu->mig[i].uuid);
            }
        }
    }
    return code;
}
