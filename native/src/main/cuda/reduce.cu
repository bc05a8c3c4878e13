/* Sums. The order of addition is that of the source, so that two GPUs with the same numbers have the same bits. */
#include "kernel.h"

KERNEL(reduce_words)
{
    __shared__ u64 sums[KERNEL_THREADS], xors[KERNEL_THREADS];
    PHASE {
        u64 sum = 0, exclusive_or = 0;
        EACH_ELEMENT(i) {
            sum += arg.words[i];
            exclusive_or ^= arg.words[i];
        }
        sums[threadIdx.x] = sum;
        xors[threadIdx.x] = exclusive_or;
    }
    for (u32 half = KERNEL_THREADS / 2; half > 0; half /= 2) {
        PHASE {
            if (threadIdx.x < half) {
                sums[threadIdx.x] += sums[threadIdx.x + half];
                xors[threadIdx.x] ^= xors[threadIdx.x + half];
            }
        }
    }
    PHASE {
        if (threadIdx.x == 0) {
            arg.sums[blockIdx.x] = sums[0];
            arg.xors[blockIdx.x] = xors[0];
        }
    }
    RECORD_SM();
    WROTE(&arg.sums[blockIdx.x], sizeof arg.sums[0]);
    WROTE(&arg.xors[blockIdx.x], sizeof arg.xors[0]);
}

KERNEL(reduce_doubles)
{
    __shared__ double sums[KERNEL_THREADS];
    PHASE {
        double sum = 0;
        EACH_ELEMENT(i) {
            sum += arg.numbers[i];
        }
        sums[threadIdx.x] = sum;
    }
    for (u32 half = KERNEL_THREADS / 2; half > 0; half /= 2) {
        PHASE {
            if (threadIdx.x < half) {
                sums[threadIdx.x] += sums[threadIdx.x + half];
            }
        }
    }
    PHASE {
        if (threadIdx.x == 0) {
            arg.sums[blockIdx.x] = sums[0];
        }
    }
    RECORD_SM();
    WROTE(&arg.sums[blockIdx.x], sizeof arg.sums[0]);
}
