/*
 * The form of an exported call. A call's body receives a resolved device and may run more than once:
 * it runs again when the table changed underneath it, so that no answer mixes two states. Bodies
 * therefore only read the table and write the caller's buffers, or do what has no second effect.
 */
#ifndef GPUWARDEN_SIM_CALL_H
#define GPUWARDEN_SIM_CALL_H

#include <stddef.h>

#include "sim_functions.h"
#include "sim_state.h"

#define SIM_EXPORT __attribute__((visibility("default")))
#define SIM_UNWRAP(...) __VA_ARGS__

/* From the generated file of each generation (sim_stubs.awk). 535.54 is 53554, 550 is 550. */
extern const int sim_generation;
/* 535 for both of its generations. */
int sim_driver_major(void);
extern const unsigned sim_field_max; /* field ids from here on are unknown to it */
extern const unsigned sim_gi_profiles, sim_ci_profiles; /* profile numbers from here on are unknown to it */
extern const char sim_default_driver[];
extern const char sim_default_nvml[];

/* Init count, and the slots that were visible at the last init from zero. */
bool sim_initialised(void);
int sim_attached_count(void);
int sim_attached_slot(int index); /* -1 if there is no such index */
int sim_attached_index(int slot); /* -1 if the slot is not attached */

typedef struct {
    sim_table_t *table;
    sim_gpu_t *gpu; /* of a MIG device: its parent */
    sim_mig_t *mig; /* NULL for a whole GPU */
    int slot;
    int function;
    int lie;
    unsigned capacity; /* of the caller's buffer, in entries; kept, since a list call writes it */
} sim_call_t;

/* The arguments of a call, resolved. */
enum {
    SIM_GPU_ONLY = 0,    /* NOT_SUPPORTED on a MIG device */
    SIM_MIG_TOO = 1,     /* works on a MIG device */
    SIM_IDENTITY = 2,    /* still answers when the GPU waits for a reset */
    SIM_NOT_WITH_MIG = 4 /* NOT_SUPPORTED on a GPU in MIG mode */
};

/* Checks the init state and applies planned faults; blocks or sleeps where a fault requires it. Once per call. */
nvmlReturn_t sim_gate(sim_call_t *call, int function, nvmlDevice_t device);
nvmlReturn_t sim_locate(sim_call_t *call, nvmlDevice_t device, int flags);
nvmlReturn_t sim_done(const sim_call_t *call, nvmlReturn_t result);

nvmlDevice_t sim_gpu_handle(int slot);
nvmlDevice_t sim_mig_handle(int slot, int instance);
bool sim_handle_slot(nvmlDevice_t device, int *slot, int *instance); /* instance -1: the GPU */

/* Answers: NOT_SUPPORTED for SIM_NA or an empty string, INVALID_ARGUMENT for a missing buffer. */
nvmlReturn_t sim_put_u32(const sim_call_t *call, int64_t value, void *out);
nvmlReturn_t sim_put_u64(const sim_call_t *call, int64_t value, unsigned long long *out);
nvmlReturn_t sim_put_string(const sim_call_t *call, const char *value, char *out, unsigned length);
/* A number inside a struct: absent is all ones. */
unsigned sim_u32(const sim_call_t *call, int64_t value);
unsigned long long sim_u64(const sim_call_t *call, int64_t value);

/* The answer of a symbol that the simulator does not implement. */
nvmlReturn_t sim_stub(int function);
/* A list's entry count after the body filled it. */
unsigned sim_list_count(const sim_call_t *call, unsigned count, unsigned capacity);

#define SIM_NEED(pointer)                       \
    if (!(pointer)) {                           \
        return NVML_ERROR_INVALID_ARGUMENT;     \
    }

/* SIM_DEVICE(nvmlDeviceGetX, flags, (type *out), (out)) { body, sees `call` and the parameters } */
#define SIM_DEVICE(name, flags, parameters, arguments) \
    SIM_LIST(name, flags, 0, parameters, arguments)

/* The same for a call that writes a list: `room` is the capacity that the caller gave. */
#define SIM_LIST(name, flags, room, parameters, arguments) \
    SIM_HANDLE(name, nvmlDevice_t, , flags, room, parameters, arguments)

/* The same for a handle of another type, which `to_device` turns into the device that it belongs to. */
#define SIM_HANDLE(name, type, to_device, flags, room, parameters, arguments)                    \
    static nvmlReturn_t body_##name(const sim_call_t *call, SIM_UNWRAP parameters);              \
    SIM_EXPORT nvmlReturn_t name(type handle, SIM_UNWRAP parameters);                            \
    nvmlReturn_t name(type handle, SIM_UNWRAP parameters)                                        \
    {                                                                                            \
        nvmlDevice_t device = to_device(handle);                                                 \
        sim_call_t call;                                                                         \
        nvmlReturn_t result = sim_gate(&call, FN_##name, device);                                \
        if (result == NVML_SUCCESS) {                                                            \
            int64_t sequence;                                                                    \
            call.capacity = (room);                                                              \
            do {                                                                                 \
                sequence = sim_begin_read(call.table);                                           \
                result = sim_locate(&call, device, flags);                                       \
                if (result == NVML_SUCCESS) {                                                    \
                    result = body_##name(&call, SIM_UNWRAP arguments);                           \
                }                                                                                \
            } while (sim_changed(call.table, sequence));                                         \
        }                                                                                        \
        return sim_done(&call, result);                                                          \
    }                                                                                            \
    static nvmlReturn_t body_##name(const sim_call_t *call, SIM_UNWRAP parameters)

/* The same for calls without a device. */
#define SIM_SYSTEM(name, parameters, arguments)                                                  \
    static nvmlReturn_t body_##name(const sim_call_t *call, SIM_UNWRAP parameters);              \
    SIM_EXPORT nvmlReturn_t name parameters;                                                     \
    nvmlReturn_t name parameters                                                                 \
    {                                                                                            \
        sim_call_t call;                                                                         \
        nvmlReturn_t result = sim_gate(&call, FN_##name, NULL);                                  \
        if (result == NVML_SUCCESS) {                                                            \
            int64_t sequence;                                                                    \
            do {                                                                                 \
                sequence = sim_begin_read(call.table);                                           \
                result = body_##name(&call, SIM_UNWRAP arguments);                               \
            } while (sim_changed(call.table, sequence));                                         \
        }                                                                                        \
        return sim_done(&call, result);                                                          \
    }                                                                                            \
    static nvmlReturn_t body_##name(const sim_call_t *call, SIM_UNWRAP parameters)

/* One number or one string straight from the GPU's row: `value` sees `gpu`. */
#define SIM_GET_U32(name, flags, value)                      \
    SIM_DEVICE(name, flags, (unsigned *out), (out))          \
    {                                                        \
        const sim_gpu_t *gpu = call->gpu;                    \
        return sim_put_u32(call, (value), out);              \
    }
#define SIM_GET_U64(name, flags, value)                      \
    SIM_DEVICE(name, flags, (unsigned long long *out), (out)) \
    {                                                        \
        const sim_gpu_t *gpu = call->gpu;                    \
        return sim_put_u64(call, (value), out);              \
    }
#define SIM_GET_STRING(name, flags, value)                               \
    SIM_DEVICE(name, flags, (char *out, unsigned length), (out, length)) \
    {                                                                    \
        const sim_gpu_t *gpu = call->gpu;                                \
        return sim_put_string(call, (value), out, length);               \
    }
/* Two numbers that come together; the second may be NA only if the first is. */
#define SIM_GET_U32_PAIR(name, flags, first, second)                        \
    SIM_DEVICE(name, flags, (unsigned *one, unsigned *two), (one, two))     \
    {                                                                       \
        const sim_gpu_t *gpu = call->gpu;                                   \
        nvmlReturn_t result = sim_put_u32(call, (first), one);              \
        return result != NVML_SUCCESS ? result : sim_put_u32(call, (second), two); \
    }

#endif
