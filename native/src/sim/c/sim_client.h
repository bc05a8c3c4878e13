/*
 * One account of memory for every simulated library. A process that uses libcuda has a row of `cuda_client` for each GPU, and holds
 * a lock on a byte beyond the end of the table for each row. The kernel ends the lock with the process, however that ends, so a row
 * counts while the lock is held. Locks belong to an open file description (OFD), since those of processes end at any close().
 */
#ifndef GPUWARDEN_SIM_CLIENT_H
#define GPUWARDEN_SIM_CLIENT_H

#include "sim_state.h"

/* Bytes of the file that locks use: one that orders changes of the account, and from the next on one for each row. */
#define SIM_CLIENT_LOCK ((int64_t)1 << 40)
#define SIM_CLIENT_ROW(row) (SIM_CLIENT_LOCK + 1 + (row))

typedef struct {
    int64_t total, reserved, used, free; /* total NA: the part has no such value */
} sim_memory_t;

/* Memory of a GPU, or of a partition of it; mig ALL: of the GPU. Includes what live rows hold. */
sim_memory_t sim_gpu_memory(const sim_table_t *table, int slot, int mig);

/* Rows that were ever in use. */
int sim_client_count(const sim_table_t *table);
bool sim_client_alive(const sim_table_t *table, int row);
/* Describes the row as a process of the table. False for a row that does not count. */
bool sim_client_process(const sim_table_t *table, int row, sim_process_t *process);

/* Orders changes of the account among processes. False where the file of the table is gone. */
bool sim_account_lock(const sim_table_t *table);
void sim_account_unlock(const sim_table_t *table);

#endif
