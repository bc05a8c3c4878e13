/*
 * Factors whose product has a closed form, so that it is verified in n^2 steps and needs no second product:
 *   A[i][k] = u(i) + s(k)    B[k][j] = t(k) + v(j)    C[i][j] = u(i) T + n u(i) v(j) + Q + v(j) S
 * with S, T and Q the sums of s(k), t(k) and s(k) t(k). u, s, t, v are random integers of -limit to limit.
 */
#ifndef GPUWARDEN_MATRIX_H
#define GPUWARDEN_MATRIX_H

#include "kernel.h"

#define DGEMM_LIMIT 500u
#define WMMA_LIMIT 4u /* |A| and |B| are at most 8, |C| at most 64 n: exact in FP32, and in the sums of tensor cores */

typedef struct {
    i64 s, t, q;
} matrix_sums_t;

enum { VECTOR_U, VECTOR_S, VECTOR_T, VECTOR_V };

DEVICE i64 matrix_vector(u64 seed, u32 vector, u64 index, u32 limit)
{
    return random_integer(4 * seed + vector, index, limit);
}

/* A cell of factor A (side 0) or B (side 1). */
DEVICE i64 matrix_factor(u64 seed, u64 side, u64 n, u64 cell, u32 limit)
{
    return matrix_vector(seed, side == 0 ? VECTOR_U : VECTOR_T, cell / n, limit)
           + matrix_vector(seed, side == 0 ? VECTOR_S : VECTOR_V, cell % n, limit);
}

/* One thread's part of the sums. */
DEVICE matrix_sums_t matrix_partial_sums(u64 seed, u64 n, u32 thread, u32 limit)
{
    matrix_sums_t sums = {0, 0, 0};
    for (u64 k = thread; k < n; k += KERNEL_THREADS) {
        i64 s = matrix_vector(seed, VECTOR_S, k, limit), t = matrix_vector(seed, VECTOR_T, k, limit);
        sums.s += s;
        sums.t += t;
        sums.q += s * t;
    }
    return sums;
}

DEVICE matrix_sums_t matrix_join_sums(const matrix_sums_t *partial)
{
    matrix_sums_t sums = {0, 0, 0};
    for (u32 thread = 0; thread < KERNEL_THREADS; thread++) {
        sums.s += partial[thread].s;
        sums.t += partial[thread].t;
        sums.q += partial[thread].q;
    }
    return sums;
}

DEVICE i64 matrix_product(u64 seed, u64 n, matrix_sums_t sums, u64 cell, u32 limit)
{
    i64 u = matrix_vector(seed, VECTOR_U, cell / n, limit), v = matrix_vector(seed, VECTOR_V, cell % n, limit);
    return u * sums.t + (i64)n * u * v + sums.q + v * sums.s;
}

#endif
