/* Which GPUs a process sees, and in which order: CUDA_VISIBLE_DEVICES. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cuda_sim.h"

int cu_device_count;
cu_context_t cu_devices[SIM_GPU_MAX];

typedef struct {
    int slot, mig;
} place_t;

static int first_mig(const sim_gpu_t *gpu)
{
    for (int i = 0; i < SIM_MIG_MAX; i++) {
        if (gpu->mig[i].present) {
            return i;
        }
    }
    return -1;
}

/* A GPU in MIG mode shows its first MIG device, and without one it is absent. */
static int all_places(const sim_table_t *table, place_t *places)
{
    int count = 0;
    for (int slot = 0; slot < SIM_GPU_MAX && slot < table->header->gpu_count; slot++) {
        const sim_gpu_t *gpu = &table->gpu[slot];
        int mig = gpu->mig_current == 1 ? first_mig(gpu) : SIM_ALL;
        if (gpu->state != SIM_STATE_HIDDEN && (gpu->mig_current != 1 || mig >= 0)) {
            places[count++] = (place_t){slot, mig};
        }
    }
    return count;
}

/* An index, "GPU-" and as much of a UUID as is unique, or the whole UUID of a MIG device. */
static bool find(const sim_table_t *table, const place_t *all, int count, const char *name,
                 size_t length, place_t *found)
{
    int matches = 0;
    if (isdigit((unsigned char)*name)) {
        char *end;
        long index = strtol(name, &end, 10);
        if (end == name + length && index < count) {
            *found = all[index];
            return true;
        }
        return false;
    }
    for (int i = 0; i < count && length > 4; i++) {
        const sim_gpu_t *gpu = &table->gpu[all[i].slot];
        if (strncasecmp(gpu->uuid, name, length) == 0) {
            *found = all[i];
            matches++;
        }
        for (int m = 0; m < SIM_MIG_MAX && gpu->mig_current == 1; m++) {
            if (gpu->mig[m].present && strlen(gpu->mig[m].uuid) == length
                && strncasecmp(gpu->mig[m].uuid, name, length) == 0) {
                *found = (place_t){all[i].slot, m};
                return true;
            }
        }
    }
    return matches == 1;
}

static bool taken(place_t place)
{
    for (int i = 0; i < cu_device_count; i++) {
        if (cu_devices[i].slot == place.slot && cu_devices[i].mig == place.mig) {
            return true;
        }
    }
    return false;
}

static void add(place_t place)
{
    int ordinal = cu_device_count++;
    cu_devices[ordinal] =
        (cu_context_t){.ordinal = ordinal, .slot = place.slot, .mig = place.mig, .row = -1};
}

/* The first name that is wrong or repeated ends the list. Unset: all GPUs; empty: none. */
void cu_find_devices(const sim_table_t *table)
{
    place_t all[SIM_GPU_MAX], place;
    int count = all_places(table, all);
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    cu_device_count = 0;
    for (int i = 0; i < count && !visible; i++) {
        add(all[i]);
    }
    while (visible && *visible) {
        size_t length = strcspn(visible, ",");
        size_t blank = strspn(visible, " ");
        if (blank >= length || !find(table, all, count, visible + blank, length - blank, &place)
            || taken(place)) {
            break;
        }
        add(place);
        visible += length;
        visible += *visible == ',';
    }
}
