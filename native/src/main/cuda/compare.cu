/* Two buffers of one GPU, bit by bit: results of two runs, or another GPU's results after a copy. */
#include "kernel.h"

KERNEL(compare)
{
    PHASE {
        EACH_ELEMENT(i) {
            VERIFY(i, arg.expected[i], arg.seen[i]);
        }
    }
}
