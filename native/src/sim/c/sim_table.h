/*
 * The one table that is the simulated driver's whole state. A Java program writes it, the simulated
 * library reads it. This file and sim_table_gpu.h are the only place where its layout is written:
 * the structs and the TSV that the writer uses (sim-layout) both come from these lists.
 *
 *   I(name, default)            int64
 *   A(name, count, default)     array of int64
 *   S(name, bytes)              NUL-terminated UTF-8
 *   T(name, type, count)        array of another list's struct
 */
#ifndef GPUWARDEN_SIM_TABLE_H
#define GPUWARDEN_SIM_TABLE_H

#include "sim_constants.h"
#include "sim_table_gpu.h"

#define SIM_HEADER(I, A, S, T)                                                                   \
    I(magic, SIM_MAGIC)                                                                          \
    I(layout_version, SIM_LAYOUT_VERSION)                                                        \
    I(sequence, 0)       /* odd while the writer is in the middle of a change */                 \
    I(frozen_time_ns, 0) /* 0: real time; else the time that every stamp shows */                \
    I(init_result, 0)                                                                            \
    I(kernel_driver, 0) /* number of the generation that the node loaded; 0: that of any library */ \
    I(gpu_count, 0)                                                                              \
    I(process_count, 0)                                                                          \
    I(cuda_client_count, 0) /* written by libcuda: rows of cuda_client that were ever in use */  \
    I(event_head, 0)        /* events written so far; event n lies at event[n % EVENT_MAX] */    \
    I(cuda_version, SIM_NA) /* 12040 for 12.4 */                                                 \
    I(nccl_version, SIM_NA) /* 22105 for 2.21.5; NA: that */                                     \
    I(process_stride, 0)    /* bytes per _v3 process entry; 0: as this generation does */        \
    I(cc_environment, SIM_NA)                                                                    \
    I(cc_feature, 0)                                                                             \
    I(cc_dev_tools, 0)                                                                           \
    I(cc_multi_gpu, 0)                                                                           \
    I(cc_ready, SIM_NA)                                                                          \
    I(cc_cpu_caps, SIM_NA)                                                                       \
    I(cc_gpu_caps, 0)                                                                            \
    S(driver_version, 80) /* empty: a default of the library's generation */                     \
    S(nvml_version, 80)                                                                          \
    S(driver_branch, 80)

#define SIM_FAULT(I, A, S, T)                                                                    \
    I(mode, SIM_FAULT_OFF)                                                                       \
    I(function, SIM_ALL) /* id from the `function` rows, or ALL */                               \
    I(gpu, SIM_ALL)      /* slot in the table; a call without a device matches ALL only */       \
    I(code, 0)                                                                                   \
    I(delay_us, 0)                                                                               \
    I(lie, 0)                                                                                    \
    I(hits, 0)    /* written by the library: calls that met this fault */                        \
    I(waiting, 0) /* written by the library: calls that hang in it now */

#define SIM_EVENT(I, A, S, T)                                                                    \
    I(gpu, 0)                                                                                    \
    I(type, 8) /* one nvmlEventType bit; 8 is XID */                                             \
    I(data, 0) /* the XID */                                                                     \
    I(gi, SIM_NA)                                                                                \
    I(ci, SIM_NA)

#define SIM_PROCESS(I, A, S, T)                                                                  \
    I(gpu, 0)                                                                                    \
    I(pid, 0)                                                                                    \
    I(type, SIM_PROCESS_COMPUTE)                                                                 \
    I(bytes, SIM_NA)                                                                             \
    I(cc_bytes, SIM_NA)                                                                          \
    I(gi, SIM_NA)                                                                                \
    I(ci, SIM_NA)                                                                                \
    I(sm_util, SIM_NA) /* NA: no utilisation sample for this process */                          \
    I(mem_util, 0)                                                                               \
    I(enc_util, 0)                                                                               \
    I(dec_util, 0)                                                                               \
    I(sample_time_us, 0) /* 0: now */                                                            \
    S(name, 128)

/* Memory that a process holds through libcuda, which alone writes it. Counts while its lock is held: sim_client.h. */
#define SIM_CUDA_CLIENT(I, A, S, T)                                                              \
    I(gpu, 0)                                                                                    \
    I(mig, SIM_ALL) /* place in the GPU's `mig`; ALL: the whole GPU */                           \
    I(pid, 0)       /* 0: a free row */                                                          \
    I(bytes, 0)                                                                                  \
    A(cgroup, SIM_CGROUP_DEPTH, 0) /* as sim_own_cgroups returns them */                         \
    S(name, 128)

/* Limits of memory for a control group, which NVML alone writes: sim_limit.h. */
#define SIM_MEMORY_LIMIT(I, A, S, T)                                                             \
    I(cgroup, 0) /* inode of its folder; 0: a free row */                                        \
    I(gpu, 0)                                                                                    \
    I(soft, 0)                                                                                   \
    I(hard, SIM_NA) /* NA: none */                                                               \
    S(path, 512)

#define SIM_TABLE(I, A, S, T)                                                                    \
    T(header, header, 1)                                                                         \
    T(fault, fault, SIM_FAULT_MAX)                                                               \
    T(event, event, SIM_EVENT_MAX)                                                               \
    T(gpu, gpu, SIM_GPU_MAX)                                                                     \
    T(process, process, SIM_PROCESS_MAX)                                                         \
    T(cuda_client, cuda_client, SIM_CUDA_CLIENT_MAX)                                             \
    T(memory_limit, memory_limit, SIM_MEMORY_LIMIT_MAX)

/* Order matters: a struct comes after those it holds. */
#define SIM_STRUCTS(X)                                                                           \
    X(header, SIM_HEADER)                                                                        \
    X(fault, SIM_FAULT)                                                                          \
    X(event, SIM_EVENT)                                                                          \
    X(peer, SIM_PEER)                                                                            \
    X(link, SIM_LINK)                                                                            \
    X(mig_profile, SIM_MIG_PROFILE)                                                              \
    X(mig, SIM_MIG)                                                                              \
    X(gpu, SIM_GPU)                                                                              \
    X(cuda_client, SIM_CUDA_CLIENT)                                                              \
    X(memory_limit, SIM_MEMORY_LIMIT)                                                            \
    X(process, SIM_PROCESS)                                                                      \
    X(table, SIM_TABLE)

#define SIM_STRUCT_I(name, standard) int64_t name;
#define SIM_STRUCT_A(name, count, standard) int64_t name[count];
#define SIM_STRUCT_S(name, bytes) char name[bytes];
#define SIM_STRUCT_T(name, type, count) sim_##type##_t name[count];
#define SIM_STRUCT(name, LIST) \
    typedef struct {           \
        _Alignas(8) LIST(SIM_STRUCT_I, SIM_STRUCT_A, SIM_STRUCT_S, SIM_STRUCT_T) \
    } sim_##name##_t;
SIM_STRUCTS(SIM_STRUCT)

#endif
