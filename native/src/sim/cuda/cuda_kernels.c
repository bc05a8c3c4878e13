/* The kernels of this library, by the names of their PTX entries. */
#include "cuda_kernel.h"

const cu_kernel_t cu_kernels[] = {{NULL, NULL}};
