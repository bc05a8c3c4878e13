"""Prints what NVIDIA's DCGM asks a driver for at its start: sockets, fabric, MIG instances, bit errors of links, clocks, GPM."""
import sys

import pynvml as n


def read(call):
    try:
        return call()
    except n.NVMLError as error:
        return "!%d" % error.value


def walk(call):
    """From 0 until INVALID_ARGUMENT, as nvml.h says; a walk that does not end prints so."""
    found = []
    for number in range(100):
        value = read(lambda: call(number))
        if value == "!2":
            return number, found
        if not isinstance(value, str):
            found.append(value)
    return "no end", found


def instances(h):
    count, profiles = walk(lambda number: n.nvmlDeviceGetGpuInstanceProfileInfo(h, number))
    print("profiles", count, " ".join("%d=%dx%dMB" % (p.id, p.instanceCount, p.memorySizeMB) for p in profiles))
    for profile in profiles:
        held = (n.c_nvmlGpuInstance_t * 7)()
        size = n.c_uint(0)
        n.nvmlDeviceGetGpuInstances(h, profile.id, held, n.byref(size))
        for instance in held[: size.value]:
            info = n.nvmlGpuInstanceGetInfo(instance)
            kinds, inner = walk(lambda number: n.nvmlGpuInstanceGetComputeInstanceProfileInfo(instance, number, 0))
            print("instance", info.id, "profile", info.profileId, "at", info.placement.start, "+", info.placement.size)
            print("  profiles", kinds, " ".join("%d=%dx%dSM" % (c.id, c.instanceCount, c.multiprocessorCount) for c in inner))
            for c in inner:
                parts = (n.c_nvmlComputeInstance_t * 7)()
                number = n.c_uint(0)
                n.nvmlGpuInstanceGetComputeInstances(instance, c.id, parts, n.byref(number))
                for part in parts[: number.value]:
                    leaf = n.nvmlComputeInstanceGetInfo_v2(part)
                    assert leaf.gpuInstance
                    print("  compute instance", leaf.id, "profile", leaf.profileId, "slices", leaf.placement.size)


def fabric(h):
    info = n.c_nvmlGpuFabricInfoV_t()
    info.version = n.nvmlGpuFabricInfo_v2
    n.nvmlDeviceGetGpuFabricInfoV(h, n.byref(info))
    return info.state


def gpm(h):
    get = n.c_nvmlGpmMetricsGet_t()
    get.version, get.numMetrics = n.NVML_GPM_METRICS_GET_VERSION, 1
    get.metrics[0].metricId = n.NVML_GPM_METRIC_SM_UTIL
    get.sample1 = get.sample2 = n.nvmlGpmSampleAlloc()
    n.nvmlGpmSampleGet(h, get.sample1)
    return n.nvmlGpmMetricsGet(get).metrics[0].value


def field(h, number):
    value = n.nvmlDeviceGetFieldValues(h, [(number, 0)])[0]
    return "!%d" % value.nvmlReturn if value.nvmlReturn else hex(value.value.ullVal)


n.nvmlInit()
handles = [n.nvmlDeviceGetHandleByIndex(i) for i in range(n.nvmlDeviceGetCount())]
first, last = handles[0], handles[-1]
print("excluded", read(n.nvmlGetExcludedDeviceCount))
print("confidential", read(lambda: n.nvmlSystemGetConfComputeState().ccFeature))
print("from first to last", n.nvmlDeviceGetTopologyCommonAncestor(first, last))
print("memory of the last", list(n.nvmlDeviceGetMemoryAffinity(last, 1, 0)))
print("fabric", read(lambda: fabric(first)))
print("bit errors", field(first, 220))
print("memory clocks", read(lambda: list(n.nvmlDeviceGetSupportedMemoryClocks(first))))
print("SM clock", " ".join(str(n.nvmlDeviceGetClockInfo(h, 1)) for h in handles))
print("SM busy", " ".join("%s" % read(lambda: gpm(h)) for h in handles))
if "instances" in sys.argv:
    instances(first)
