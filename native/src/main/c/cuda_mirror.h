/*
 * Our mirror of the CUDA driver API's types and numbers, as far as the simulated libcuda serves them. C names, no logic.
 * Written from public facts (the reference of CUDA 12 and 13), not from NVIDIA's text;
 * its numbers are those of cuda.h 12.9.
 */
#ifndef GPUWARDEN_CUDA_MIRROR_H
#define GPUWARDEN_CUDA_MIRROR_H

#include <stddef.h>
#include <stdint.h>

typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct cu_context *CUcontext;
typedef struct cu_stream *CUstream;
typedef struct cu_event *CUevent;
typedef struct cu_module *CUmodule;
typedef struct cu_function *CUfunction;
typedef struct cu_graph *CUgraph;
typedef struct cu_graph *CUgraphExec;

typedef struct {
    char bytes[16];
} CUuuid;

/* R(name, number, description) */
#define CUDA_RESULTS(R)                                                            \
    R(CUDA_SUCCESS, 0, "no error")                                                 \
    R(CUDA_ERROR_INVALID_VALUE, 1, "invalid argument")                             \
    R(CUDA_ERROR_OUT_OF_MEMORY, 2, "out of memory")                                \
    R(CUDA_ERROR_NOT_INITIALIZED, 3, "initialization error")                       \
    R(CUDA_ERROR_DEVICE_UNAVAILABLE, 46, "device is busy or unavailable")          \
    R(CUDA_ERROR_NO_DEVICE, 100, "no CUDA device")                                 \
    R(CUDA_ERROR_INVALID_DEVICE, 101, "invalid device number")                     \
    R(CUDA_ERROR_INVALID_IMAGE, 200, "invalid kernel image")                       \
    R(CUDA_ERROR_INVALID_CONTEXT, 201, "invalid context")                          \
    R(CUDA_ERROR_NO_BINARY_FOR_GPU, 209, "no kernel image for this device")        \
    R(CUDA_ERROR_ECC_UNCORRECTABLE, 214, "uncorrectable ECC error")                \
    R(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217, "no peer access between these devices") \
    R(CUDA_ERROR_INVALID_PTX, 218, "PTX compilation failed")                       \
    R(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220, "uncorrectable NVLink error")          \
    R(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222, "PTX is newer than the driver")     \
    R(CUDA_ERROR_CONTAINED, 226, "error contained in this context")                \
    R(CUDA_ERROR_INVALID_SOURCE, 300, "invalid kernel source")                     \
    R(CUDA_ERROR_INVALID_HANDLE, 400, "invalid handle")                            \
    R(CUDA_ERROR_ILLEGAL_STATE, 401, "resource in a wrong state")                  \
    R(CUDA_ERROR_NOT_FOUND, 500, "name not found")                                 \
    R(CUDA_ERROR_NOT_READY, 600, "not ready")                                      \
    R(CUDA_ERROR_ILLEGAL_ADDRESS, 700, "illegal memory access")                    \
    R(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "too many resources requested for launch") \
    R(CUDA_ERROR_LAUNCH_TIMEOUT, 702, "launch timed out")                          \
    R(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, "peer access is already enabled") \
    R(CUDA_ERROR_ASSERT, 710, "device-side assertion")                             \
    R(CUDA_ERROR_HARDWARE_STACK_ERROR, 714, "hardware stack error")                \
    R(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715, "illegal instruction")                  \
    R(CUDA_ERROR_MISALIGNED_ADDRESS, 716, "misaligned address")                    \
    R(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717, "invalid address space")              \
    R(CUDA_ERROR_INVALID_PC, 718, "invalid program counter")                       \
    R(CUDA_ERROR_LAUNCH_FAILED, 719, "launch failed")                              \
    R(CUDA_ERROR_NOT_SUPPORTED, 801, "operation not supported")                    \
    R(CUDA_ERROR_SYSTEM_NOT_READY, 802, "system not yet initialized")              \
    R(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803, "driver components of different versions") \
    R(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "operation is not permitted during a capture") \
    R(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901, "capture is invalid after an earlier error") \
    R(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905, "dependency on work outside of the capture") \
    R(CUDA_ERROR_CAPTURED_EVENT, 907, "event was recorded in a capture")           \
    R(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, "capture belongs to another thread") \
    R(CUDA_ERROR_EXTERNAL_DEVICE, 911, "error of an external device")              \
    R(CUDA_ERROR_UNKNOWN, 999, "unknown error")

#define CUDA_RESULT_ENUM(name, number, text) name = (number),
typedef enum { CUDA_RESULTS(CUDA_RESULT_ENUM) } CUresult;

typedef enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13, /* kHz */
    CU_DEVICE_ATTRIBUTE_GPU_OVERLAP = 15,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
    CU_DEVICE_ATTRIBUTE_ECC_ENABLED = 32,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36, /* kHz */
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD = 84
} CUdevice_attribute;

enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_EVENT_DISABLE_TIMING = 2 };

typedef enum {
    CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
    CU_STREAM_CAPTURE_MODE_RELAXED = 2
} CUstreamCaptureMode;

/* Handles that name the default stream: of every thread, and of one. Here both are the former. */
#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

typedef enum { CU_GET_PROC_ADDRESS_SUCCESS = 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1 } CUdriverProcAddressQueryResult;

#endif
