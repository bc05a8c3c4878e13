/* Process lists. The entry's size depends on the call and, for _v3, on the driver. */
#include <string.h>

#include "sim_client.h"
#include "sim_process.h"

const sim_process_t *sim_next_process(const sim_table_t *table, int *at, sim_process_t *room)
{
    int64_t total = table->header->process_count;
    int count = (int)(total < SIM_PROCESS_MAX ? total : SIM_PROCESS_MAX);
    if (*at < count) {
        return &table->process[(*at)++];
    }
    while (*at - count < sim_client_count(table)) {
        if (sim_client_process(table, (*at)++ - count, room)) {
            return room;
        }
    }
    return NULL;
}

bool sim_process_belongs(const sim_call_t *call, const sim_process_t *process, int64_t type)
{
    return process->gpu == call->slot && process->type == type
           && (!call->mig || (process->gi == call->mig->gi && process->ci == call->mig->ci));
}

/* Every struct begins alike, so the largest is filled and as much of it copied as the call has. */
static nvmlProcessDetail_v1_t describe(const sim_call_t *call, const sim_process_t *process)
{
    nvmlProcessDetail_v1_t entry;
    memset(&entry, 0, sizeof entry);
    entry.pid = (unsigned)process->pid;
    entry.usedGpuMemory = sim_u64(call, process->bytes);
    entry.gpuInstanceId = process->gi == SIM_NA ? NVML_VALUE_NOT_AVAILABLE_U32 : (unsigned)process->gi;
    entry.computeInstanceId =
        process->ci == SIM_NA ? NVML_VALUE_NOT_AVAILABLE_U32 : (unsigned)process->ci;
    entry.usedGpuCcProtectedMemory = sim_u64(call, process->cc_bytes);
    return entry;
}

static size_t spoiled_stride(const sim_call_t *call, size_t stride)
{
    return call->lie == SIM_LIE_STRIDE_16 ? 16 : call->lie == SIM_LIE_STRIDE_32 ? 32 : stride;
}

static bool listed(const sim_call_t *call, unsigned types, const sim_process_t *process)
{
    return process->type >= 0 && process->type < 3 && types >> process->type & 1
           && sim_process_belongs(call, process, process->type);
}

/* Too small a buffer: INSUFFICIENT_SIZE and the count, and nothing is written. */
static nvmlReturn_t list(const sim_call_t *call, unsigned types, size_t stride, unsigned *count,
                         void *entries)
{
    const sim_process_t *process;
    sim_process_t room;
    unsigned found = 0, written = 0;
    SIM_NEED(count)
    SIM_NEED(entries || call->capacity == 0)
    for (int at = 0; (process = sim_next_process(call->table, &at, &room)) != NULL;) {
        found += listed(call, types, process);
    }
    if (found > call->capacity) {
        *count = found;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    /* A process may come or go between the two loops. */
    for (int at = 0; written < found && (process = sim_next_process(call->table, &at, &room)) != NULL;) {
        if (listed(call, types, process)) {
            nvmlProcessDetail_v1_t entry = describe(call, process);
            memcpy((char *)entries + written++ * stride, &entry, stride);
        }
    }
    *count = sim_list_count(call, written, call->capacity);
    return NVML_SUCCESS;
}

#define COMPUTE (1U << SIM_PROCESS_COMPUTE)
#define GRAPHICS (1U << SIM_PROCESS_GRAPHICS)
#define MPS (1U << SIM_PROCESS_MPS)

/* 535.43 to 535.86 wrote 32-byte entries from _v3; a report of 2026 saw 16 from a 550. */
static size_t v3_stride(const sim_call_t *call)
{
    int64_t wanted = call->table->header->process_stride;
    return wanted == 16 || wanted == 24 || wanted == 32 ? (size_t)wanted
           : sim_generation == 53554                    ? sizeof(nvmlProcessDetail_v1_t)
                                                        : sizeof(nvmlProcessInfo_v2_t);
}

#define PROCESSES(name, types, stride)                                                      \
    SIM_LIST(name, SIM_MIG_TOO, count ? *count : 0, (unsigned *count, void *entries),       \
             (count, entries))                                                              \
    {                                                                                       \
        return list(call, types, spoiled_stride(call, stride), count, entries);             \
    }

PROCESSES(nvmlDeviceGetComputeRunningProcesses, COMPUTE, sizeof(nvmlProcessInfo_v1_t))
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, COMPUTE, sizeof(nvmlProcessInfo_v2_t))
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, COMPUTE, v3_stride(call))
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, GRAPHICS, sizeof(nvmlProcessInfo_v1_t))
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2, GRAPHICS, sizeof(nvmlProcessInfo_v2_t))
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, GRAPHICS, v3_stride(call))
PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses, MPS, sizeof(nvmlProcessInfo_v1_t))
PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2, MPS, sizeof(nvmlProcessInfo_v2_t))
PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3, MPS, v3_stride(call))

/* Mode 0 compute, 1 graphics, 2 MPS, 3 all. */
SIM_LIST(nvmlDeviceGetRunningProcessDetailList, SIM_MIG_TOO, list_ ? list_->numProcArrayEntries : 0,
         (nvmlProcessDetailList_v1_t * list_), (list_))
{
    SIM_NEED(list_)
    if (list_->version != nvmlProcessDetailList_v1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    if (list_->mode > 3) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    unsigned types = list_->mode == 3 ? COMPUTE | GRAPHICS | MPS : 1U << list_->mode;
    return list(call, types, sizeof(nvmlProcessDetail_v1_t), &list_->numProcArrayEntries,
                list_->procArray);
}
