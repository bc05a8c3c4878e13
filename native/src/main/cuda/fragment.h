/*
 * Fragments of 16 by 16 for tensor cores, spread over the threads of a warp. By PTX and not by mma.h, so that NVRTC needs no file of
 * NVIDIA's. Each function is called by all threads of a warp with the same arguments.
 */
#ifndef GPUWARDEN_FRAGMENT_H
#define GPUWARDEN_FRAGMENT_H

#include "kernel.h"

#define FRAGMENT 16u

#ifdef __CUDACC__

typedef struct {
    u32 halves[8];
} fragment_factor_t;

typedef struct {
    float at[8];
} fragment_sum_t;

#define REGISTERS(constraint, r)                                                                                               \
    constraint(r[0]), constraint(r[1]), constraint(r[2]), constraint(r[3]), constraint(r[4]), constraint(r[5]),               \
        constraint(r[6]), constraint(r[7])

DEVICE void fragment_zero(fragment_sum_t *sum)
{
    UNROLL for (u32 i = 0; i < 8; i++) {
        sum->at[i] = 0;
    }
}

#define FRAGMENT_LOAD(side)                                                                                                    \
    DEVICE void fragment_load_##side(fragment_factor_t *to, const u16 *from, u64 row_length)                                  \
    {                                                                                                                          \
        asm volatile("wmma.load." #side ".sync.aligned.row.m16n16k16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"                \
                     : REGISTERS("=r", to->halves)                                                                             \
                     : "l"(from), "r"((u32)row_length)                                                                         \
                     : "memory");                                                                                              \
    }
FRAGMENT_LOAD(a)
FRAGMENT_LOAD(b)

/* sum += a * b */
DEVICE void fragment_multiply(fragment_sum_t *sum, const fragment_factor_t *a, const fragment_factor_t *b)
{
    asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11,%12,%13,%14,%15}, "
                 "{%16,%17,%18,%19,%20,%21,%22,%23}, {%0,%1,%2,%3,%4,%5,%6,%7};"
                 : REGISTERS("+f", sum->at)
                 : REGISTERS("r", a->halves), REGISTERS("r", b->halves));
}

DEVICE void fragment_store(float *to, const fragment_sum_t *sum, u64 row_length)
{
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%2,%3,%4,%5,%6,%7,%8,%9}, %1;"
                 :
                 : "l"(to), "r"((u32)row_length), REGISTERS("f", sum->at)
                 : "memory");
}

#else
#include "host/fragment_host.h"
#endif

#endif
