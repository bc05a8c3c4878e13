#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "smi.h"

/* GPUWARDEN_SIM, else the table of the node whose folder `bin` has this program. */
static void find_table(void)
{
    char program[PATH_MAX] = "", table[PATH_MAX + 32];
    const char *named = getenv("GPUWARDEN_SIM");
    if ((!named || !*named) && readlink("/proc/self/exe", program, sizeof program - 1) > 0) {
        snprintf(table, sizeof table, "%s/../lib/gpuwarden-sim.table", dirname(program));
        setenv("GPUWARDEN_SIM", table, 1);
    }
}

static int driver_state(nvmlReturn_t result)
{
    if (result == NVML_ERROR_LIB_RM_VERSION_MISMATCH) {
        printf("Failed to initialize NVML: Driver/library version mismatch\n");
        return SMI_VERSION_MISMATCH;
    }
    printf("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
           "Make sure that the latest NVIDIA driver is installed and running.\n\n");
    return SMI_NO_DRIVER;
}

static int carry_out(const smi_order_t *order)
{
    find_table();
    nvmlReturn_t result = sim_attach();
    if (result != NVML_SUCCESS) {
        fprintf(stderr, "simulated nvidia-smi: expected a node's table that this program can write, of layout %d, at %s\n",
                SIM_LAYOUT_VERSION, getenv("GPUWARDEN_SIM"));
        return driver_state(result);
    }
    sim_table_t *table = sim_table();
    if (table->header->init_result != NVML_SUCCESS) {
        return driver_state((nvmlReturn_t)table->header->init_result);
    }
    if (order->action == SMI_LIST) {
        return smi_list(table);
    }
    smi_set_t chosen;
    int code = smi_choose(table, order, &chosen);
    if (code != SMI_SUCCESS) {
        return code;
    }
    return order->action == SMI_RESET ? smi_reset(table, &chosen)
                                      : smi_set_persistence(table, &chosen, order->persistence);
}

int main(int count, char **arguments)
{
    smi_order_t order = {0};
    int code = smi_read(count, arguments, &order);
    return code != SMI_SUCCESS ? code : carry_out(&order);
}
