/* Resets: what forbids one, what one changes, and the ways in which one goes wrong. */
#include <stdio.h>
#include <time.h>

#include "sim_reset.h"
#include "smi.h"

typedef enum { DONE, IN_USE, FAILED, FELL_OFF } outcome_t;

static void put(int64_t *first, int count, int64_t value)
{
    for (int i = 0; i < count; i++) {
        if (first[i] != SIM_NA) {
            __atomic_store_n(&first[i], value, __ATOMIC_RELAXED);
        }
    }
}

#define RESET_FIELD(name, first, count, value) put((int64_t *)&gpu->name + (first), count, value);
#define RESET_LINK(name, first, count, value)                                  \
    for (int64_t i = 0; i < gpu->nvlink_count && i < SIM_LINK_MAX; i++) {      \
        put((int64_t *)&gpu->link[i].name + (first), count, value);            \
    }

static void clear(sim_gpu_t *gpu)
{
    SIM_RESET(RESET_FIELD, RESET_LINK)
}

/* The driver's event for programs that registered: XID 79. Its lines in the kernel log are the owner's of the node to write. */
static void fall_off(sim_table_t *table, int slot)
{
    int64_t head = table->header->event_head;
    table->event[head % SIM_EVENT_MAX] = (sim_event_t){.gpu = slot, .type = 8, .data = 79, .gi = SIM_NA, .ci = SIM_NA};
    __atomic_store_n(&table->header->event_head, head + 1, __ATOMIC_RELEASE);
    table->gpu[slot].state = SIM_STATE_LOST;
}

static void wait_for(const sim_gpu_t *gpu)
{
    int64_t duration = gpu->smi_reset_us;
    struct timespec pause = {(time_t)(duration / 1000000), (long)(duration % 1000000) * 1000};
    nanosleep(&pause, NULL);
    while (__atomic_load_n(&gpu->smi_reset, __ATOMIC_ACQUIRE) == SIM_SMI_HANG) {
        sim_sleep_ms(10);
    }
}

static outcome_t reset(sim_table_t *table, int slot)
{
    sim_gpu_t *gpu = &table->gpu[slot];
    wait_for(gpu);
    int64_t behaviour = gpu->smi_reset;
    if (behaviour == SIM_SMI_LIE) {
        return DONE;
    }
    if (behaviour == SIM_SMI_FAIL || !smi_change_begin(table)) {
        return FAILED;
    }
    if (behaviour == SIM_SMI_LOST) {
        fall_off(table, slot);
    } else {
        clear(gpu);
    }
    smi_change_end(table);
    return behaviour == SIM_SMI_LOST ? FELL_OFF : DONE;
}

/* Prints the indices that are missing for a common reset. */
static bool whole_units(const sim_table_t *table, const smi_set_t *chosen)
{
    smi_set_t listed = smi_listed(table);
    bool missing[SIM_GPU_MAX] = {0}, whole = true;
    for (int i = 0; i < chosen->count; i++) {
        smi_set_t unit = smi_unit(table, chosen->slot[i]);
        for (int k = 0; k < unit.count; k++) {
            missing[unit.slot[k]] = !smi_has(chosen, unit.slot[k]);
            whole = whole && !missing[unit.slot[k]];
        }
    }
    if (!whole) { /* a text of the binary of 535.309; the form of the list and the exit code are inferred */
        printf("GPU Reset couldn't progress because the specified devices do not meet the reset criterion (e.g. NVLink connected "
               "GPUs must be reset together). Please append the following device indexes to the command line and retry.\n");
        const char *separator = "";
        for (int index = 0; index < listed.count; index++) {
            if (missing[listed.slot[index]]) {
                printf("%s%d", separator, index);
                separator = ",";
            }
        }
        printf("\n");
    }
    return whole;
}

/* Inferred: a GPU in use keeps the others of its unit from a reset, and no other GPU. */
static bool free_to_reset(const sim_table_t *table, int slot)
{
    smi_set_t unit = smi_unit(table, slot);
    for (int i = 0; i < unit.count; i++) {
        if (table->gpu[unit.slot[i]].persistence == 1 || smi_in_use(table, unit.slot[i])) {
            return false;
        }
    }
    return true;
}

static void explain(int in_use, int failed)
{
    if (in_use > 0) {
        printf("\n%d %s currently being used by one or more other processes (e.g., Fabric Manager, CUDA application, graphics "
               "application such as an X server, or a monitoring application such as another instance of nvidia-smi). Please "
               "first kill all processes using %s and all compute applications running in the system.\n",
               in_use, in_use == 1 ? "device is" : "devices are", in_use == 1 ? "this device" : "these devices");
    }
    if (failed > 0) { /* a text of the binary of 535.309 */
        printf("\n%d %s did not complete reset successfully, and may be in an unstable state. Please reboot your system.\n", failed,
               failed == 1 ? "device" : "devices");
    }
}

int smi_reset(sim_table_t *table, const smi_set_t *chosen)
{
    static const char *const reasons[] = {
        [DONE] = "", [IN_USE] = "In use by another client", [FAILED] = "Unknown Error", [FELL_OFF] = "GPU is lost"};
    outcome_t outcome[SIM_GPU_MAX];
    int counts[FELL_OFF + 1] = {0};
    if (!smi_privileged()) { /* inferred from two texts of the binary of 535.309 */
        printf("Unable to reset GPU %s: Insufficient Permissions\nTerminating early due to previous errors.\n",
               smi_bus_id(&table->gpu[chosen->slot[0]]));
        return SMI_NO_PERMISSION;
    }
    if (!whole_units(table, chosen)) {
        return SMI_OTHER;
    }
    for (int i = 0; i < chosen->count; i++) {
        outcome[i] = free_to_reset(table, chosen->slot[i]) ? DONE : IN_USE;
    }
    for (int i = 0; i < chosen->count; i++) {
        if (outcome[i] == DONE) {
            outcome[i] = reset(table, chosen->slot[i]);
        }
        counts[outcome[i]]++;
        if (outcome[i] == DONE) {
            printf("GPU %s was successfully reset.\n", smi_bus_id(&table->gpu[chosen->slot[i]]));
            fflush(stdout);
        }
    }
    if (counts[DONE] == chosen->count) {
        printf("All done.\n");
        return SMI_SUCCESS;
    }
    printf("The following GPUs could not be reset:\n");
    for (int i = 0; i < chosen->count; i++) {
        if (outcome[i] != DONE) {
            printf("  GPU %s: %s\n", smi_bus_id(&table->gpu[chosen->slot[i]]), reasons[outcome[i]]);
        }
    }
    explain(counts[IN_USE], counts[FAILED] + counts[FELL_OFF]);
    return SMI_OTHER;
}
