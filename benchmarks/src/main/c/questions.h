/* Calls of the library, and the readings that their results set. */
#ifndef GPUWARDEN_QUESTIONS_H
#define GPUWARDEN_QUESTIONS_H

#include <stddef.h>
#include <string.h>

#include "library.h"
#include "readings.h"

static inline nvmlReturn_t counted(nvmlReturn_t code) {
    library_calls++;
    return code;
}
#define CALL(function, ...) counted(function(__VA_ARGS__))

/* If `newer` is set, codes 25 and 2 mean that this library lacks the newer form. */
static inline void answer(struct reading *r, nvmlReturn_t code, bool newer, long long value) {
    if (r->status != OPEN) {
        return;
    }
    r->code = code;
    if (code == NVML_SUCCESS) {
        r->value = value;
        r->status = PRESENT;
    } else if (code != NVML_ERROR_NOT_SUPPORTED && code != NVML_ERROR_FUNCTION_NOT_FOUND
               && !(newer && (code == NVML_ERROR_ARGUMENT_VERSION_MISMATCH || code == NVML_ERROR_INVALID_ARGUMENT))) {
        r->status = REFUSED;
    }
}

static inline bool open(const struct reading *r) { return r->status == OPEN; }

static inline void read_u32(nvmlReturn_t (*function)(nvmlDevice_t, unsigned *), nvmlDevice_t device, struct reading *r) {
    if (function != NULL && open(r)) {
        unsigned value = 0;
        nvmlReturn_t code = CALL(function, device, &value);
        answer(r, code, false, value);
    }
}

static inline void read_u64(
    nvmlReturn_t (*function)(nvmlDevice_t, unsigned long long *), nvmlDevice_t device, struct reading *r) {
    if (function != NULL && open(r)) {
        unsigned long long value = 0;
        nvmlReturn_t code = CALL(function, device, &value);
        answer(r, code, false, (long long)value);
    }
}

/* Functions of a device and a kind: sensor, clock, threshold, link. */
static inline void read_kind(nvmlReturn_t (*function)(nvmlDevice_t, unsigned, unsigned *), nvmlDevice_t device, unsigned kind,
    struct reading *r) {
    if (function != NULL && open(r)) {
        unsigned value = 0;
        nvmlReturn_t code = CALL(function, device, kind, &value);
        answer(r, code, false, value);
    }
}

static inline void read_pair(nvmlReturn_t (*function)(nvmlDevice_t, unsigned *, unsigned *), nvmlDevice_t device,
    struct reading *first, struct reading *second) {
    if (function != NULL && (open(first) || open(second))) {
        unsigned a = 0, b = 0;
        nvmlReturn_t code = CALL(function, device, &a, &b);
        answer(first, code, false, a);
        answer(second, code, false, b);
    }
}

/* One entry of a batch of field values, and where its answer goes. */
struct wanted {
    unsigned field, scope;
    struct reading *to;
};

static inline long long value_of(const nvmlFieldValue_t *field) {
    switch (field->valueType) {
        case NVML_VALUE_TYPE_DOUBLE: return (long long)field->value.dVal;
        case NVML_VALUE_TYPE_UNSIGNED_INT: return field->value.uiVal;
        case NVML_VALUE_TYPE_SIGNED_INT: return field->value.siVal;
        case NVML_VALUE_TYPE_UNSIGNED_SHORT: return field->value.usVal;
        default: return field->value.sllVal;
    }
}

static inline void read_fields(nvmlDevice_t device, const struct wanted *wanted, int count, nvmlFieldValue_t *values) {
    bool any = false;
    for (int i = 0; i < count; i++) {
        values[i] = (nvmlFieldValue_t){
            .fieldId = wanted[i].field, .scopeId = wanted[i].scope, .nvmlReturn = NVML_ERROR_UNKNOWN};
        any |= open(wanted[i].to);
    }
    if (any) {
        nvmlReturn_t code = CALL(DeviceGetFieldValues, device, count, values);
        for (int i = 0; i < count; i++) {
            answer(wanted[i].to, code == NVML_SUCCESS ? values[i].nvmlReturn : code, true, value_of(&values[i]));
        }
    }
}

static inline void read_ecc_total(nvmlDevice_t device, unsigned type, unsigned counter, struct reading *r) {
    if (DeviceGetTotalEccErrors != NULL && open(r)) {
        unsigned long long value = 0;
        nvmlReturn_t code = CALL(DeviceGetTotalEccErrors, device, type, counter, &value);
        answer(r, code, false, (long long)value);
    }
}

#endif
