/* Limits of memory for control groups, of driver 615 and later. The simulated libcuda holds its clients to them. */
#include <string.h>
#include <sys/stat.h>

#include "sim_call.h"
#include "sim_client.h"
#include "sim_limit.h"

/* 0: not the folder of a group. */
static int64_t group_of(const char *path)
{
    struct stat folder;
    char events[4096];
    size_t length = strlen(path);
    if (path[0] != '/' || length + sizeof "/cgroup.procs" > sizeof events) {
        return 0;
    }
    memcpy(events, path, length);
    memcpy(events + length, "/cgroup.procs", sizeof "/cgroup.procs");
    return stat(events, &folder) == 0 && stat(path, &folder) == 0 ? (int64_t)folder.st_ino : 0;
}

static sim_memory_limit_t *row_of(sim_table_t *table, int slot, int64_t group)
{
    for (int row = 0; row < SIM_MEMORY_LIMIT_MAX; row++) {
        if (table->memory_limit[row].cgroup == group && table->memory_limit[row].gpu == slot) {
            return &table->memory_limit[row];
        }
    }
    return NULL;
}

/* A row whose group was removed is free: its limits went with it. */
static sim_memory_limit_t *free_row(sim_table_t *table)
{
    for (int row = 0; row < SIM_MEMORY_LIMIT_MAX; row++) {
        sim_memory_limit_t *limit = &table->memory_limit[row];
        if (limit->cgroup == 0 || group_of(limit->path) != limit->cgroup) {
            return limit;
        }
    }
    return NULL;
}

static nvmlReturn_t set(const sim_call_t *call, const nvmlSetMemoryLimits_v1_t *limits, int64_t group)
{
    bool cleared = limits->softLimit == 0 && limits->hardLimit == NVML_DEVICE_MEMORY_LIMIT_MAX;
    sim_memory_limit_t *row = row_of(call->table, call->slot, group);
    if (cleared) {
        if (row) {
            row->cgroup = 0;
        }
        return NVML_SUCCESS;
    }
    row = row ? row : free_row(call->table);
    if (!row || strlen(limits->nameSpace) >= sizeof row->path) {
        return NVML_ERROR_UNKNOWN;
    }
    memset(row, 0, sizeof *row);
    row->gpu = call->slot;
    row->soft = (int64_t)limits->softLimit;
    row->hard = limits->hardLimit == NVML_DEVICE_MEMORY_LIMIT_MAX ? SIM_NA : (int64_t)limits->hardLimit;
    strcpy(row->path, limits->nameSpace);
    row->cgroup = group;
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceSetMemoryLimits_v1, 0, (nvmlSetMemoryLimits_v1_t * limits), (limits))
{
    SIM_NEED(limits)
    SIM_NEED(limits->nameSpace)
    unsigned long long total = (unsigned long long)sim_gpu_memory(call->table, call->slot, SIM_ALL).total;
    bool limited = limits->hardLimit != NVML_DEVICE_MEMORY_LIMIT_MAX;
    int64_t group = group_of(limits->nameSpace);
    if (limits->softLimit > limits->hardLimit || limits->softLimit > total || (limited && limits->hardLimit > total)) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if (group == 0) {
        return NVML_ERROR_OPERATING_SYSTEM;
    }
    if (!sim_account_lock(call->table)) {
        return NVML_ERROR_UNKNOWN;
    }
    nvmlReturn_t result = set(call, limits, group);
    sim_account_unlock(call->table);
    return result;
}

SIM_DEVICE(nvmlDeviceGetMemoryLimits_v1, 0, (nvmlGetMemoryLimits_v1_t * limits), (limits))
{
    SIM_NEED(limits)
    SIM_NEED(limits->nameSpace)
    int64_t group = group_of(limits->nameSpace);
    if (group == 0) {
        return NVML_ERROR_OPERATING_SYSTEM;
    }
    const sim_memory_limit_t *row = row_of(call->table, call->slot, group);
    if (!row) {
        return NVML_ERROR_NOT_FOUND;
    }
    limits->softLimit = (unsigned long long)row->soft;
    limits->hardLimit = row->hard == SIM_NA ? NVML_DEVICE_MEMORY_LIMIT_MAX : (unsigned long long)row->hard;
    limits->currentUsed = (unsigned long long)sim_limit_used(call->table, call->slot, group);
    return NVML_SUCCESS;
}
