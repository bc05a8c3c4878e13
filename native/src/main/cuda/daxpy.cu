/* y = factor * x + y in FP64: bound by the bandwidth of memory. All numbers are integers, so that results are exact. */
#include "kernel.h"

DEVICE double x_of(u64 seed, u64 index)
{
    return (double)random_integer(2 * seed, index, 1000);
}

DEVICE double y_of(u64 seed, u64 index)
{
    return (double)random_integer(2 * seed + 1, index, 1000);
}

KERNEL(daxpy_fill)
{
    PHASE {
        EACH_ELEMENT(i) {
            arg.x[i] = x_of(arg.seed, i);
            arg.y[i] = y_of(arg.seed, i);
        }
    }
    RECORD_SM();
    WROTE_ELEMENTS(arg.x);
    WROTE_ELEMENTS(arg.y);
}

KERNEL(daxpy)
{
    PHASE {
        EACH_ELEMENT(i) {
            arg.y[i] = fma(arg.factor, arg.x[i], arg.y[i]);
        }
    }
    RECORD_SM();
    WROTE_ELEMENTS(arg.y);
}

KERNEL(daxpy_verify)
{
    double factor = (double)arg.rounds * arg.factor;
    PHASE {
        EACH_ELEMENT(i) {
            VERIFY(i, bits_of_double(fma(factor, x_of(arg.seed, i), y_of(arg.seed, i))), bits_of_double(arg.y[i]));
        }
    }
}
