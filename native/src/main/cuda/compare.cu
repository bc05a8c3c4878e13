/* Buffers of one GPU, bit by bit: results of two runs, another GPU's results after a copy, or a repeated pattern. */
#include "kernel.h"

KERNEL(compare)
{
    PHASE {
        EACH_ELEMENT(i) {
            VERIFY(i, arg.expected[i], arg.seen[i]);
        }
    }
}

DEVICE u64 element(const void *from, u64 index, u64 log_bytes)
{
    switch (log_bytes) {
    case 0: return ((const unsigned char *)from)[index];
    case 1: return ((const u16 *)from)[index];
    case 2: return ((const u32 *)from)[index];
    default: return ((const u64 *)from)[index];
    }
}

KERNEL(compare_pattern)
{
    PHASE {
        /* A division for each element would take longer than the comparison. */
        u64 at = (arg.position + blockIdx.x * arg.per_block + threadIdx.x) % arg.period;
        EACH_ELEMENT(i) {
            if (element(arg.pattern, at, arg.log_bytes) != element(arg.seen, i, arg.log_bytes)) {
                atomicAdd(arg.wrong, 1ULL);
            }
            for (at += KERNEL_THREADS; at >= arg.period; at -= arg.period) {
            }
        }
    }
}
