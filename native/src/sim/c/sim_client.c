#include "sim_client.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* Opened when a row is first seen in use: without libcuda, no reader pays for the account. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t changes = PTHREAD_MUTEX_INITIALIZER; /* threads of this process share the lock of the file */
static const sim_table_t *opened_for;
static int opened = -1;

static int reader(const sim_table_t *table)
{
    pthread_mutex_lock(&lock);
    if (opened_for != table) {
        int fd = sim_open_mapped();
        if (fd >= 0) {
            if (opened >= 0) {
                close(opened);
            }
            opened = fd;
            opened_for = table;
        }
    }
    int fd = opened_for == table ? opened : -1;
    pthread_mutex_unlock(&lock);
    return fd;
}

/* After a dlclose no code is left that could close it. */
__attribute__((destructor)) static void close_reader(void)
{
    if (opened >= 0) {
        close(opened);
    }
}

static bool account(const sim_table_t *table, short type)
{
    struct flock order = {.l_type = type, .l_whence = SEEK_SET, .l_start = SIM_CLIENT_LOCK, .l_len = 1};
    int fd = reader(table), result;
    do {
        result = fd < 0 ? -1 : fcntl(fd, F_OFD_SETLKW, &order);
    } while (fd >= 0 && result != 0 && errno == EINTR);
    return result == 0;
}

bool sim_account_lock(const sim_table_t *table)
{
    pthread_mutex_lock(&changes);
    if (account(table, F_WRLCK)) {
        return true;
    }
    pthread_mutex_unlock(&changes);
    return false;
}

void sim_account_unlock(const sim_table_t *table)
{
    account(table, F_UNLCK);
    pthread_mutex_unlock(&changes);
}

int sim_client_count(const sim_table_t *table)
{
    int64_t count = __atomic_load_n(&table->header->cuda_client_count, __ATOMIC_ACQUIRE);
    return (int)(count < SIM_CUDA_CLIENT_MAX ? count : SIM_CUDA_CLIENT_MAX);
}

bool sim_client_alive(const sim_table_t *table, int row)
{
    if (__atomic_load_n(&table->cuda_client[row].pid, __ATOMIC_ACQUIRE) == 0) {
        return false;
    }
    struct flock held = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = SIM_CLIENT_ROW(row), .l_len = 1};
    int fd = reader(table);
    return fd >= 0 && fcntl(fd, F_OFD_GETLK, &held) == 0 && held.l_type != F_UNLCK;
}

/* All rows of a GPU for mig ALL. */
static int64_t held_bytes(const sim_table_t *table, int slot, int mig)
{
    int64_t sum = 0;
    for (int row = 0; row < sim_client_count(table); row++) {
        const sim_cuda_client_t *client = &table->cuda_client[row];
        if (client->gpu == slot && (mig == SIM_ALL || client->mig == mig)
            && sim_client_alive(table, row)) {
            sum += __atomic_load_n(&client->bytes, __ATOMIC_RELAXED);
        }
    }
    return sum;
}

sim_memory_t sim_gpu_memory(const sim_table_t *table, int slot, int mig)
{
    const sim_gpu_t *gpu = &table->gpu[slot];
    int64_t held = held_bytes(table, slot, mig);
    sim_memory_t memory = {gpu->mem_total, gpu->mem_reserved, gpu->mem_used + held, gpu->mem_free};
    if (mig != SIM_ALL) {
        const sim_mig_t *part = &gpu->mig[mig];
        memory = (sim_memory_t){part->mem_total, part->mem_reserved, part->mem_used + held, SIM_NA};
    }
    if (memory.total == SIM_NA) {
        return memory;
    }
    memory.free = memory.free == SIM_NA ? memory.total - memory.reserved - memory.used
                                        : memory.free - held;
    if (held > 0 && memory.free < 0) {
        memory.free = 0; /* the scenario raised its own use after the processes took theirs */
    }
    return memory;
}

bool sim_client_process(const sim_table_t *table, int row, sim_process_t *process)
{
    const sim_cuda_client_t *client = &table->cuda_client[row];
    if (!sim_client_alive(table, row)) {
        return false;
    }
    *process = (sim_process_t){.gpu = client->gpu, .pid = client->pid, .type = SIM_PROCESS_COMPUTE,
                               .bytes = client->bytes, .cc_bytes = SIM_NA, .gi = SIM_NA,
                               .ci = SIM_NA, .sm_util = SIM_NA};
    if (client->mig >= 0 && client->mig < SIM_MIG_MAX) {
        process->gi = table->gpu[client->gpu].mig[client->mig].gi;
        process->ci = table->gpu[client->gpu].mig[client->mig].ci;
    }
    memcpy(process->name, client->name, sizeof process->name);
    return true;
}
