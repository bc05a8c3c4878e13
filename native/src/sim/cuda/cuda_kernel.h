/*
 * Kernels that the simulated libcuda can run. One is the name of a PTX entry and a function that does its work for the whole grid;
 * cuda_kernels.c lists them.
 */
#ifndef GPUWARDEN_CUDA_KERNEL_H
#define GPUWARDEN_CUDA_KERNEL_H

#include "cuda_mirror.h"

typedef struct {
    unsigned grid[3], block[3], shared_bytes;
    void **arguments; /* one address for each parameter of the kernel */
    /* Returns the bytes at an address of a device, or NULL if they are in no live allocation: return ILLEGAL_ADDRESS then. */
    void *(*memory)(CUdeviceptr address, size_t bytes);
} cu_launch_t;

/* The cost of the work on the simulated GPU: the longer of the two. */
typedef struct {
    size_t bytes; /* of its memory, read and written */
    int64_t duration_ns;
} cu_cost_t;

typedef struct {
    const char *name; /* NULL ends the list */
    CUresult (*run)(const cu_launch_t *launch, cu_cost_t *cost);
} cu_kernel_t;

extern const cu_kernel_t cu_kernels[];

#endif
