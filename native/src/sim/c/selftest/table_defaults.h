/* Fills a table with the defaults of its layout: default_table(). */
#ifndef GPUWARDEN_TABLE_DEFAULTS_H
#define GPUWARDEN_TABLE_DEFAULTS_H

#include <string.h>

#include "sim_table.h"

#define DEFAULT_I(name, standard) row->name = (standard);
#define DEFAULT_A(name, count, standard)      \
    for (int i = 0; i < (count); i++) {       \
        row->name[i] = (standard);            \
    }
#define DEFAULT_S(name, bytes) memset(row->name, 0, bytes);
#define DEFAULT_T(name, type, count)          \
    for (int i = 0; i < (count); i++) {       \
        default_##type(&row->name[i]);        \
    }
#define DEFAULTS(name, LIST)                          \
    static void default_##name(sim_##name##_t *row)   \
    {                                                 \
        LIST(DEFAULT_I, DEFAULT_A, DEFAULT_S, DEFAULT_T) \
    }
SIM_STRUCTS(DEFAULTS)

#endif
