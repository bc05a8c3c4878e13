/* The mapped table and the clock, for every simulated library. */
#ifndef GPUWARDEN_SIM_STATE_H
#define GPUWARDEN_SIM_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nvml_mirror.h"
#include "sim_table.h"

/* The table, or NULL when there is none. Maps it on first use. */
sim_table_t *sim_table(void);

/* Maps the file that GPUWARDEN_SIM names, or the one beside the library. Returns the answer of nvmlInit on failure. */
nvmlReturn_t sim_attach(void);

/* Opens the file again: an open file description of its own, for locks. -1 if it is not the mapped file any more. */
int sim_open_mapped(void);

/* Writes the path of another file in the table's folder. False where there is no table or the path is too long. */
bool sim_beside_table(const char *name, char *path, size_t bytes);

/* Waits until no change is under way; the value to give to sim_changed. */
int64_t sim_begin_read(const sim_table_t *table);
bool sim_changed(const sim_table_t *table, int64_t sequence);

/* Nanoseconds since 1970, or the table's frozen time. */
int64_t sim_now_ns(const sim_table_t *table);

void sim_sleep_ms(int milliseconds);

/* The effect of planned faults on one call; blocks or sleeps where a fault requires it. */
typedef struct {
    int code;     /* 0: no error */
    bool by_name; /* the error was planned for this function and not for all */
    int lie;
} sim_effect_t;
sim_effect_t sim_meet_faults(sim_table_t *table, int function, int slot);

const char *sim_function_name(int function);
/* One line on stderr if GPUWARDEN_SIM_TRACE is set. */
void sim_trace(int function, int slot, int result);

/* 16 bytes from hex digits; other characters are skipped, missing digits are 0. */
void sim_parse_hex(const char *text, unsigned char bytes[16]);

#endif
