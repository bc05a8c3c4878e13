/* Data types and operators. Sums are rounded to the type at each step, as on a GPU that passes them along a ring. */
#include <string.h>

#include "nccl_sim.h"

size_t nc_type_bytes(ncclDataType_t type)
{
    switch (type) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclFloat8e4m3:
    case ncclFloat8e5m2: return nc_version() >= 22400 ? 1 : 0;
    default: return 0;
    }
}

/* ---- formats of fewer bits than float: a sign, an exponent and a mantissa ----------------------- */

typedef struct {
    int exponent, mantissa; /* bits */
    bool finite;            /* e4m3: no infinity, and one NaN */
} format_t;
static const format_t half = {5, 10, false}, brain = {8, 7, false}, e4m3 = {4, 3, true}, e5m2 = {5, 2, false};

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float decode(format_t f, uint32_t bits)
{
    uint32_t top = (1U << f.exponent) - 1, sign = (bits >> (f.exponent + f.mantissa) & 1) << 31;
    uint32_t exponent = bits >> f.mantissa & top, mantissa = bits & ((1U << f.mantissa) - 1);
    uint32_t bias = top >> 1;
    bool special = exponent == top && (!f.finite || mantissa == (1U << f.mantissa) - 1);
    if (special) {
        return from_bits(sign | 0x7f800000U | (f.finite || mantissa != 0 ? 0x400000U : 0));
    }
    if (exponent == 0 && f.exponent < 8) { /* mantissa * 2^(1 - bias - bits); brain shares float's exponents */
        float unit = from_bits((128U - bias - (uint32_t)f.mantissa) << 23);
        return from_bits(sign | to_bits((float)mantissa * unit));
    }
    return from_bits(sign | (exponent + 127 - bias) << 23 | mantissa << (23 - f.mantissa));
}

/* To the nearest, halves to even. Above the range: infinity, or the largest number of a format of eight bits. */
static inline uint32_t encode(format_t f, float value)
{
    uint32_t top = (1U << f.exponent) - 1, bits = to_bits(value), sign = bits >> 31 << (f.exponent + f.mantissa);
    uint32_t infinity = top << f.mantissa, largest = f.finite ? infinity + (1U << f.mantissa) - 2 : infinity - 1;
    bool small = f.exponent + f.mantissa == 7;
    bits &= 0x7fffffffU;
    if (bits > 0x7f800000U) {
        return sign | (f.finite ? largest + 1 : infinity | 1U << (f.mantissa - 1));
    }
    int exponent = (int)(bits >> 23) - 127 + (int)(top >> 1), shift = 23 - f.mantissa;
    uint32_t whole = bits & 0x7fffffU;
    if (exponent > 0) {
        whole |= (uint32_t)exponent << 23;
    } else if (f.exponent < 8) {
        whole |= 0x800000U;
        shift += 1 - exponent;
    }
    if (shift > 31) {
        return sign;
    }
    uint32_t rest = whole & ((1U << shift) - 1), middle = 1U << (shift - 1), result = whole >> shift;
    result += rest > middle || (rest == middle && (result & 1));
    return sign | (result <= largest ? result : small ? largest : infinity);
}

/* ---- loops ---------------------------------------------------------------------------------- */

#define KEEP(x) (x)
#define OF_SMALL(format, x) decode(format, (uint32_t)(x))

/* One loop for each operator. Integers are added and multiplied without signs, where overflow is defined. */
#define LOOP(expression)                     \
    for (size_t i = 0; i < count; i++) {     \
        const work_t a = LOAD(in[i]);        \
        const work_t b = MINE(LOAD(own[i])); \
        out[i] = STORE(expression);          \
    }                                        \
    break;
#define KERNEL_BODY                                       \
    switch (by->op) {                                     \
    case ncclProd: LOOP(TIMES(a, b))                      \
    case ncclMax: LOOP(a > b ? a : b)                     \
    case ncclMin: LOOP(a < b ? a : b)                     \
    default: LOOP(PLUS(a, b))                             \
    }

#define KERNEL(name, cell, work)                                                                             \
    static void reduce_##name(const nc_reduction_t *by, void *to, const void *incoming, const void *mine, size_t count) \
    {                                                                                                        \
        typedef work work_t;                                                                                 \
        cell *out = to;                                                                                      \
        const cell *in = incoming, *own = mine;                                                              \
        const work_t factor = FACTOR(by);                                                                    \
        KERNEL_BODY                                                                                          \
    }                                                                                                        \
    static void scale_##name(const nc_reduction_t *by, void *to, const void *from, size_t count)             \
    {                                                                                                        \
        typedef work work_t;                                                                                 \
        cell *out = to;                                                                                      \
        const cell *in = from;                                                                               \
        const work_t factor = FACTOR(by);                                                                    \
        for (size_t i = 0; i < count; i++) {                                                                 \
            out[i] = STORE(MINE(LOAD(in[i])));                                                               \
        }                                                                                                    \
    }

#define LOAD(x) (x)
#define PLUS(a, b) ((work_t)((uint64_t)(a) + (uint64_t)(b)))
#define TIMES(a, b) ((work_t)((uint64_t)(a) * (uint64_t)(b)))
#define MINE(x) TIMES(x, factor)
#define FACTOR(by) ((work_t)((by)->scaled ? (by)->factor : 1))
#define STORE(x) (x)
KERNEL(i8, int8_t, int8_t)
KERNEL(u8, uint8_t, uint8_t)
KERNEL(i32, int32_t, int32_t)
KERNEL(u32, uint32_t, uint32_t)
KERNEL(i64, int64_t, int64_t)
KERNEL(u64, uint64_t, uint64_t)
#undef PLUS
#undef TIMES
#undef FACTOR
#define PLUS(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))
#define FACTOR(by) ((work_t)((by)->scaled ? (by)->scale : 1))
KERNEL(f32, float, float)
KERNEL(f64, double, double)
#undef LOAD
#undef STORE
/* A scaled input is rounded before it is added. */
#define SMALL(format, x) decode(format, encode(format, x))
#define LOAD(x) OF_SMALL(half, x)
#define STORE(x) (uint16_t)encode(half, x)
#undef MINE
#define MINE(x) (by->scaled ? SMALL(half, (x) * factor) : (x))
KERNEL(f16, uint16_t, float)
#undef LOAD
#undef STORE
#undef MINE
#define LOAD(x) OF_SMALL(brain, x)
#define STORE(x) (uint16_t)encode(brain, x)
#define MINE(x) (by->scaled ? SMALL(brain, (x) * factor) : (x))
KERNEL(bf16, uint16_t, float)
#undef LOAD
#undef STORE
#undef MINE
#define LOAD(x) OF_SMALL(e4m3, x)
#define STORE(x) (uint8_t)encode(e4m3, x)
#define MINE(x) (by->scaled ? SMALL(e4m3, (x) * factor) : (x))
KERNEL(e4m3, uint8_t, float)
#undef LOAD
#undef STORE
#undef MINE
#define LOAD(x) OF_SMALL(e5m2, x)
#define STORE(x) (uint8_t)encode(e5m2, x)
#define MINE(x) (by->scaled ? SMALL(e5m2, (x) * factor) : (x))
KERNEL(e5m2, uint8_t, float)

typedef void (*reduce_t)(const nc_reduction_t *, void *, const void *, const void *, size_t);
typedef void (*scale_t)(const nc_reduction_t *, void *, const void *, size_t);
#define BOTH(name) {reduce_##name, scale_##name}
static const struct {
    reduce_t reduce;
    scale_t scale;
} kernels[ncclNumTypes] = {
    [ncclInt8] = BOTH(i8),       [ncclUint8] = BOTH(u8),     [ncclInt32] = BOTH(i32),      [ncclUint32] = BOTH(u32),
    [ncclInt64] = BOTH(i64),     [ncclUint64] = BOTH(u64),   [ncclFloat16] = BOTH(f16),    [ncclFloat32] = BOTH(f32),
    [ncclFloat64] = BOTH(f64),   [ncclBfloat16] = BOTH(bf16), [ncclFloat8e4m3] = BOTH(e4m3), [ncclFloat8e5m2] = BOTH(e5m2),
};

void nc_reduce(const nc_reduction_t *by, void *out, const void *incoming, const void *own, size_t count)
{
    kernels[by->type].reduce(by, out, incoming, own, count);
}

void nc_scale(const nc_reduction_t *by, void *out, const void *in, size_t count)
{
    kernels[by->type].scale(by, out, in, count);
}

#define DIVIDE(type, cell)                               \
    case type:                                           \
        for (size_t i = 0; i < count; i++) {             \
            ((cell *)out)[i] = (cell)(((cell *)out)[i] / (cell)by->divisor); \
        }                                                \
        break;

void nc_divide(const nc_reduction_t *by, void *out, size_t count)
{
    if (by->divisor <= 1) {
        return;
    }
    switch (by->type) {
        DIVIDE(ncclInt8, int8_t)
        DIVIDE(ncclUint8, uint8_t)
        DIVIDE(ncclInt32, int32_t)
        DIVIDE(ncclUint32, uint32_t)
        DIVIDE(ncclInt64, int64_t)
        DIVIDE(ncclUint64, uint64_t)
    default: break;
    }
}

#define READ(type, cell, field, value)            \
    case type: {                                  \
        cell x;                                   \
        memcpy(&x, scalar, sizeof x);             \
        by->field = (value);                      \
        break;                                    \
    }

void nc_read_scalar(nc_reduction_t *by, const void *scalar)
{
    switch (by->type) {
        READ(ncclInt8, int8_t, factor, x)
        READ(ncclUint8, uint8_t, factor, x)
        READ(ncclInt32, int32_t, factor, x)
        READ(ncclUint32, uint32_t, factor, x)
        READ(ncclInt64, int64_t, factor, x)
        READ(ncclUint64, uint64_t, factor, (int64_t)x)
        READ(ncclFloat32, float, scale, (double)x)
        READ(ncclFloat64, double, scale, x)
        READ(ncclFloat16, uint16_t, scale, (double)decode(half, x))
        READ(ncclBfloat16, uint16_t, scale, (double)decode(brain, x))
        READ(ncclFloat8e4m3, uint8_t, scale, (double)decode(e4m3, x))
        READ(ncclFloat8e5m2, uint8_t, scale, (double)decode(e5m2, x))
    default: break;
    }
}
