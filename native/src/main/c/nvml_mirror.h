/*
 * Our mirror of the NVML structures that a health daemon reads. C names, no logic.
 *
 * Written from measured sizes and offsets (public header 13.3.29, x86-64 LP64), not from NVIDIA's
 * text. src/audit/nvml-layout-13.3.tsv holds the same numbers typed a second time, and `make audit`
 * compares the two, so a slip in either is seen at build time. NvidiaHeadersTest compares with NVIDIA's own headers.
 */
#ifndef GPUWARDEN_NVML_MIRROR_H
#define GPUWARDEN_NVML_MIRROR_H

#include <stdint.h>

#include "nvml_mirror_enums.h"

/* Handles are opaque 8-byte pointers. */
typedef struct nvml_device *nvmlDevice_t;
typedef struct nvml_event_set *nvmlEventSet_t;
typedef struct nvml_system_event_set *nvmlSystemEventSet_t;
typedef struct nvml_unit *nvmlUnit_t;
typedef struct nvml_gpu_instance *nvmlGpuInstance_t;
typedef struct nvml_compute_instance *nvmlComputeInstance_t;
typedef struct nvml_gpm_sample *nvmlGpmSample_t;
typedef unsigned nvmlEnableState_t; /* nvml.h 13.3: 0 disabled, 1 enabled */

#include "nvml_mirror_health.h"
#include "nvml_mirror_links.h"
#include "nvml_mirror_load.h"
#include "nvml_mirror_versions.h"

#endif
