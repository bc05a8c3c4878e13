/* This process's rows in the account of memory; sim_client.h has the rules. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda_sim.h"
#include "sim_client.h"
#include "sim_limit.h"

/* An open file description of this library alone: its locks end with the process, and with nothing before. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fd = -1;
static int rows; /* of this process */

static bool set_lock(int64_t place, short type, int command)
{
    struct flock wanted = {.l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
    int result;
    do {
        result = fcntl(fd, command, &wanted);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

/* Orders the threads of this process, then the processes. */
static bool begin(void)
{
    pthread_mutex_lock(&lock);
    fd = fd < 0 ? sim_open_mapped() : fd;
    if (fd >= 0 && set_lock(SIM_CLIENT_LOCK, F_WRLCK, F_OFD_SETLKW)) {
        return true;
    }
    pthread_mutex_unlock(&lock);
    return false;
}

static void end(void)
{
    set_lock(SIM_CLIENT_LOCK, F_UNLCK, F_OFD_SETLK);
    pthread_mutex_unlock(&lock);
}

static int64_t free_bytes(const sim_table_t *table, const cu_context_t *context)
{
    int64_t sequence;
    sim_memory_t memory;
    do {
        sequence = sim_begin_read(table);
        memory = sim_gpu_memory(table, context->slot, context->mig);
    } while (sim_changed(table, sequence));
    return memory.total == SIM_NA ? 0 : memory.free;
}

/* A process of the scenario holds the GPU as one that uses libcuda does. */
static bool held_by_another(const sim_table_t *table, int slot)
{
    for (int row = 0; row < sim_client_count(table); row++) {
        if (table->cuda_client[row].gpu == slot && table->cuda_client[row].pid != getpid()
            && sim_client_alive(table, row)) {
            return true;
        }
    }
    for (int64_t i = 0; i < table->header->process_count && i < SIM_PROCESS_MAX; i++) {
        if (table->process[i].gpu == slot && table->process[i].type == SIM_PROCESS_COMPUTE) {
            return true;
        }
    }
    return false;
}

/* nvml.h, nvmlComputeMode_t. */
static bool available(const sim_table_t *table, int slot)
{
    enum { EXCLUSIVE_THREAD = 1, PROHIBITED = 2, EXCLUSIVE_PROCESS = 3 };
    switch (table->gpu[slot].compute_mode) {
    case PROHIBITED: return false;
    case EXCLUSIVE_THREAD:
    case EXCLUSIVE_PROCESS: return !held_by_another(table, slot);
    default: return true;
    }
}

/* A dead row is emptied before it is locked, so that its old values never count again. */
static int take_row(sim_table_t *table)
{
    for (int row = 0; row < SIM_CUDA_CLIENT_MAX; row++) {
        if (!sim_client_alive(table, row)) {
            if (table->cuda_client[row].pid != 0) {
                cu_process_gone(fd, table->cuda_client[row].pid);
            }
            __atomic_store_n(&table->cuda_client[row].pid, 0, __ATOMIC_RELEASE);
            if (set_lock(SIM_CLIENT_ROW(row), F_WRLCK, F_OFD_SETLK)) {
                return row;
            }
        }
    }
    return -1;
}

static void write_row(sim_table_t *table, const cu_context_t *context, const int64_t groups[SIM_CGROUP_DEPTH], int64_t bytes)
{
    sim_cuda_client_t *client = &table->cuda_client[context->row];
    memset(client, 0, sizeof *client);
    client->gpu = context->slot;
    client->mig = context->mig;
    client->bytes = bytes;
    memcpy(client->cgroup, groups, sizeof client->cgroup);
    if (readlink("/proc/self/exe", client->name, sizeof client->name - 1) < 0) {
        client->name[0] = '\0';
    }
    __atomic_store_n(&client->pid, getpid(), __ATOMIC_RELEASE);
    if (table->header->cuda_client_count <= context->row) {
        __atomic_store_n(&table->header->cuda_client_count, context->row + 1, __ATOMIC_RELEASE);
    }
}

CUresult cu_account_open(sim_table_t *table, cu_context_t *context, int64_t bytes)
{
    CUresult result = CUDA_SUCCESS;
    int64_t groups[SIM_CGROUP_DEPTH];
    if (!begin()) {
        return CUDA_ERROR_UNKNOWN;
    }
    sim_own_cgroups(groups);
    if (!available(table, context->slot)) {
        result = CUDA_ERROR_DEVICE_UNAVAILABLE;
    } else if (free_bytes(table, context) < bytes || !sim_limit_permits(table, context->slot, groups, bytes)
               || (context->row = take_row(table)) < 0) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        cu_process_show(fd);
        write_row(table, context, groups, bytes);
        rows++;
    }
    end();
    return result;
}

CUresult cu_account_change(sim_table_t *table, const cu_context_t *context, int64_t bytes)
{
    CUresult result = CUDA_SUCCESS;
    if (!begin()) {
        return CUDA_ERROR_UNKNOWN;
    }
    const int64_t *groups = table->cuda_client[context->row].cgroup;
    if (bytes > 0
        && (free_bytes(table, context) < bytes || !sim_limit_permits(table, context->slot, groups, bytes))) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        __atomic_add_fetch(&table->cuda_client[context->row].bytes, bytes, __ATOMIC_RELAXED);
    }
    end();
    return result;
}

void cu_account_close(sim_table_t *table, cu_context_t *context)
{
    if (context->row >= 0 && begin()) {
        __atomic_store_n(&table->cuda_client[context->row].pid, 0, __ATOMIC_RELEASE);
        set_lock(SIM_CLIENT_ROW(context->row), F_UNLCK, F_OFD_SETLK);
        if (--rows == 0) {
            cu_process_hide();
        }
        end();
    }
    context->row = -1;
}

void cu_account_forget(void)
{
    rows = 0;
    cu_process_forget();
    if (fd >= 0) {
        close(fd);
        fd = -1;
    }
}
