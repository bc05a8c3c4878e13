/*
 * Carries out a plan: the driver calls of one GPU and one cadence, in one go, without memory of its own. StepRunner.java does the
 * same step by step; SamplerEqualityTest holds the two together.
 */
#include "plan_image.h"

#include <string.h>
#include <time.h>

#include "nvml_mirror.h"

typedef struct {
    const int64_t *image;
    void *device;
    char *frame;
    char *scratch;
    int64_t calls;
    int64_t links;
    int initialised;
} run_t;

typedef struct {
    int64_t raw;
    int32_t absence;
    int32_t code;
} slot_t;

typedef unsigned (*out_fn)(void *, void *);
typedef unsigned (*arg_out_fn)(void *, unsigned, void *);
typedef unsigned (*arg2_out_fn)(void *, unsigned, unsigned, void *);
typedef unsigned (*arg3_out_fn)(void *, unsigned, unsigned, unsigned, void *);
typedef unsigned (*pair_fn)(void *, void *, void *);
typedef unsigned (*quad_fn)(void *, void *, void *, void *, void *);
typedef unsigned (*count_fn)(void *, unsigned, void *, void *);
typedef unsigned (*fields_fn)(void *, int, void *);

static int64_t now_ns(void)
{
    struct timespec now; /* the clock behind System.nanoTime; SamplerContract compares the two */
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static slot_t *slot_at(const run_t *run, int64_t slot)
{
    return (slot_t *)(void *)(run->frame + run->image[H_FRAME_HEADER] + slot * run->image[H_FRAME_SLOT]);
}

static void put(const run_t *run, int64_t slot, int64_t raw)
{
    *slot_at(run, slot) = (slot_t){raw, (int32_t)run->image[H_PRESENT], 0};
}

static void put_absent(const run_t *run, int64_t slot, int64_t absence, int code)
{
    *slot_at(run, slot) = (slot_t){0, (int32_t)absence, code};
}

static int is_open(const run_t *run, int64_t slot)
{
    int32_t absence = slot_at(run, slot)->absence;
    return absence == run->image[H_PENDING] || absence == run->image[H_NOT_SUPPORTED]
           || absence == run->image[H_NO_SYMBOL];
}

/* With a version word or a field id, codes 25 and 2 mean that this library does not support the newer form. */
static int64_t cause(const run_t *run, int code, int newer_form)
{
    if (newer_form && (code == NVML_ERROR_ARGUMENT_VERSION_MISMATCH || code == NVML_ERROR_INVALID_ARGUMENT)) {
        return run->image[H_NOT_SUPPORTED];
    }
    return code >= 0 && code < H_CAUSE_COUNT ? run->image[H_CAUSES + code] : run->image[H_OTHER_CAUSE];
}

static int counted(run_t *run, unsigned result)
{
    run->calls++;
    if (result == NVML_ERROR_UNINITIALIZED) {
        run->initialised = 0;
    }
    return (int)result;
}

static int call(run_t *run, int64_t function, int64_t shape, unsigned a, unsigned b, unsigned c, unsigned version)
{
    char *out = run->scratch;
    void *device = run->device;
    memset(out, 0, SCRATCH_ZEROED);
    if (version != 0) {
        memcpy(out, &version, sizeof version);
    }
    switch (shape) {
    case SHAPE_OUT: return counted(run, ((out_fn)function)(device, out));
    case SHAPE_ARG_OUT: return counted(run, ((arg_out_fn)function)(device, a, out));
    case SHAPE_ARG2_OUT: return counted(run, ((arg2_out_fn)function)(device, a, b, out));
    case SHAPE_ARG3_OUT: return counted(run, ((arg3_out_fn)function)(device, a, b, c, out));
    case SHAPE_PAIR: return counted(run, ((pair_fn)function)(device, out, out + 8));
    case SHAPE_QUAD: return counted(run, ((quad_fn)function)(device, out, out + 8, out + 16, out + 24));
    case SHAPE_COUNT: return counted(run, ((count_fn)function)(device, a, out, NULL));
    default: return NVML_ERROR_UNKNOWN;
    }
}

static int64_t value(const run_t *run, int64_t offset, int64_t width)
{
    const char *from = run->scratch + offset;
    uint32_t u32;
    int32_t s32;
    int64_t u64;
    switch (width) {
    case WIDTH_U32: memcpy(&u32, from, sizeof u32); return u32;
    case WIDTH_S32: memcpy(&s32, from, sizeof s32); return s32;
    case WIDTH_U64: memcpy(&u64, from, sizeof u64); return u64;
    default: return (unsigned char)*from;
    }
}

static void take_values(const run_t *run, const int64_t *take, int64_t count)
{
    int64_t filled = -1;
    for (int64_t i = 0; i < count; i++, take += T_WORDS) {
        int64_t slot = take[T_SLOT];
        int64_t taken = value(run, take[T_OFFSET], take[T_WIDTH]);
        if (take[T_SUM]) {
            if (filled == slot) { /* unsigned: a lying library must not make this undefined */
                put(run, slot, (int64_t)((uint64_t)slot_at(run, slot)->raw + (uint64_t)taken));
            }
        } else if (is_open(run, slot)) {
            put(run, slot, taken);
            filled = slot;
        } else {
            filled = -1;
        }
    }
}

static void step_call(run_t *run, const int64_t *step)
{
    const int64_t *takes = step + C_TAKES;
    int64_t count = step[C_TAKE_COUNT];
    int any_open = 0;
    for (int64_t i = 0; i < count; i++) {
        any_open |= is_open(run, takes[i * T_WORDS + T_SLOT]);
    }
    if (!any_open) {
        return;
    }
    int code = call(run, step[S_FUNCTION], step[C_SHAPE], (unsigned)step[C_A], (unsigned)step[C_B],
                    (unsigned)step[C_C], (unsigned)step[C_VERSION]);
    if (code == NVML_SUCCESS || (step[C_SHAPE] == SHAPE_COUNT && code == NVML_ERROR_INSUFFICIENT_SIZE)) {
        take_values(run, takes, count);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        if (is_open(run, takes[i * T_WORDS + T_SLOT])) {
            put_absent(run, takes[i * T_WORDS + T_SLOT], cause(run, code, step[C_VERSION] != 0), code);
        }
    }
}

static void put_field(const run_t *run, int64_t slot, const nvmlFieldValue_t *entry)
{
    switch (entry->valueType) {
    case NVML_VALUE_TYPE_DOUBLE:
        if (entry->value.dVal > -0x1p62 && entry->value.dVal < 0x1p62) { /* false for NaN */
            put(run, slot, (int64_t)entry->value.dVal);
        } else {
            put_absent(run, slot, run->image[H_IMPLAUSIBLE], 0);
        }
        break;
    case NVML_VALUE_TYPE_UNSIGNED_INT: put(run, slot, entry->value.uiVal); break;
    case NVML_VALUE_TYPE_UNSIGNED_LONG:
    case NVML_VALUE_TYPE_UNSIGNED_LONG_LONG:
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG: put(run, slot, entry->value.sllVal); break;
    case NVML_VALUE_TYPE_SIGNED_INT: put(run, slot, entry->value.siVal); break;
    case NVML_VALUE_TYPE_UNSIGNED_SHORT: put(run, slot, entry->value.usVal); break;
    default: put_absent(run, slot, run->image[H_IMPLAUSIBLE], 0); break;
    }
}

static void step_fields(run_t *run, int64_t function, nvmlFieldValue_t *entries, const int64_t *fields,
                        int64_t count)
{
    int any_open = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t *field = fields + i * V_WORDS;
        memset(&entries[i], 0, sizeof entries[i]);
        entries[i].fieldId = (unsigned)field[V_ID];
        entries[i].scopeId = (unsigned)field[V_SCOPE];
        entries[i].nvmlReturn = NVML_ERROR_UNKNOWN; /* the code of an entry without an answer */
        any_open |= is_open(run, field[V_SLOT]);
    }
    if (!any_open) {
        return;
    }
    int result = counted(run, ((fields_fn)function)(run->device, (int)count, entries));
    for (int64_t i = 0; i < count; i++) {
        int64_t slot = fields[i * V_WORDS + V_SLOT];
        if (is_open(run, slot)) {
            int code = result == NVML_SUCCESS ? entries[i].nvmlReturn : result;
            if (code == NVML_SUCCESS) {
                put_field(run, slot, &entries[i]);
            } else {
                put_absent(run, slot, cause(run, code, 1), code);
            }
        }
    }
}

static void step_link_count(run_t *run, const int64_t *step)
{
    const slot_t source = *slot_at(run, step[N_SOURCE]);
    int present = source.absence == run->image[H_PRESENT];
    int possible = present && source.raw >= 0 && source.raw <= step[N_MAX_LINKS];
    int64_t absence = !present ? source.absence : run->image[possible ? H_NOT_SUPPORTED : H_IMPLAUSIBLE];
    run->links = possible ? source.raw : 0;
    for (int64_t slot = step[N_FIRST_SLOT] + run->links * step[N_PER_LINK]; slot < run->image[H_FRAME_SLOTS]; slot++) {
        put_absent(run, slot, absence, present ? 0 : source.code);
    }
}

static void step_link_call(run_t *run, const int64_t *step)
{
    for (int64_t link = 0; link < run->links; link++) {
        int64_t slot = step[K_FIRST_SLOT] + link * step[K_PER_LINK];
        if (is_open(run, slot)) {
            int code = call(run, step[S_FUNCTION], step[K_SHAPE], (unsigned)link, (unsigned)step[K_ARGUMENT], 0, 0);
            if (code == NVML_SUCCESS) {
                put(run, slot, value(run, 0, step[K_WIDTH]));
            } else {
                put_absent(run, slot, cause(run, code, 0), code);
            }
        }
    }
}

static void run_steps(run_t *run)
{
    const int64_t *image = run->image;
    for (const int64_t *step = image + image[H_STEPS]; step[S_KIND] != STEP_END; step = image + step[S_NEXT]) {
        switch (step[S_KIND]) {
        case STEP_CALL: step_call(run, step); break;
        case STEP_FIELDS:
            step_fields(run, step[S_FUNCTION], (nvmlFieldValue_t *)step[F_ENTRIES], step + F_FIELDS, step[F_COUNT]);
            break;
        case STEP_LINK_COUNT: step_link_count(run, step); break;
        case STEP_LINK_FIELDS:
            step_fields(run, step[S_FUNCTION], (nvmlFieldValue_t *)step[L_ENTRIES], step + L_FIELDS,
                        image[step[L_UP_TO] + run->links]);
            break;
        default: step_link_call(run, step); break;
        }
    }
}

int plan_run(const int64_t *image, void *device, char *frame)
{
    int64_t start = now_ns();
    run_t run = {.image = image,
                 .device = device,
                 .frame = frame,
                 .scratch = (char *)image[H_SCRATCH],
                 .initialised = 1};
    for (int64_t i = 0; i < image[H_SLOT_COUNT]; i++) {
        const int64_t *opening = image + image[H_SLOTS] + 2 * i;
        put_absent(&run, opening[0], opening[1], 0);
    }
    run_steps(&run);
    int64_t end = now_ns();
    int64_t duration = end - start;
    memcpy(frame + FRAME_SAMPLED_AT + 8 * image[H_CADENCE], &end, sizeof end);
    memcpy(frame + FRAME_DURATION + 8 * image[H_CADENCE], &duration, sizeof duration);
    memcpy(frame + FRAME_CALLS, &run.calls, sizeof run.calls);
    return run.initialised;
}
