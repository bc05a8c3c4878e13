#ifndef GPUWARDEN_SIM_FIELDS_H
#define GPUWARDEN_SIM_FIELDS_H

#include "sim_call.h"

enum {
    SIM_FIELD_GPU,      /* gpu row, at offset, one number per id */
    SIM_FIELD_LINK,     /* link row chosen by scopeId (all ones: the sum), one number per id */
    SIM_FIELD_NUMBERED, /* link row chosen by the id itself, counted from `link` */
    SIM_FIELD_SUM,      /* sum over the links */
    SIM_FIELD_ENERGY,
    SIM_FIELD_RECOVERY /* 1 if the recovery action is the one in `link`, else 0 */
};

typedef struct {
    unsigned first, last; /* ids, NVML_FI_* */
    int kind;
    unsigned type; /* nvmlValueType_t */
    size_t offset;
    unsigned link;
} sim_field_t;

const sim_field_t *sim_find_field(unsigned id);

#endif
