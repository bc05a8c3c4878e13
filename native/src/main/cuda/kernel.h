/*
 * The common parts of all kernels. One source is CUDA C++ for NVRTC and C for the simulated driver (host/kernel_host.h), so it uses
 * what both languages have.
 *
 *   KERNEL(name) { … }   a kernel with the parameter name##_args arg
 *   PHASE { … }          what each thread does between two __syncthreads(); the host runs one thread after another
 *   WARP_PHASE { … }     the same, once for each warp on the host: for functions that all threads of a warp call together
 *   PER_THREAD(type, v)  a variable of each thread that lives across phases; MINE(v) is this thread's
 *   EACH_ELEMENT(i)      this thread's elements of the block's part of `count`
 *   RECORD_SM()          stores the SM in arg.sm
 *   STUCK(word)          a random word: the simulator can set a bit of each
 *   WROTE(at, bytes)     the memory that the block has written, after its last phase: the simulator can corrupt it. Likewise
 *                        WROTE_ELEMENTS of the block's part of an array, WROTE_TILE of its tile of an n by n matrix
 */
#ifndef GPUWARDEN_KERNEL_H
#define GPUWARDEN_KERNEL_H

#include "arguments.h"

#ifdef __CUDACC__

#define DEVICE static __device__ __forceinline__
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(KERNEL_THREADS) name(const name##_args arg)
#define PHASE for (int phase_open = 1; phase_open; phase_open = 0, __syncthreads())
#define WARP_PHASE PHASE
#define PER_THREAD(type, name) type name
#define MINE(name) name
#define UNROLL _Pragma("unroll")
#define RECORD_SM() (threadIdx.x == 0 && arg.sm ? (void)(arg.sm[blockIdx.x] = sm_id()) : (void)0)
#define STUCK(word) (word)
#define WROTE(at, bytes) ((void)0)
#define WROTE_ELEMENTS(at) ((void)0)
#define WROTE_TILE(at, rows, columns) ((void)0)

DEVICE u64 sm_id(void)
{
    u32 sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

#else
#include "host/kernel_host.h"
#endif

#define EACH_ELEMENT(i)                                                                                                        \
    for (u64 i = blockIdx.x * arg.per_block + threadIdx.x,                                                                     \
             i##_end = least(arg.count, (blockIdx.x + 1) * arg.per_block);                                                     \
         i < i##_end; i += KERNEL_THREADS)

DEVICE u64 least(u64 a, u64 b)
{
    return a < b ? a : b;
}

DEVICE u64 bits_of_double(double value)
{
    union {
        double value;
        u64 bits;
    } both;
    both.value = value;
    return both.bits;
}

DEVICE u32 bits_of_float(float value)
{
    union {
        float value;
        u32 bits;
    } both;
    both.value = value;
    return both.bits;
}

/* SplitMix64: its output function, of the state at `index`. */
DEVICE u64 random_word(u64 seed, u64 index)
{
    u64 z = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return STUCK(z ^ (z >> 31));
}

/* An integer of -limit to limit. */
DEVICE i64 random_integer(u64 seed, u64 index, u32 limit)
{
    return (i64)(random_word(seed, index) % (2 * limit + 1)) - (i64)limit;
}

DEVICE u64 writer_sm(writers_t writers, u64 index)
{
    if (!writers.sm) {
        return UNKNOWN_SM;
    }
    u64 row = index / writers.width, column = index % writers.width;
    return writers.sm[row / writers.tile_height * (writers.width / writers.tile_width) + column / writers.tile_width];
}

DEVICE void report_mismatch(report_t *report, writers_t writers, u64 index, u64 expected, u64 seen, u64 reader)
{
    u64 writer = writer_sm(writers, index);
    u64 slot = atomicAdd(&report->wrong, 1ULL);
    atomicMin(&report->first, index);
    atomicAdd(&report->wrong_of_sm[least(writer == UNKNOWN_SM ? reader : writer, REPORT_SMS - 1)], 1ULL);
    if (slot < REPORT_KEPT) {
        mismatch_t mismatch = {index, expected, seen, writer, reader};
        report->kept[slot] = mismatch;
    }
}

#define VERIFY(index, expected, seen)                                                                                          \
    do {                                                                                                                       \
        u64 expected_bits = (expected), seen_bits = (seen);                                                                    \
        if (expected_bits != seen_bits) {                                                                                      \
            report_mismatch(arg.report, arg.writers, index, expected_bits, seen_bits, sm_id());                                \
        }                                                                                                                      \
    } while (0)

#endif
