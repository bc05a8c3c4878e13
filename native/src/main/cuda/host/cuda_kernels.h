/*
 * The kernels, compiled for the host: what the simulated driver runs in place of the PTX of the same source. A kernel of module M is
 * in M.ptx under the same name.
 */
#ifndef GPUWARDEN_CUDA_KERNELS_H
#define GPUWARDEN_CUDA_KERNELS_H

#include <stddef.h>

/* Memory that a block has written: elements in a row. */
typedef struct {
    unsigned block, sm;
    void *at;
    size_t bytes, element_bytes;
} cuda_written_t;

typedef struct {
    unsigned grid[3], block[3], shared_bytes;
    unsigned sm_count; /* Block b runs on SM b modulo sm_count, which is at least 1. */
    void **args;       /* like kernelParams of cuLaunchKernel */
    /* Null, or called for each range of memory that a block has written, after the block. A block can have several ranges. */
    void (*spoil)(void *spoil_env, const cuda_written_t *written);
    void *spoil_env;
    unsigned long long stuck; /* These bits of random words are 1, in blocks of SM `stuck_sm`, or of all SMs if that is below 0. */
    int stuck_sm;
} cuda_launch_t;

typedef void (*cuda_run_t)(const cuda_launch_t *launch);

/* The work of a launch: bytes of memory that are read and written, and operations in FP64 and in tensor cores. */
typedef struct {
    double bytes, fp64, mixed;
} cuda_cost_t;

typedef struct {
    const char *module, *name;
    size_t argument_bytes;  /* args[0] points at as many */
    unsigned block_threads; /* A launch has block {block_threads, 1, 1}. A GPU refuses more by code 701 and computes nonsense with fewer. */
    cuda_run_t run;
    cuda_cost_t (*cost)(const void *args);
} cuda_kernel_t;

/* The last one has a null name. */
extern const cuda_kernel_t cuda_kernels[];

#endif
