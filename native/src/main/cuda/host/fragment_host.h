/* Fragments on the host: a whole warp's at one place, with the same product. */
#ifndef GPUWARDEN_FRAGMENT_HOST_H
#define GPUWARDEN_FRAGMENT_HOST_H

#include <string.h>

typedef struct {
    float at[FRAGMENT][FRAGMENT];
} fragment_sum_t, fragment_factor_t;

/* The value of a normal number or of zero: fills store no others. */
DEVICE float float_of_half(u16 half)
{
    u32 bits = (u32)(half & 0x8000) << 16 | (half & 0x7fff ? ((u32)(half & 0x7fff) << 13) + (112u << 23) : 0);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

DEVICE void fragment_zero(fragment_sum_t *sum)
{
    memset(sum, 0, sizeof *sum);
}

DEVICE void fragment_load(fragment_factor_t *to, const u16 *from, u64 row_length)
{
    for (u32 i = 0; i < FRAGMENT; i++) {
        for (u32 j = 0; j < FRAGMENT; j++) {
            to->at[i][j] = float_of_half(from[i * row_length + j]);
        }
    }
}
#define fragment_load_a fragment_load
#define fragment_load_b fragment_load

DEVICE void fragment_multiply(fragment_sum_t *sum, const fragment_factor_t *a, const fragment_factor_t *b)
{
    for (u32 i = 0; i < FRAGMENT; i++) {
        for (u32 k = 0; k < FRAGMENT; k++) {
            for (u32 j = 0; j < FRAGMENT; j++) {
                sum->at[i][j] += a->at[i][k] * b->at[k][j];
            }
        }
    }
}

DEVICE void fragment_store(float *to, const fragment_sum_t *sum, u64 row_length)
{
    for (u32 i = 0; i < FRAGMENT; i++) {
        memcpy(to + i * row_length, sum->at[i], sizeof sum->at[i]);
    }
}

#endif
