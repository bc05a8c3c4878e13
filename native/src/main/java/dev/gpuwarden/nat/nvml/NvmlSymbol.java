package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.nat.lib.BoundLibrary;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The functions of libnvidia-ml.so.1 that are called, with their purposes. Each is looked up separately, so that a
 * missing function costs one feature. A newer function names the older one that replaces it where it is missing.
 */
public enum NvmlSymbol implements BoundLibrary.Symbol {
    INIT_V2("nvmlInit_v2", "starting the library"),
    INIT_WITH_FLAGS("nvmlInitWithFlags", "starting the library on a node that has lost all GPUs", INIT_V2),
    SHUTDOWN("nvmlShutdown", "seeing GPUs that come back or go away"),
    ERROR_STRING("nvmlErrorString", "return codes in words"),
    DRIVER_VERSION("nvmlSystemGetDriverVersion", "driver version"),
    NVML_VERSION("nvmlSystemGetNVMLVersion", "library version"),
    CUDA_VERSION("nvmlSystemGetCudaDriverVersion_v2", "CUDA version"),

    COUNT("nvmlDeviceGetCount_v2", "finding the GPUs"),
    HANDLE_BY_INDEX("nvmlDeviceGetHandleByIndex_v2", "finding the GPUs"),
    HANDLE_BY_PCI("nvmlDeviceGetHandleByPciBusId_v2", "letting go of one GPU while others are read"),
    HANDLE_BY_UUID("nvmlDeviceGetHandleByUUID", "following a GPU whose index changes"),
    UUID("nvmlDeviceGetUUID", "GPU UUID"),
    NAME("nvmlDeviceGetName", "product name"),
    SERIAL("nvmlDeviceGetSerial", "serial number"),
    VBIOS("nvmlDeviceGetVbiosVersion", "video BIOS version"),
    BOARD_PART("nvmlDeviceGetBoardPartNumber", "board part number"),
    MINOR("nvmlDeviceGetMinorNumber", "device node number"),
    PCI_INFO("nvmlDeviceGetPciInfo_v3", "PCI address"),
    COMPUTE_CAPABILITY("nvmlDeviceGetCudaComputeCapability", "compute capability"),
    NUMA_NODE("nvmlDeviceGetNumaNodeId", "NUMA node that the driver reports"),

    MIG_MODE("nvmlDeviceGetMigMode", "MIG mode"),
    MIG_MAX_COUNT("nvmlDeviceGetMaxMigDeviceCount", "MIG partitions"),
    MIG_HANDLE("nvmlDeviceGetMigDeviceHandleByIndex", "MIG partitions"),
    GPU_INSTANCE_ID("nvmlDeviceGetGpuInstanceId", "MIG GPU instance numbers"),
    COMPUTE_INSTANCE_ID("nvmlDeviceGetComputeInstanceId", "MIG compute instance numbers"),
    ATTRIBUTES("nvmlDeviceGetAttributes_v2", "MIG profiles"),

    COMPUTE_PROCESSES_V1("nvmlDeviceGetComputeRunningProcesses", "compute processes"),
    COMPUTE_PROCESSES_V2("nvmlDeviceGetComputeRunningProcesses_v2", "compute processes", COMPUTE_PROCESSES_V1),
    COMPUTE_PROCESSES_V3("nvmlDeviceGetComputeRunningProcesses_v3", "compute processes", COMPUTE_PROCESSES_V2),
    GRAPHICS_PROCESSES_V1("nvmlDeviceGetGraphicsRunningProcesses", "graphics processes"),
    GRAPHICS_PROCESSES_V2("nvmlDeviceGetGraphicsRunningProcesses_v2", "graphics processes", GRAPHICS_PROCESSES_V1),
    GRAPHICS_PROCESSES_V3("nvmlDeviceGetGraphicsRunningProcesses_v3", "graphics processes", GRAPHICS_PROCESSES_V2),
    MPS_PROCESSES_V1("nvmlDeviceGetMPSComputeRunningProcesses", "MPS clients"),
    MPS_PROCESSES_V2("nvmlDeviceGetMPSComputeRunningProcesses_v2", "MPS clients", MPS_PROCESSES_V1),
    MPS_PROCESSES_V3("nvmlDeviceGetMPSComputeRunningProcesses_v3", "MPS clients", MPS_PROCESSES_V2),

    EVENT_SET_CREATE("nvmlEventSetCreate", "XIDs as events"),
    EVENT_SET_FREE("nvmlEventSetFree", "XIDs as events"),
    EVENT_SET_WAIT_V1("nvmlEventSetWait", "XIDs as events"),
    EVENT_SET_WAIT("nvmlEventSetWait_v2", "XIDs as events, with the MIG instance", EVENT_SET_WAIT_V1),
    SUPPORTED_EVENTS("nvmlDeviceGetSupportedEventTypes", "XIDs as events"),
    REGISTER_EVENTS("nvmlDeviceRegisterEvents", "XIDs as events"),

    MEMORY_INFO("nvmlDeviceGetMemoryInfo", "GPU memory"),
    MEMORY_INFO_V2("nvmlDeviceGetMemoryInfo_v2", "GPU memory, with the driver's own share separate", MEMORY_INFO),
    GET_MEMORY_LIMITS("nvmlDeviceGetMemoryLimits_v1", "GPU memory limits of control groups"),
    SET_MEMORY_LIMITS("nvmlDeviceSetMemoryLimits_v1", "setting GPU memory limits of control groups"),
    BAR1_MEMORY("nvmlDeviceGetBAR1MemoryInfo", "BAR1 aperture"),
    UTILIZATION("nvmlDeviceGetUtilizationRates", "utilisation"),
    ENCODER("nvmlDeviceGetEncoderUtilization", "video encoder load"),
    DECODER("nvmlDeviceGetDecoderUtilization", "video decoder load"),
    TEMPERATURE("nvmlDeviceGetTemperature", "GPU temperature"),
    TEMPERATURE_V("nvmlDeviceGetTemperatureV", "GPU temperature, below zero too", TEMPERATURE),
    TEMPERATURE_MARGIN("nvmlDeviceGetMarginTemperature", "degrees left to slowdown"),
    TEMPERATURE_THRESHOLD("nvmlDeviceGetTemperatureThreshold", "temperature limits"),
    FAN_SPEED("nvmlDeviceGetFanSpeed", "fan speed"),
    POWER_USAGE("nvmlDeviceGetPowerUsage", "power draw"),
    POWER_ENFORCED_LIMIT("nvmlDeviceGetEnforcedPowerLimit", "power limit in force"),
    POWER_DEFAULT_LIMIT("nvmlDeviceGetPowerManagementDefaultLimit", "power limit as shipped"),
    ENERGY("nvmlDeviceGetTotalEnergyConsumption", "energy used"),
    THROTTLE_REASONS("nvmlDeviceGetCurrentClocksThrottleReasons", "why clocks are held down"),
    CLOCK_EVENT_REASONS("nvmlDeviceGetCurrentClocksEventReasons", "why clocks are held down", THROTTLE_REASONS),
    PERFORMANCE_STATE("nvmlDeviceGetPerformanceState", "performance state"),
    CLOCK_INFO("nvmlDeviceGetClockInfo", "clocks"),
    CLOCK_MAX("nvmlDeviceGetMaxClockInfo", "highest clocks"),
    VIOLATION("nvmlDeviceGetViolationStatus", "time held down by each limit"),
    ECC_MODE("nvmlDeviceGetEccMode", "ECC mode"),
    ECC_TOTAL("nvmlDeviceGetTotalEccErrors", "ECC error totals"),
    ECC_COUNTER("nvmlDeviceGetMemoryErrorCounter", "SRAM error counts"),
    ECC_SRAM("nvmlDeviceGetSramEccErrorStatus", "SRAM errors by kind, and their threshold", ECC_COUNTER),
    RETIRED_PAGES("nvmlDeviceGetRetiredPages", "retired pages"),
    RETIRED_PENDING("nvmlDeviceGetRetiredPagesPendingStatus", "pages waiting to be retired"),
    REMAPPED_ROWS("nvmlDeviceGetRemappedRows", "remapped rows"),
    REMAPPED_ROWS_V2("nvmlDeviceGetRemappedRows_v2", "remapped rows, active and inactive", REMAPPED_ROWS),
    REMAP_HISTOGRAM("nvmlDeviceGetRowRemapperHistogram", "spare rows left"),
    PCIE_GENERATION("nvmlDeviceGetCurrPcieLinkGeneration", "PCIe generation"),
    PCIE_GENERATION_MAX("nvmlDeviceGetMaxPcieLinkGeneration", "highest PCIe generation"),
    PCIE_WIDTH("nvmlDeviceGetCurrPcieLinkWidth", "PCIe width"),
    PCIE_WIDTH_MAX("nvmlDeviceGetMaxPcieLinkWidth", "highest PCIe width"),
    PCIE_REPLAYS("nvmlDeviceGetPcieReplayCounter", "PCIe replays"),
    NVLINK_STATE("nvmlDeviceGetNvLinkState", "NVLink state"),
    NVLINK_VERSION("nvmlDeviceGetNvLinkVersion", "NVLink version"),
    NVLINK_REMOTE_TYPE("nvmlDeviceGetNvLinkRemoteDeviceType", "GPUs that can only be reset together"),
    NVLINK_REMOTE_PCI("nvmlDeviceGetNvLinkRemotePciInfo_v2", "GPUs that can only be reset together"),
    NVLINK_ERRORS("nvmlDeviceGetNvLinkErrorCounter", "NVLink errors by link"),
    FIELD_VALUES("nvmlDeviceGetFieldValues", "field values: power, PCIe, NVLink and recovery action among them"),
    FABRIC_INFO("nvmlDeviceGetGpuFabricInfo", "NVLink fabric"),
    FABRIC_INFO_V("nvmlDeviceGetGpuFabricInfoV", "NVLink fabric, with its health", FABRIC_INFO),
    GPM_SAMPLE_ALLOC("nvmlGpmSampleAlloc", "how busy the parts of a GPU are"),
    GPM_SAMPLE_FREE("nvmlGpmSampleFree", "how busy the parts of a GPU are"),
    GPM_SAMPLE("nvmlGpmSampleGet", "how busy the parts of a GPU are"),
    GPM_MIG_SAMPLE("nvmlGpmMigSampleGet", "how busy MIG partitions are"),
    GPM_METRICS("nvmlGpmMetricsGet", "how busy the parts of a GPU are"),
    PERSISTENCE_MODE("nvmlDeviceGetPersistenceMode", "persistence mode"),
    COMPUTE_MODE("nvmlDeviceGetComputeMode", "compute mode"),
    VIRTUALIZATION_MODE("nvmlDeviceGetVirtualizationMode", "licences of virtual GPUs"),
    VGPU_LICENSES("nvmlDeviceGetGridLicensableFeatures_v4", "licences of virtual GPUs");

    private final String symbol;
    private final String feature;
    private final @Nullable NvmlSymbol fallback;

    NvmlSymbol(String symbol, String feature) {
        this(symbol, feature, null);
    }

    NvmlSymbol(String symbol, String feature, @Nullable NvmlSymbol fallback) {
        this.symbol = symbol;
        this.feature = feature;
        this.fallback = fallback;
    }

    @Override
    public String symbol() {
        return symbol;
    }

    @Override
    public boolean isRequired() {
        return false;
    }

    /** Returns the purpose in the user's words. */
    public String feature() {
        return feature;
    }

    /** Returns the older function that replaces this one. */
    public Optional<NvmlSymbol> fallback() {
        return Optional.ofNullable(fallback);
    }
}
