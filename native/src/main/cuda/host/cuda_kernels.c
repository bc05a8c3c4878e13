/* The list of all kernels. make check compares it with the PTX. */
#include "arguments.h"
#include "host/cuda_kernels.h"

/* See kernel_host.h. */
extern int kernel_any_stuck;
int kernel_any_stuck;
extern _Thread_local u64 kernel_stuck;
_Thread_local u64 kernel_stuck;

#define CUBE(n) (2.0 * (double)(n) * (double)(n) * (double)(n))

/* module, kernel; of a launch with the argument `a`: bytes of memory, operations in FP64, operations in tensor cores */
#define CUDA_KERNELS(K)                                                                                                        \
    K(pattern, pattern_fill, 8 * a->count, 0, 0)                                                                               \
    K(pattern, pattern_verify, 8 * a->count, 0, 0)                                                                             \
    K(daxpy, daxpy_fill, 16 * a->count, 0, 0)                                                                                  \
    K(daxpy, daxpy, 24 * a->count, 2 * a->count, 0)                                                                            \
    K(daxpy, daxpy_verify, 8 * a->count, 0, 0)                                                                                 \
    K(dgemm, dgemm_fill, 8 * a->count, 0, 0)                                                                                   \
    K(dgemm, dgemm, 0, CUBE(a->n), 0)                                                                                          \
    K(dgemm, dgemm_verify, 8 * a->count, 0, 0)                                                                                 \
    K(wmma, wmma_fill, 2 * a->count, 0, 0)                                                                                     \
    K(wmma, wmma_product, 0, 0, CUBE(a->n))                                                                                    \
    K(wmma, wmma_verify, 4 * a->count, 0, 0)                                                                                   \
    K(reduce, reduce_words, 8 * a->count, 0, 0)                                                                                \
    K(reduce, reduce_doubles, 8 * a->count, 0, 0)                                                                              \
    K(compare, compare, 16 * a->count, 0, 0)                                                                                   \
    K(compare, compare_pattern, (double)(2 * a->count << a->log_bytes), 0, 0)

#define DECLARE(module, name, in_bytes, in_fp64, in_mixed)                                                                     \
    void run_##name(const cuda_launch_t *launch);                                                                              \
    static cuda_cost_t cost_##name(const void *args)                                                                           \
    {                                                                                                                          \
        const name##_args *a = args;                                                                                           \
        return (cuda_cost_t){.bytes = (double)(in_bytes), .fp64 = (double)(in_fp64), .mixed = (double)(in_mixed)};             \
    }
#define ROW(module, name, in_bytes, in_fp64, in_mixed)                                                                         \
    {#module, #name, sizeof(name##_args), KERNEL_THREADS, run_##name, cost_##name},

CUDA_KERNELS(DECLARE)

const cuda_kernel_t cuda_kernels[] = {CUDA_KERNELS(ROW){NULL, NULL, 0, 0, NULL, NULL}};
