"""The place of each reading of `gpuwarden scan -o json` in other clients.

One row per reading: its key, its behaviour, its path in `nvidia-smi -q -x`, its call in nvidia-ml-py. A row without a source has
the cause instead. Values are in the base units of the scan.
"""

import ctypes
from collections import namedtuple

# The behaviour of a reading between two snapshots.
STATIC = "static"  # the same in every snapshot
COUNTER = "counter"  # never falls: between the snapshots before and after
MOVING = "moving"  # may rise and fall: within the snapshots before and after, and the tolerance
STATE = "state"  # jumps: equal to the snapshot before or to the one after

Row = namedtuple("Row", "key kind smi nvml tolerance")
Smi = namedtuple("Smi", "paths parse")  # the first path that is there; parse gives (value, resolution) or None for N/A
Nvml = namedtuple("Nvml", "name call")  # call(pynvml, device) in base units
Without = namedtuple("Without", "cause")

# ---- texts of nvidia-smi ------------------------------------------------------------------------

MIB, KIB = 1 << 20, 1 << 10


def unit(suffix, factor, resolution):
    """`123 MiB` to bytes, for one; resolution is what the printing may have cut off, in base units."""

    def parse(text):
        if not text.endswith(suffix):
            raise ValueError("expected a number and %r, seen %r" % (suffix, text))
        return float(text[: len(text) - len(suffix)]) * factor, resolution

    return parse


def words(numbers):
    """Words that stand for numbers."""

    def parse(text):
        if text not in numbers:
            raise ValueError("expected one of %s, seen %r" % (", ".join(numbers), text))
        return numbers[text], 0

    return parse


COUNT = unit("", 1, 0)
MEBIBYTES = unit(" MiB", MIB, MIB)
CELSIUS = unit(" C", 1, 0)
WATTS = unit(" W", 1, 0.011)
MEGAHERTZ = unit(" MHz", 1e6, 0)
PERCENT = unit(" %", 0.01, 1e-9)
LANES = unit("x", 1, 0)
BANKS = unit(" bank(s)", 1, 0)
YES_NO = words({"Yes": 1, "No": 0})
ON_OFF = words({"Enabled": 1, "Disabled": 0})


def p_state(text):
    return int(text[1:]), 0


# nvml.h 13.3, nvmlClocksEventReason*: the bits that nvidia-smi prints, by the end of their element's name.
EVENT_REASONS = {
    "gpu_idle": 0x1,
    "applications_clocks_setting": 0x2,
    "sw_power_cap": 0x4,
    "hw_slowdown": 0x8,
    "sync_boost": 0x10,
    "sw_thermal_slowdown": 0x20,
    "hw_thermal_slowdown": 0x40,
    "hw_power_brake_slowdown": 0x80,
    "display_clocks_setting": 0x100,
}


def event_reasons(element):
    mask = 0
    for child in element:
        name = child.tag.replace("clocks_event_reason_", "").replace("clocks_throttle_reason_", "")
        if name in EVENT_REASONS and child.text == "Active":
            mask |= EVENT_REASONS[name]
    return mask, 0


event_reasons.whole_element = True


def smi(parse, *paths):
    return Smi(paths, parse)


def smi_sum(*paths):
    """Readings that nvidia-smi prints in parts; absent as soon as one of them is."""
    return Smi((paths,), COUNT)


NOT_PRINTED = Without("nvidia-smi -q -x does not print it")

# ---- calls of nvidia-ml-py ----------------------------------------------------------------------


def call(name, *arguments, **options):
    """A function of pynvml with the device first; `get` picks from its result, `factor` makes base units."""
    get = options.get("get", lambda result: result)
    factor = options.get("factor", 1)
    return Nvml(name, lambda nvml, device: get(getattr(nvml, name)(device, *arguments)) * factor)


def licensable(features):
    return features.licensableFeaturesCount


def licensed(features):
    return sum(features.gridLicensableFeatures[i].featureState for i in range(features.licensableFeaturesCount))


class FieldRefused(Exception):
    def __init__(self, code):
        super().__init__("nvmlReturn %d" % code)
        self.value = code


def number(nvml, value):
    """The member of the union that the type names (nvml.h 13.3, nvmlValueType_t)."""
    member = ["dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal"][value.valueType]
    return getattr(value.value, member)


def read_field(nvml, device, field, scope=0):
    value = nvml.nvmlDeviceGetFieldValues(device, [(field, scope)])[0]
    if value.nvmlReturn != 0:
        raise FieldRefused(value.nvmlReturn)
    return number(nvml, value)


def field(number_of_field, factor=1, scope=0):
    name = "nvmlDeviceGetFieldValues %d" % number_of_field
    return Nvml(name, lambda nvml, device: read_field(nvml, device, number_of_field, scope) * factor)


def memory(member):
    def read(nvml, device):
        try:
            return getattr(nvml.nvmlDeviceGetMemoryInfo(device, nvml.nvmlMemory_v2), member)
        except nvml.NVMLError_FunctionNotFound:
            return getattr(nvml.nvmlDeviceGetMemoryInfo(device), member)

    return Nvml("nvmlDeviceGetMemoryInfo_v2, else v1", read)


def sram(member):
    def read(nvml, device):
        status = nvml.c_nvmlEccSramErrorStatus_v1_t()
        status.version = nvml.nvmlEccSramErrorStatus_v1
        nvml.nvmlDeviceGetSramEccErrorStatus(device, ctypes.byref(status))
        return getattr(status, member)

    return Nvml("nvmlDeviceGetSramEccErrorStatus", read)


def fabric(member):
    def read(nvml, device):
        for version in ("v3", "v2"):
            info = getattr(nvml, "c_nvmlGpuFabricInfo_%s_t" % version)()
            info.version = getattr(nvml, "nvmlGpuFabricInfo_%s" % version)
            if not hasattr(info, member):
                continue
            try:
                nvml.nvmlDeviceGetGpuFabricInfoV(device, ctypes.byref(info))
                return getattr(info, member)
            except nvml.NVMLError as error:
                if error.value not in (2, 13, 25):  # an older library refuses the version word
                    raise
        if member not in ("state", "status", "cliqueId"):
            raise FieldRefused(3)
        info = nvml.c_nvmlGpuFabricInfo_t()
        nvml.nvmlDeviceGetGpuFabricInfo(device, ctypes.byref(info))
        return getattr(info, member)

    return Nvml("nvmlDeviceGetGpuFabricInfoV, else nvmlDeviceGetGpuFabricInfo", read)


def ecc(kind, counter):
    return call("nvmlDeviceGetTotalEccErrors", kind, counter)


def nth(index):
    return lambda result: result[index]


def threshold(number_of_threshold):
    return call("nvmlDeviceGetTemperatureThreshold", number_of_threshold)


def violation(policy):
    return call("nvmlDeviceGetViolationStatus", policy, get=lambda v: v.violationTime, factor=1e-9)


def retired(cause):
    return call("nvmlDeviceGetRetiredPages", cause, get=len)


def histogram(member):
    return call("nvmlDeviceGetRowRemapperHistogram", get=lambda h: getattr(h, member))


# ---- the table ----------------------------------------------------------------------------------

FABRIC_STATE = words({"Not Started": 1, "In Progress": 2, "Completed": 3})
FABRIC_STATUS = words({"Success": 0})
COMPUTE_MODE = words({"Default": 0, "Exclusive_Thread": 1, "Prohibited": 2, "Exclusive_Process": 3})
RECOVERY = words({"None": 0, "Reset": 1, "GPU Reset": 1, "Reboot": 2, "Node Reboot": 2, "Drain P2P": 3, "Drain and Reset": 4})
ALL_LINKS = 0xFFFFFFFF
VOLATILE, AGGREGATE = "ecc_errors/volatile/", "ecc_errors/aggregate/"
POWER = ("gpu_power_readings/", "power_readings/")


def power(*names):
    return smi(WATTS, *[place + name for name in names for place in POWER])


def static(key, by_smi, by_nvml):
    return Row(key, STATIC, by_smi, by_nvml, 0)


def counter(key, by_smi, by_nvml):
    return Row(key, COUNTER, by_smi, by_nvml, 0)


def state(key, by_smi, by_nvml):
    return Row(key, STATE, by_smi, by_nvml, 0)


def moving(key, tolerance, by_smi, by_nvml):
    return Row(key, MOVING, by_smi, by_nvml, tolerance)


READINGS = [
    static("memory_total_bytes", smi(MEBIBYTES, "fb_memory_usage/total"), memory("total")),
    moving("memory_reserved_bytes", 32 * MIB, smi(MEBIBYTES, "fb_memory_usage/reserved"), memory("reserved")),
    moving("memory_free_bytes", 64 * MIB, smi(MEBIBYTES, "fb_memory_usage/free"), memory("free")),
    moving("memory_used_bytes", 64 * MIB, smi(MEBIBYTES, "fb_memory_usage/used"), memory("used")),
    moving("temperature_celsius", 3, smi(CELSIUS, "temperature/gpu_temp"), call("nvmlDeviceGetTemperature", 0)),
    moving("power_usage_watts", 15, power("power_draw", "average_power_draw"), call("nvmlDeviceGetPowerUsage", factor=1e-3)),
    moving("utilization_ratio", 0.05, smi(PERCENT, "utilization/gpu_util"), call("nvmlDeviceGetUtilizationRates", get=lambda u: u.gpu, factor=0.01)),
    moving("memory_utilization_ratio", 0.05, smi(PERCENT, "utilization/memory_util"), call("nvmlDeviceGetUtilizationRates", get=lambda u: u.memory, factor=0.01)),
    state("clock_event_reasons", smi(event_reasons, "clocks_event_reasons", "clocks_throttle_reasons"), call("nvmlDeviceGetCurrentClocksEventReasons")),
    state("performance_state", smi(p_state, "performance_state"), call("nvmlDeviceGetPerformanceState")),
    counter("ecc_volatile_corrected", smi_sum(VOLATILE + "sram_correctable", VOLATILE + "dram_correctable"), ecc(0, 0)),
    counter("ecc_volatile_uncorrected", smi_sum(VOLATILE + "sram_uncorrectable_parity", VOLATILE + "sram_uncorrectable_secded", VOLATILE + "dram_uncorrectable"), ecc(1, 0)),
    state("remapped_rows_pending", smi(YES_NO, "remapped_rows/remapped_row_pending"), call("nvmlDeviceGetRemappedRows", get=nth(2))),
    state("remapped_rows_failure", smi(YES_NO, "remapped_rows/remapped_row_failure"), call("nvmlDeviceGetRemappedRows", get=nth(3))),
    state("recovery_action", smi(RECOVERY, "gpu_recovery_action"), field(230)),
    static("ecc_mode", smi(ON_OFF, "ecc_mode/current_ecc"), call("nvmlDeviceGetEccMode", get=nth(0))),
    static("ecc_mode_pending", smi(ON_OFF, "ecc_mode/pending_ecc"), call("nvmlDeviceGetEccMode", get=nth(1))),
    counter("ecc_aggregate_corrected", smi_sum(AGGREGATE + "sram_correctable", AGGREGATE + "dram_correctable"), ecc(0, 1)),
    counter("ecc_aggregate_uncorrected", smi_sum(AGGREGATE + "sram_uncorrectable_parity", AGGREGATE + "sram_uncorrectable_secded", AGGREGATE + "dram_uncorrectable"), ecc(1, 1)),
    counter("ecc_sram_volatile_corrected", smi(COUNT, VOLATILE + "sram_correctable"), sram("volatileCor")),
    counter("ecc_sram_volatile_uncorrected_parity", smi(COUNT, VOLATILE + "sram_uncorrectable_parity"), sram("volatileUncParity")),
    counter("ecc_sram_volatile_uncorrected_secded", smi(COUNT, VOLATILE + "sram_uncorrectable_secded"), sram("volatileUncSecDed")),
    counter("ecc_sram_aggregate_corrected", smi(COUNT, AGGREGATE + "sram_correctable"), sram("aggregateCor")),
    counter("ecc_sram_aggregate_uncorrected_parity", smi(COUNT, AGGREGATE + "sram_uncorrectable_parity"), sram("aggregateUncParity")),
    counter("ecc_sram_aggregate_uncorrected_secded", smi(COUNT, AGGREGATE + "sram_uncorrectable_secded"), sram("aggregateUncSecDed")),
    static("ecc_sram_threshold_exceeded", smi(YES_NO, AGGREGATE + "sram_threshold_exceeded"), sram("bThresholdExceeded")),
    counter("retired_pages_single_bit", smi(COUNT, "retired_pages/multiple_single_bit_retirement/retired_count"), retired(0)),
    counter("retired_pages_double_bit", smi(COUNT, "retired_pages/double_bit_retirement/retired_count"), retired(1)),
    static("retired_pages_pending", smi(YES_NO, "retired_pages/pending_blacklist", "retired_pages/pending_retirement"), call("nvmlDeviceGetRetiredPagesPendingStatus")),
    counter("remapped_rows_correctable", smi(COUNT, "remapped_rows/remapped_row_corr"), call("nvmlDeviceGetRemappedRows", get=nth(0))),
    counter("remapped_rows_uncorrectable", smi(COUNT, "remapped_rows/remapped_row_unc"), call("nvmlDeviceGetRemappedRows", get=nth(1))),
] + [
    static("remap_banks_" + name, smi(BANKS, "remapped_rows/row_remapper_histogram/row_remapper_histogram_" + name), histogram(member))
    for name, member in (("max", "max"), ("high", "high"), ("partial", "partial"), ("low", "low"), ("none", "none"))
] + [
    moving("memory_temperature_celsius", 3, smi(CELSIUS, "temperature/memory_temp"), field(82)),
    moving("temperature_margin_celsius", 3, smi(CELSIUS, "temperature/gpu_temp_tlimit"), call("nvmlDeviceGetMarginTemperature")),
    static("temperature_shutdown_celsius", smi(CELSIUS, "temperature/gpu_temp_max_threshold"), threshold(0)),
    static("temperature_slowdown_celsius", smi(CELSIUS, "temperature/gpu_temp_slow_threshold"), threshold(1)),
    static("temperature_max_operating_celsius", smi(CELSIUS, "temperature/gpu_temp_max_gpu_threshold"), threshold(3)),
    static("temperature_memory_max_celsius", smi(CELSIUS, "temperature/gpu_temp_max_mem_threshold"), threshold(2)),
] + [
    moving("clock_%s_hertz" % name, 15e6, smi(MEGAHERTZ, "clocks/%s_clock" % printed), call("nvmlDeviceGetClockInfo", number, factor=1e6))
    for name, printed, number in (("graphics", "graphics", 0), ("sm", "sm", 1), ("memory", "mem", 2), ("video", "video", 3))
] + [
    static("clock_%s_max_hertz" % name, smi(MEGAHERTZ, "max_clocks/%s_clock" % printed), call("nvmlDeviceGetMaxClockInfo", number, factor=1e6))
    for name, printed, number in (("graphics", "graphics", 0), ("sm", "sm", 1), ("memory", "mem", 2))
] + [
    moving("power_average_watts", 15, power("average_power_draw"), field(185, 1e-3)),
    moving("power_instant_watts", 30, power("instant_power_draw"), field(186, 1e-3)),
    state("power_limit_enforced_watts", power("enforced_power_limit", "current_power_limit"), call("nvmlDeviceGetEnforcedPowerLimit", factor=1e-3)),
    static("power_limit_default_watts", power("default_power_limit"), call("nvmlDeviceGetPowerManagementDefaultLimit", factor=1e-3)),
    counter("energy_joules", NOT_PRINTED, call("nvmlDeviceGetTotalEnergyConsumption", factor=1e-3)),
    static("bar1_total_bytes", smi(MEBIBYTES, "bar1_memory_usage/total"), call("nvmlDeviceGetBAR1MemoryInfo", get=lambda b: b.bar1Total)),
    moving("bar1_used_bytes", 16 * MIB, smi(MEBIBYTES, "bar1_memory_usage/used"), call("nvmlDeviceGetBAR1MemoryInfo", get=lambda b: b.bar1Used)),
    moving("encoder_utilization_ratio", 0.05, smi(PERCENT, "utilization/encoder_util"), call("nvmlDeviceGetEncoderUtilization", get=nth(0), factor=0.01)),
    moving("decoder_utilization_ratio", 0.05, smi(PERCENT, "utilization/decoder_util"), call("nvmlDeviceGetDecoderUtilization", get=nth(0), factor=0.01)),
    moving("fan_speed_ratio", 0.05, smi(PERCENT, "fan_speed"), call("nvmlDeviceGetFanSpeed", factor=0.01)),
    state("pcie_generation", smi(COUNT, "pci/pci_gpu_link_info/pcie_gen/current_link_gen"), call("nvmlDeviceGetCurrPcieLinkGeneration")),
    static("pcie_generation_max", smi(COUNT, "pci/pci_gpu_link_info/pcie_gen/max_link_gen"), call("nvmlDeviceGetMaxPcieLinkGeneration")),
    state("pcie_width", smi(LANES, "pci/pci_gpu_link_info/link_widths/current_link_width"), call("nvmlDeviceGetCurrPcieLinkWidth")),
    static("pcie_width_max", smi(LANES, "pci/pci_gpu_link_info/link_widths/max_link_width"), call("nvmlDeviceGetMaxPcieLinkWidth")),
    counter("pcie_replays", smi(COUNT, "pci/replay_counter"), call("nvmlDeviceGetPcieReplayCounter")),
    counter("pcie_transmitted_bytes", NOT_PRINTED, field(197)),
    counter("pcie_received_bytes", NOT_PRINTED, field(198)),
] + [
    counter("violation_%s_seconds" % name, NOT_PRINTED, violation(policy))
    for policy, name in enumerate(("power", "thermal", "sync_boost", "board_limit", "low_utilization", "reliability"))
] + [
    static("nvlink_links", NOT_PRINTED, field(91)),
    counter("nvlink_crc_flit_errors", NOT_PRINTED, field(38)),
    counter("nvlink_crc_data_errors", NOT_PRINTED, field(45)),
    counter("nvlink_replays", NOT_PRINTED, field(52)),
    counter("nvlink_recoveries", NOT_PRINTED, field(59)),
    counter("nvlink_transmitted_bytes", NOT_PRINTED, field(138, KIB, ALL_LINKS)),
    counter("nvlink_received_bytes", NOT_PRINTED, field(139, KIB, ALL_LINKS)),
    static("fabric_state", smi(FABRIC_STATE, "fabric/state"), fabric("state")),
    static("fabric_status", smi(FABRIC_STATUS, "fabric/status"), fabric("status")),
    static("fabric_clique", smi(COUNT, "fabric/cliqueId"), fabric("cliqueId")),
    static("fabric_health_mask", Without("nvidia-smi -q -x prints parts of the mask, as words"), fabric("healthMask")),
    static("fabric_health", Without("nvidia-smi -q -x prints another summary, as a word"), fabric("healthSummary")),
    static("persistence_mode", smi(ON_OFF, "persistence_mode"), call("nvmlDeviceGetPersistenceMode")),
    static("compute_mode", smi(COMPUTE_MODE, "compute_mode"), call("nvmlDeviceGetComputeMode")),
    static("mig_mode", smi(ON_OFF, "mig_mode/current_mig"), call("nvmlDeviceGetMigMode", get=nth(0))),
    static("mig_mode_pending", smi(ON_OFF, "mig_mode/pending_mig"), call("nvmlDeviceGetMigMode", get=nth(1))),
    static("virtualization_mode", NOT_PRINTED, call("nvmlDeviceGetVirtualizationMode")),
    static("vgpu_licensable_features", NOT_PRINTED, call("nvmlDeviceGetGridLicensableFeatures", get=licensable)),
    static("vgpu_licensed_features", NOT_PRINTED, call("nvmlDeviceGetGridLicensableFeatures", get=licensed)),
] + [
    static(key, NOT_PRINTED, Without("an average between two samples, which a scan does not take"))
    for key in (
        "graphics_engine_active_ratio", "sm_active_ratio", "sm_occupancy_ratio", "tensor_active_ratio",
        "dram_active_ratio", "fp64_active_ratio", "fp32_active_ratio", "fp16_active_ratio",
        "pcie_transmit_rate_bytes_per_second", "pcie_receive_rate_bytes_per_second",
        "nvlink_transmit_rate_bytes_per_second", "nvlink_receive_rate_bytes_per_second",
    )
]


def link_error(kind):
    return lambda nvml, device, link: nvml.nvmlDeviceGetNvLinkErrorCounter(device, link, kind)


IN_LINKS = Without("nvidia-smi -q -x has no single links")

# Readings of one NVLink; the call takes the link too.
LINK_READINGS = [
    static("state", IN_LINKS, Nvml("nvmlDeviceGetNvLinkState", lambda nvml, d, link: nvml.nvmlDeviceGetNvLinkState(d, link))),
    static("version", IN_LINKS, Nvml("nvmlDeviceGetNvLinkVersion", lambda nvml, d, link: nvml.nvmlDeviceGetNvLinkVersion(d, link))),
    static("speed_bytes_per_second", IN_LINKS, Nvml("nvmlDeviceGetFieldValues 164", lambda nvml, d, link: read_field(nvml, d, 164, link) * 1e6)),
    counter("replays", IN_LINKS, Nvml("nvmlDeviceGetNvLinkErrorCounter 0", link_error(0))),
    counter("recoveries", IN_LINKS, Nvml("nvmlDeviceGetNvLinkErrorCounter 1", link_error(1))),
    counter("crc_flit_errors", IN_LINKS, Nvml("nvmlDeviceGetNvLinkErrorCounter 2", link_error(2))),
    counter("crc_data_errors", IN_LINKS, Nvml("nvmlDeviceGetNvLinkErrorCounter 3", link_error(3))),
]


def text(value):
    return value.strip(), None


def bus_id(value):
    """`00000000:1B:00.0` as the scan writes it: four digits of domain unless it needs more, lower case."""
    domain, rest = value.strip().lower().split(":", 1)
    return "%04x:%s" % (int(domain, 16), rest), None


def flag(value):
    return {"Enabled": True, "Disabled": False}[value], None


def as_text(value):
    return value.decode() if isinstance(value, bytes) else value


# The identity of a GPU; compared as text.
IDENTITY = [
    static("uuid", smi(text, "uuid"), Nvml("nvmlDeviceGetUUID", lambda nvml, d: as_text(nvml.nvmlDeviceGetUUID(d)))),
    static("pci", smi(bus_id, "pci/pci_bus_id"), Nvml("nvmlDeviceGetPciInfo", lambda nvml, d: bus_id(as_text(nvml.nvmlDeviceGetPciInfo(d).busId))[0])),
    static("minor", smi(COUNT, "minor_number"), call("nvmlDeviceGetMinorNumber")),
    static("name", smi(text, "product_name"), Nvml("nvmlDeviceGetName", lambda nvml, d: as_text(nvml.nvmlDeviceGetName(d)))),
    static("serial", smi(text, "serial"), Nvml("nvmlDeviceGetSerial", lambda nvml, d: as_text(nvml.nvmlDeviceGetSerial(d)))),
    static("vbios", smi(text, "vbios_version"), Nvml("nvmlDeviceGetVbiosVersion", lambda nvml, d: as_text(nvml.nvmlDeviceGetVbiosVersion(d)))),
    static("boardPart", smi(text, "board_part_number"), Nvml("nvmlDeviceGetBoardPartNumber", lambda nvml, d: as_text(nvml.nvmlDeviceGetBoardPartNumber(d)))),
    static("computeCapability", NOT_PRINTED, Nvml("nvmlDeviceGetCudaComputeCapability", lambda nvml, d: "%d.%d" % tuple(nvml.nvmlDeviceGetCudaComputeCapability(d)))),
    static("numaNode", NOT_PRINTED, call("nvmlDeviceGetNumaNodeId")),
    static("migMode", smi(flag, "mig_mode/current_mig"), Nvml("nvmlDeviceGetMigMode", lambda nvml, d: bool(nvml.nvmlDeviceGetMigMode(d)[0]))),
]

# Readings that a client gets without a public function. gpuwarden lacks them, and that is no failure.
ONLY_ELSEWHERE = {
    ("temperature_margin_celsius", "nvidia-smi"): "nvidia-smi reads it from a private table where the library has no function for it",
}
