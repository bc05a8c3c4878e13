/*
 * The private table that nvidia-smi asks for before anything else. What its entries do is not
 * public; here every one answers NOT_SUPPORTED, which leaves nvidia-smi its public calls.
 */
#include <string.h>

#include "sim_call.h"

enum { ENTRIES = 512 };

/* As nvidia-smi 470, 535 and 550 pass it. */
static const unsigned char smi_table[16] = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                            0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};

static nvmlReturn_t not_supported(void)
{
    return NVML_ERROR_NOT_SUPPORTED;
}

/* The first word is the table's size in bytes, so that a client sees how far it may reach. */
static struct {
    size_t bytes;
    nvmlReturn_t (*entry[ENTRIES])(void);
} table = {.bytes = sizeof table};

SIM_SYSTEM(nvmlInternalGetExportTable, (const void **out, const void *id), (out, id))
{
    (void)call;
    if (!out || !id || memcmp(id, smi_table, sizeof smi_table) != 0) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    for (int i = 0; i < ENTRIES; i++) {
        __atomic_store_n(&table.entry[i], not_supported, __ATOMIC_RELAXED);
    }
    *out = &table;
    return NVML_SUCCESS;
}
