/*
 * A program `nvidia-smi` for simulated nodes: it lists GPUs, switches persistence mode and resets GPUs. Its texts and exit codes are those
 * of real ones: 580.159.04 on an H100 and 535.309 on this simulator, or texts in the binary of 535.309 where a comment states it.
 */
#ifndef GPUWARDEN_SMI_H
#define GPUWARDEN_SMI_H

#include "sim_state.h"

/* Exit codes, from nvidia-smi(1). */
enum {
    SMI_SUCCESS = 0,
    SMI_INVALID = 2,
    SMI_NO_PERMISSION = 4,
    SMI_NOT_FOUND = 6,
    SMI_NO_DRIVER = 9,
    SMI_GPU_LOST = 15,
    SMI_VERSION_MISMATCH = 18,
    SMI_OTHER = 255
};

typedef enum { SMI_NONE, SMI_LIST, SMI_PERSISTENCE, SMI_RESET } smi_action_t;

typedef struct {
    smi_action_t action;
    int persistence; /* 0 or 1 */
    const char *ids; /* NULL: all GPUs */
} smi_order_t;

typedef struct {
    int count;
    int slot[SIM_GPU_MAX];
} smi_set_t;

/* Reads the arguments. An error is printed and returned as the exit code. */
int smi_read(int count, char **arguments, smi_order_t *order);

/* The GPUs that the driver lists, in order of their indices. */
smi_set_t smi_listed(const sim_table_t *table);
/* Those that the order names; prints and returns the error of an order that names none, or one that is off the bus. */
int smi_choose(const sim_table_t *table, const smi_order_t *order, smi_set_t *chosen);
bool smi_has(const smi_set_t *set, int slot);
/* "00000000:1A:00.0" in a static buffer, until the next call. */
const char *smi_bus_id(const sim_gpu_t *gpu);
/* Root, or GPUWARDEN_SIM_ROOT is set. */
bool smi_privileged(void);

int smi_list(const sim_table_t *table);
int smi_set_persistence(sim_table_t *table, const smi_set_t *chosen, int64_t mode);
int smi_reset(sim_table_t *table, const smi_set_t *chosen);

/* GPUs that are reset only with this one, itself included. */
smi_set_t smi_unit(const sim_table_t *table, int slot);
/* True while another process has the GPU's file open, or a process of the scenario uses the GPU. */
bool smi_in_use(const sim_table_t *table, int slot);

/* Orders this change among all writers of the table. False if the table's file is gone. */
bool smi_change_begin(sim_table_t *table);
void smi_change_end(sim_table_t *table);

#endif
