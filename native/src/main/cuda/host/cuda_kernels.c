/* The list of all kernels. make check compares it with the PTX. */
#include "arguments.h"
#include "host/cuda_kernels.h"

#define CUDA_KERNELS(K)                                                                                                        \
    K(pattern, pattern_fill)                                                                                                   \
    K(pattern, pattern_verify)                                                                                                 \
    K(daxpy, daxpy_fill)                                                                                                       \
    K(daxpy, daxpy)                                                                                                            \
    K(daxpy, daxpy_verify)                                                                                                     \
    K(dgemm, dgemm_fill)                                                                                                       \
    K(dgemm, dgemm)                                                                                                            \
    K(dgemm, dgemm_verify)                                                                                                     \
    K(wmma, wmma_fill)                                                                                                         \
    K(wmma, wmma_product)                                                                                                      \
    K(wmma, wmma_verify)                                                                                                       \
    K(reduce, reduce_words)                                                                                                    \
    K(reduce, reduce_doubles)                                                                                                  \
    K(compare, compare)

#define DECLARE(module, name) void run_##name(const cuda_launch_t *launch);
#define ROW(module, name) {#module, #name, sizeof(name##_args), KERNEL_THREADS, run_##name},

CUDA_KERNELS(DECLARE)

const cuda_kernel_t cuda_kernels[] = {CUDA_KERNELS(ROW){NULL, NULL, 0, 0, NULL}};
