/*
 * Our mirror of NCCL's types and numbers, as far as the simulated libnccl serves them. C names, no logic. Written from public facts;
 * its numbers are those of nccl.h 2.21 to 2.29.
 */
#ifndef GPUWARDEN_NCCL_MIRROR_H
#define GPUWARDEN_NCCL_MIRROR_H

#include <limits.h>
#include <stddef.h>

typedef struct ncclComm *ncclComm_t;

enum { NCCL_UNIQUE_ID_BYTES = 128 };
typedef struct {
    char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

/* R(name, number, description) */
#define NCCL_RESULTS(R)                                                                        \
    R(ncclSuccess, 0, "no error")                                                              \
    R(ncclUnhandledCudaError, 1, "unhandled cuda error (run with NCCL_DEBUG=INFO for details)") \
    R(ncclSystemError, 2, "unhandled system error (run with NCCL_DEBUG=INFO for details)")     \
    R(ncclInternalError, 3, "internal error - please report this issue to the NCCL developers") \
    R(ncclInvalidArgument, 4, "invalid argument (run with NCCL_DEBUG=WARN for details)")       \
    R(ncclInvalidUsage, 5, "invalid usage (run with NCCL_DEBUG=WARN for details)")             \
    R(ncclRemoteError, 6, "remote process exited or there was a network error")                \
    R(ncclInProgress, 7, "NCCL operation in progress")

#define NCCL_RESULT_ENUM(name, number, text) name = (number),
typedef enum { NCCL_RESULTS(NCCL_RESULT_ENUM) ncclNumResults } ncclResult_t;

/* The form of 2.18 to 2.24. Later ones are longer, and begin with this. */
typedef struct {
    size_t size;
    unsigned magic;
    unsigned version;
    int blocking;
    int cgaClusterSize;
    int minCTAs;
    int maxCTAs;
    const char *netName;
    int splitShare;
} ncclConfig_t;
enum { NCCL_CONFIG_UNDEF_INT = INT_MIN };
#define NCCL_CONFIG_MAGIC 0xcafebeefU
enum { NCCL_SPLIT_NOCOLOR = -1 };

typedef enum {
    ncclInt8 = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclFloat32 = 7,
    ncclFloat64 = 8,
    ncclBfloat16 = 9,
    ncclFloat8e4m3 = 10, /* these two from 2.24 on */
    ncclFloat8e5m2 = 11,
    ncclNumTypes = 12
} ncclDataType_t;

/* Numbers from ncclNumOps on are those of ncclRedOpCreatePreMulSum. */
typedef enum {
    ncclSum = 0,
    ncclProd = 1,
    ncclMax = 2,
    ncclMin = 3,
    ncclAvg = 4,
    ncclNumOps = 5,
    ncclMaxRedOp = 0x7fffffff
} ncclRedOp_t;

typedef enum { ncclScalarDevice = 0, ncclScalarHostImmediate = 1 } ncclScalarResidence_t;

#endif
