/*
 * The private table that nvidia-smi asks for before anything else. Its entries are not
 * public. Most answer NOT_SUPPORTED, and nvidia-smi prints N/A for what it takes from there. Six
 * are served, because nvidia-smi 535 and 550 have no public way to them: what they take and give
 * was found by watching nvidia-smi call an instrumented table, and by nothing else.
 */
#include <string.h>

#include "sim_call.h"
#include "sim_process.h"

typedef void (*entry_t)(void); /* any function; the caller has its type */

/* Positions count from 1: word 0 is the size in bytes, so that a client sees how far it may reach. */
enum {
    WORDS = 513,
    COMPUTE_LIST = 213,
    MPS_LIST = 214,
    GRAPHICS_LIST = 215,
    HOST_LINK_GENERATION = 230,
    GPU_PART_NUMBER = 231,
    MARGIN_TEMPERATURE = 240
};

/* The value that nvidia-smi 470, 535 and 550 pass. */
static const unsigned char smi_table[16] = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                            0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};

typedef struct {
    unsigned pid;
    unsigned long long bytes;
    unsigned gi, ci, unknown[2];
    char name[4096];
} named_process_t;

static nvmlReturn_t named_list(const sim_call_t *call, int64_t type, unsigned *count,
                               named_process_t *entries)
{
    unsigned found = 0;
    const sim_process_t *process;
    sim_process_t room;
    for (int at = 0; (process = sim_next_process(call->table, &at, &room)) != NULL;) {
        if (!sim_process_belongs(call, process, type)) {
            continue;
        }
        if (found < call->capacity) {
            named_process_t *entry = &entries[found];
            memset(entry, 0, sizeof *entry);
            entry->pid = (unsigned)process->pid;
            entry->bytes = sim_u64(call, process->bytes);
            entry->gi = process->gi == SIM_NA ? NVML_VALUE_NOT_AVAILABLE_U32 : (unsigned)process->gi;
            entry->ci = process->ci == SIM_NA ? NVML_VALUE_NOT_AVAILABLE_U32 : (unsigned)process->ci;
            memcpy(entry->name, process->name, sizeof process->name);
        }
        found++;
    }
    *count = found;
    return found > call->capacity ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

/* Each counts as the public call of the same purpose, for faults and in traces. */
#define PRIVATE(name, function, parameters, room, body)                     \
    static nvmlReturn_t name parameters                                     \
    {                                                                       \
        sim_call_t whole, *call = &whole;                                   \
        nvmlReturn_t result = sim_gate(call, function, device);             \
        if (result == NVML_SUCCESS) {                                       \
            int64_t sequence;                                               \
            call->capacity = (room);                                        \
            do {                                                            \
                sequence = sim_begin_read(call->table);                     \
                result = sim_locate(call, device, SIM_MIG_TOO);             \
                if (result == NVML_SUCCESS) {                               \
                    result = (body);                                        \
                }                                                           \
            } while (sim_changed(call->table, sequence));                   \
        }                                                                   \
        return sim_done(call, result);                                      \
    }

PRIVATE(compute_list, FN_nvmlDeviceGetComputeRunningProcesses_v3,
        (nvmlDevice_t device, unsigned *count, named_process_t *entries), *count,
        named_list(call, SIM_PROCESS_COMPUTE, count, entries))
PRIVATE(graphics_list, FN_nvmlDeviceGetGraphicsRunningProcesses_v3,
        (nvmlDevice_t device, unsigned *count, named_process_t *entries), *count,
        named_list(call, SIM_PROCESS_GRAPHICS, count, entries))
PRIVATE(mps_list, FN_nvmlDeviceGetMPSComputeRunningProcesses_v3,
        (nvmlDevice_t device, unsigned *count, named_process_t *entries), *count,
        named_list(call, SIM_PROCESS_MPS, count, entries))
PRIVATE(host_link, FN_nvmlDeviceGetMaxPcieLinkGeneration, (nvmlDevice_t device, unsigned *out), 0,
        sim_put_u32(call, call->gpu->pcie_gen_host_max, out))
PRIVATE(part_number, FN_nvmlDeviceGetBoardPartNumber,
        (nvmlDevice_t device, char *out, unsigned length), 0,
        sim_put_string(call, call->gpu->gpu_part, out, length))
PRIVATE(margin, FN_nvmlDeviceGetMarginTemperature, (nvmlDevice_t device, unsigned *out), 0,
        sim_put_u32(call, call->gpu->temp_margin, out))

static nvmlReturn_t not_supported(void)
{
    return NVML_ERROR_NOT_SUPPORTED;
}

static struct {
    size_t bytes;
    entry_t entry[WORDS - 1];
} table = {.bytes = sizeof table};

static void fill(void)
{
    for (int i = 0; i < WORDS - 1; i++) {
        table.entry[i] = (entry_t)not_supported;
    }
    table.entry[COMPUTE_LIST - 1] = (entry_t)compute_list;
    table.entry[GRAPHICS_LIST - 1] = (entry_t)graphics_list;
    table.entry[MPS_LIST - 1] = (entry_t)mps_list;
    table.entry[HOST_LINK_GENERATION - 1] = (entry_t)host_link;
    table.entry[GPU_PART_NUMBER - 1] = (entry_t)part_number;
    table.entry[MARGIN_TEMPERATURE - 1] = (entry_t)margin;
}

SIM_SYSTEM(nvmlInternalGetExportTable, (const void **out, const void *id), (out, id))
{
    (void)call;
    if (!out || !id || memcmp(id, smi_table, sizeof smi_table) != 0) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    fill();
    *out = &table;
    return NVML_SUCCESS;
}
