/* Memory patterns: fill, and verify later. The pattern of an address proves that no two addresses are one cell. */
#include "kernel.h"

DEVICE u64 pattern_word(u64 pattern, u64 value, u64 index)
{
    u32 shift = (u32)(index % 64);
    switch (pattern) {
    case PATTERN_WALKING:
        return shift == 0 ? value : value << shift | value >> (64 - shift);
    case PATTERN_ADDRESS:
        return value + index * sizeof(u64);
    case PATTERN_RANDOM:
        return random_word(value, index);
    default:
        return value;
    }
}

KERNEL(pattern_fill)
{
    PHASE {
        EACH_ELEMENT(i) {
            arg.words[i] = pattern_word(arg.pattern, arg.value, i);
        }
    }
    RECORD_SM();
    WROTE_ELEMENTS(arg.words);
}

KERNEL(pattern_verify)
{
    PHASE {
        EACH_ELEMENT(i) {
            VERIFY(i, pattern_word(arg.pattern, arg.value, i), arg.words[i]);
        }
    }
}
