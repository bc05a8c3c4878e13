"""Prints what nvidia-ml-py reads: one line per GPU, key and value, in the words of keys.tsv; "!CODE" for an error."""
import sys

import pynvml as n


def read(call):
    try:
        value = call()
    except n.NVMLError as error:
        return "!%d" % error.value
    return value.decode() if isinstance(value, bytes) else value


def fields(h, *ids):
    for value in n.nvmlDeviceGetFieldValues(h, list(ids)):
        if value.nvmlReturn:
            yield "!%d" % value.nvmlReturn
        else:
            yield {0: value.value.dVal, 1: value.value.uiVal, 2: value.value.ulVal, 3: value.value.ullVal,
                   4: value.value.sllVal, 5: getattr(value.value, "siVal", None)}[value.valueType]


def gpu(h):
    memory = read(lambda: n.nvmlDeviceGetMemoryInfo(h, version=n.nvmlMemory_v2))
    if isinstance(memory, str):
        memory = read(lambda: n.nvmlDeviceGetMemoryInfo(h))
        yield "v1.memory.used", memory.used
    else:
        yield "memory.reserved", memory.reserved
        yield "memory.used", memory.used
    yield "memory.total", memory.total
    pci = n.nvmlDeviceGetPciInfo(h)
    yield "pci.address", (pci.busId.decode() if isinstance(pci.busId, bytes) else pci.busId)[4:].lower()
    yield "pci.device-id", pci.pciDeviceId
    yield "pci.subsystem-id", pci.pciSubSystemId
    for key, call in {
        "name": lambda: n.nvmlDeviceGetName(h),
        "uuid": lambda: n.nvmlDeviceGetUUID(h),
        "serial": lambda: n.nvmlDeviceGetSerial(h),
        "vbios": lambda: n.nvmlDeviceGetVbiosVersion(h),
        "board-part": lambda: n.nvmlDeviceGetBoardPartNumber(h),
        "minor": lambda: n.nvmlDeviceGetMinorNumber(h),
        "brand": lambda: n.nvmlDeviceGetBrand(h),
        "architecture": lambda: n.nvmlDeviceGetArchitecture(h),
        "cores": lambda: n.nvmlDeviceGetNumGpuCores(h),
        "inforom.image": lambda: n.nvmlDeviceGetInforomImageVersion(h),
        "inforom.ecc": lambda: n.nvmlDeviceGetInforomVersion(h, n.NVML_INFOROM_ECC),
        "bar1.total": lambda: n.nvmlDeviceGetBAR1MemoryInfo(h).bar1Total,
        "bar1.used": lambda: n.nvmlDeviceGetBAR1MemoryInfo(h).bar1Used,
        "temperature": lambda: n.nvmlDeviceGetTemperature(h, 0),
        "temperatures.shutdown": lambda: n.nvmlDeviceGetTemperatureThreshold(h, 0),
        "temperatures.slowdown": lambda: n.nvmlDeviceGetTemperatureThreshold(h, 1),
        "temperatures.memory-max": lambda: n.nvmlDeviceGetTemperatureThreshold(h, 2),
        "temperatures.max-operating": lambda: n.nvmlDeviceGetTemperatureThreshold(h, 3),
        "power.usage": lambda: n.nvmlDeviceGetPowerUsage(h),
        "power.limit": lambda: n.nvmlDeviceGetPowerManagementLimit(h),
        "power.enforced": lambda: n.nvmlDeviceGetEnforcedPowerLimit(h),
        "power.default": lambda: n.nvmlDeviceGetPowerManagementDefaultLimit(h),
        "power.min": lambda: n.nvmlDeviceGetPowerManagementLimitConstraints(h)[0],
        "power.max": lambda: n.nvmlDeviceGetPowerManagementLimitConstraints(h)[1],
        "clock.graphics": lambda: n.nvmlDeviceGetClockInfo(h, 0),
        "clock.sm": lambda: n.nvmlDeviceGetClockInfo(h, 1),
        "clock.memory": lambda: n.nvmlDeviceGetClockInfo(h, 2),
        "clock.video": lambda: n.nvmlDeviceGetClockInfo(h, 3),
        "clock.max.graphics": lambda: n.nvmlDeviceGetMaxClockInfo(h, 0),
        "clock.max.memory": lambda: n.nvmlDeviceGetMaxClockInfo(h, 2),
        "clock.application.graphics": lambda: n.nvmlDeviceGetApplicationsClock(h, 0),
        "clock.reasons": lambda: n.nvmlDeviceGetCurrentClocksThrottleReasons(h),
        "pstate": lambda: n.nvmlDeviceGetPerformanceState(h),
        "persistence": lambda: n.nvmlDeviceGetPersistenceMode(h),
        "compute-mode": lambda: n.nvmlDeviceGetComputeMode(h),
        "utilization.gpu": lambda: n.nvmlDeviceGetUtilizationRates(h).gpu,
        "utilization.memory": lambda: n.nvmlDeviceGetUtilizationRates(h).memory,
        "ecc.mode": lambda: n.nvmlDeviceGetEccMode(h)[0],
        "ecc.volatile.corrected": lambda: n.nvmlDeviceGetTotalEccErrors(h, 0, 0),
        "ecc.volatile.uncorrected": lambda: n.nvmlDeviceGetTotalEccErrors(h, 1, 0),
        "ecc.aggregate.corrected": lambda: n.nvmlDeviceGetTotalEccErrors(h, 0, 1),
        "ecc.aggregate.uncorrected": lambda: n.nvmlDeviceGetTotalEccErrors(h, 1, 1),
        "remapped-rows.correctable": lambda: n.nvmlDeviceGetRemappedRows(h)[0],
        "remapped-rows.uncorrectable": lambda: n.nvmlDeviceGetRemappedRows(h)[1],
        "remapped-rows.pending": lambda: n.nvmlDeviceGetRemappedRows(h)[2],
        "remapped-rows.failure": lambda: n.nvmlDeviceGetRemappedRows(h)[3],
        "remap-banks.max": lambda: n.nvmlDeviceGetRowRemapperHistogram(h).max,
        "pcie.generation": lambda: n.nvmlDeviceGetCurrPcieLinkGeneration(h),
        "pcie.generation-max": lambda: n.nvmlDeviceGetMaxPcieLinkGeneration(h),
        "pcie.width": lambda: n.nvmlDeviceGetCurrPcieLinkWidth(h),
        "pcie.width-max": lambda: n.nvmlDeviceGetMaxPcieLinkWidth(h),
        "pcie.replays": lambda: n.nvmlDeviceGetPcieReplayCounter(h),
        "mig.mode": lambda: n.nvmlDeviceGetMigMode(h)[0],
        "events-supported": lambda: n.nvmlDeviceGetSupportedEventTypes(h),
    }.items():
        yield key, read(call)
    keys = ("memory-temperature", "t-limit.shutdown", "t-limit.slowdown", "t-limit.max-operating", "recovery-action",
            "violation.power", "violation.thermal")
    yield from zip(keys, fields(h, 82, 193, 194, 196, 230, 74, 75))
    if read(lambda: n.nvmlDeviceGetNvLinkState(h, 0)) == 1:
        for link in (0, 11):
            yield "nvlink.%d.version" % link, read(lambda: n.nvmlDeviceGetNvLinkVersion(h, link))
            yield "nvlink.%d.replays" % link, read(lambda: n.nvmlDeviceGetNvLinkErrorCounter(h, link, 0))
        yield "nvlink.count", next(iter(fields(h, 91)))
    for process in n.nvmlDeviceGetComputeRunningProcesses(h):
        yield "process.%d" % process.pid, "!3" if process.usedGpuMemory is None else process.usedGpuMemory


n.nvmlInit()
print("node", "driver-version", read(n.nvmlSystemGetDriverVersion), sep="\t")
print("node", "cuda-version", read(n.nvmlSystemGetCudaDriverVersion), sep="\t")
for i in range(n.nvmlDeviceGetCount()):
    handle = read(lambda: n.nvmlDeviceGetHandleByIndex(i))
    if isinstance(handle, str):
        print(i, "state", handle, sep="\t")
        continue
    for key, value in gpu(handle):
        print(i, key, value, sep="\t")
