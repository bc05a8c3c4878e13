/*
 * The shim that compiles kernels as C11 for the host. The threads of a block run one after another through each PHASE, and the blocks
 * of a grid too, in the calling thread.
 */
#ifndef GPUWARDEN_KERNEL_HOST_H
#define GPUWARDEN_KERNEL_HOST_H

#include <math.h>
#include <stdint.h>

#include "host/cuda_kernels.h"

typedef struct {
    u32 x, y, z;
} dim3_t;

/*
 * The bits that are 1 in each random word of the block that runs. They cost a call, so the flag of the process comes first. Static TLS would
 * cost none, but a process has little of it, and loads this library once for each node.
 */
extern _Thread_local u64 kernel_stuck;
extern int kernel_any_stuck;
#define STUCK(word) (__atomic_load_n(&kernel_any_stuck, __ATOMIC_RELAXED) ? (word) | kernel_stuck : (word))

static inline void kernel_stick(const cuda_launch_t *launch, u32 block)
{
    if (launch->stuck) {
        __atomic_store_n(&kernel_any_stuck, 1, __ATOMIC_RELAXED);
    }
    if (__atomic_load_n(&kernel_any_stuck, __ATOMIC_RELAXED)) {
        kernel_stuck = launch->stuck_sm < 0 || (u32)launch->stuck_sm == block % launch->sm_count ? launch->stuck : 0;
    }
}

#define DEVICE static inline
#define __shared__
#define KERNEL(name)                                                                                                           \
    /* A kernel uses the SM or the spoiling of a launch, or neither. */                                                        \
    static void name##_block(const name##_args arg, __attribute__((unused)) const cuda_launch_t *launch, dim3_t blockIdx,      \
                             dim3_t threadIdx);                                                                                \
    void run_##name(const cuda_launch_t *launch);                                                                              \
    void run_##name(const cuda_launch_t *launch)                                                                               \
    {                                                                                                                          \
        dim3_t thread = {0, 0, 0}, b = {0, 0, 0};                                                                              \
        for (b.z = 0; b.z < launch->grid[2]; b.z++) {                                                                          \
            for (b.y = 0; b.y < launch->grid[1]; b.y++) {                                                                      \
                for (b.x = 0; b.x < launch->grid[0]; b.x++) {                                                                  \
                    kernel_stick(launch, b.x);                                                                                 \
                    name##_block(*(const name##_args *)launch->args[0], launch, b, thread);                                    \
                }                                                                                                              \
            }                                                                                                                  \
        }                                                                                                                      \
    }                                                                                                                          \
    static void name##_block(const name##_args arg, __attribute__((unused)) const cuda_launch_t *launch, dim3_t blockIdx,      \
                             dim3_t threadIdx)
/* A GPU runs the threads of a phase in any order: tests compile the kernels for both. */
#ifdef KERNEL_THREADS_REVERSED
#define PHASE for (threadIdx.x = KERNEL_THREADS; threadIdx.x-- > 0;)
#define WARP_PHASE for (threadIdx.x = KERNEL_THREADS; threadIdx.x > 0 && (threadIdx.x -= 32, 1);)
#else
#define PHASE for (threadIdx.x = 0; threadIdx.x < KERNEL_THREADS; threadIdx.x++)
#define WARP_PHASE for (threadIdx.x = 0; threadIdx.x < KERNEL_THREADS; threadIdx.x += 32)
#endif
#define PER_THREAD(type, name) type name[KERNEL_THREADS]
#define MINE(name) name[threadIdx.x]
#define UNROLL
#define sm_id() ((u64)(blockIdx.x % launch->sm_count))
#define RECORD_SM() (arg.sm ? (void)(arg.sm[blockIdx.x] = sm_id()) : (void)0)
#define WROTE(at, bytes)                                                                                                       \
    (launch->spoil ? launch->spoil(launch->spoil_env,                                                                          \
                                   &(cuda_written_t){blockIdx.x, (unsigned)sm_id(), (at), (bytes), sizeof *(at)})             \
                   : (void)0)
#define WROTE_ELEMENTS(at)                                                                                                     \
    do {                                                                                                                       \
        u64 wrote_first = blockIdx.x * arg.per_block;                                                                          \
        if (wrote_first < arg.count) {                                                                                         \
            WROTE(&(at)[wrote_first], least(arg.count - wrote_first, arg.per_block) * sizeof *(at));                           \
        }                                                                                                                      \
    } while (0)
#define WROTE_TILE(at, rows, columns)                                                                                          \
    do {                                                                                                                       \
        for (u64 wrote_row = first_row; wrote_row < first_row + (rows); wrote_row++) {                                         \
            WROTE(&(at)[wrote_row * arg.n + first_column], (columns) * sizeof *(at));                                          \
        }                                                                                                                      \
    } while (0)

static inline u64 atomicAdd(u64 *at, u64 value)
{
    u64 before = *at;
    *at += value;
    return before;
}

static inline u64 atomicMin(u64 *at, u64 value)
{
    u64 before = *at;
    *at = value < before ? value : before;
    return before;
}

#endif
