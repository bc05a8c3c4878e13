/* Constants of the simulator's table, by name; sim-layout prints them as `const` rows. */
#ifndef GPUWARDEN_SIM_CONSTANTS_H
#define GPUWARDEN_SIM_CONSTANTS_H

#include <stdint.h>

/* In a numeric field: this part has no such value; the call that reports it is NOT_SUPPORTED. */
#define SIM_NA INT64_MIN

/* clang-format off */
#define SIM_CONSTANTS(C)                                                              \
    C(MAGIC, 0x4d534757)                                                              \
    C(LAYOUT_VERSION, 9)                                                              \
    C(ALL, -1)                                                                        \
    C(GPU_MAX, 64)                                                                    \
    C(LINK_MAX, 36)                                                                   \
    C(MIG_MAX, 7)                                                                     \
    C(MIG_PROFILE_MAX, 18)                                                            \
    C(FAN_MAX, 4)                                                                     \
    C(PROCESS_MAX, 4096)                                                              \
    C(CUDA_CLIENT_MAX, 512)                                                           \
    C(MEMORY_LIMIT_MAX, 64)                                                           \
    C(CGROUP_DEPTH, 12)                                                               \
    C(EVENT_MAX, 256)                                                                 \
    C(FAULT_MAX, 64)                                                                  \
    /* gpu.state */                                                                   \
    C(STATE_OK, 0)                                                                    \
    C(STATE_LOST, 1)            /* keeps its place; every call on it answers 15 */    \
    C(STATE_RESET_REQUIRED, 2)  /* identity still answers, everything else 16 */      \
    C(STATE_HIDDEN, 3)          /* 15 until the next init, then not counted */        \
    /* process.type */                                                                \
    C(PROCESS_COMPUTE, 0)                                                             \
    C(PROCESS_GRAPHICS, 1)                                                            \
    C(PROCESS_MPS, 2)                                                                 \
    /* fault.mode */                                                                  \
    C(FAULT_OFF, 0)                                                                   \
    C(FAULT_ERROR, 1)           /* answer fault.code */                               \
    C(FAULT_HANG, 2)            /* block until this entry changes, then go on */      \
    C(FAULT_DELAY, 3)           /* sleep fault.delay_us, then go on */                \
    C(FAULT_LIE, 4)             /* answer, but spoil the answer by fault.lie */       \
    /* fault.lie */                                                                   \
    C(LIE_U32_MAX, 1)           /* numbers become 4294967295 */                       \
    C(LIE_808334905, 2)         /* numbers become 808334905, as seen in the field */  \
    C(LIE_ZERO, 3)              /* numbers become 0 */                                \
    C(LIE_NAN, 4)               /* field values become a double NaN */                \
    C(LIE_VALUE_TYPE, 5)        /* field values get a type that does not exist */     \
    C(LIE_COUNT_ABOVE, 6)       /* lists: success, count one above the buffer's */    \
    C(LIE_COUNT_2_31, 7)        /* lists: success, count 2147483648 */                \
    C(LIE_STRIDE_16, 8)         /* process lists: 16-byte entries */                  \
    C(LIE_STRIDE_32, 9)         /* process lists: 32-byte entries */                  \
    C(LIE_NOT_UTF8, 10)         /* strings: bytes that are not UTF-8 */               \
    C(LIE_UNTERMINATED, 11)     /* strings: filled to the end, no NUL */              \
    /* gpu.wrong_pattern */                                                           \
    C(WRONG_NONE, 0)                                                                  \
    C(WRONG_BIT, 1)             /* one bit of one element */                          \
    C(WRONG_BITS, 2)            /* three bits of one element */                       \
    C(WRONG_FRAGMENT, 3)        /* 16 by 16 elements are zero */                      \
    C(WRONG_LANE, 4)            /* a bit of each 32nd element of the SM is one */     \
    C(WRONG_NAN, 5)             /* one element is not a number */                     \
    C(WRONG_NEIGHBOUR, 6)       /* one element has the next one's value */            \
    C(WRONG_NOTHING, 7)         /* the kernel or the copy does nothing */             \
    C(WRONG_STUCK, 8)           /* a bit of each random word is one */                \
    /* gpu.smi_reset */                                                               \
    C(SMI_OK, 0)                                                                      \
    C(SMI_HANG, 1)              /* begins, and goes on when this changes */           \
    C(SMI_FAIL, 2)              /* fails, and nothing has changed */                  \
    C(SMI_LIE, 3)               /* reports success, and nothing has changed */        \
    C(SMI_LOST, 4)              /* fails, and the GPU has fallen off the bus */
/* clang-format on */

#define SIM_CONSTANT_ENUM(name, value) SIM_##name = (value),
enum { SIM_CONSTANTS(SIM_CONSTANT_ENUM) };

#endif
