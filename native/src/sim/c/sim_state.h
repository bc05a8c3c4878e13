/* The mapped table, the clock, and the little that a process keeps: init count and attached GPUs. */
#ifndef GPUWARDEN_SIM_STATE_H
#define GPUWARDEN_SIM_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "nvml_mirror.h"
#include "sim_table.h"

/* From the generated file of each generation (sim_stubs.awk). 535.54 is 53554, 550 is 550. */
extern const int sim_generation;
/* 535 for both of its generations. */
int sim_driver_major(void);
extern const unsigned sim_field_max; /* field ids from here on are unknown to it */
extern const unsigned sim_gi_profiles, sim_ci_profiles; /* profile numbers from here on are unknown to it */
extern const char sim_default_driver[];
extern const char sim_default_nvml[];

/* The table, or NULL when there is none. Maps it on first use. */
sim_table_t *sim_table(void);

/* Maps the file that GPUWARDEN_SIM names, or the one beside the library. Returns the answer of nvmlInit on failure. */
nvmlReturn_t sim_attach(void);

/* Waits until no change is under way; the value to give to sim_changed. */
int64_t sim_begin_read(const sim_table_t *table);
bool sim_changed(const sim_table_t *table, int64_t sequence);

/* Nanoseconds since 1970, or the table's frozen time. */
int64_t sim_now_ns(const sim_table_t *table);

void sim_sleep_ms(int milliseconds);

/* Init count, and the slots that were visible at the last init from zero. */
bool sim_initialised(void);
int sim_attached_count(void);
int sim_attached_slot(int index); /* -1 if there is no such index */
int sim_attached_index(int slot); /* -1 if the slot is not attached */

#endif
