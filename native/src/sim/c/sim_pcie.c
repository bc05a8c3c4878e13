/* The PCIe link. */
#include "sim_call.h"

SIM_GET_U32(nvmlDeviceGetCurrPcieLinkGeneration, 0, gpu->pcie_gen)
SIM_GET_U32(nvmlDeviceGetMaxPcieLinkGeneration, 0, gpu->pcie_gen_max)
SIM_GET_U32(nvmlDeviceGetGpuMaxPcieLinkGeneration, 0, gpu->pcie_gen_gpu_max)
SIM_GET_U32(nvmlDeviceGetCurrPcieLinkWidth, 0, gpu->pcie_width)
SIM_GET_U32(nvmlDeviceGetMaxPcieLinkWidth, 0, gpu->pcie_width_max)
SIM_GET_U32(nvmlDeviceGetPcieReplayCounter, 0, gpu->pcie_replay)

/* Mbps per lane for generation 1 to 6. */
static int64_t speed(int64_t generation)
{
    static const int64_t mbps[] = {2500, 5000, 8000, 16000, 32000, 64000};
    return generation >= 1 && generation <= 6 ? mbps[generation - 1] : SIM_NA;
}

SIM_GET_U32(nvmlDeviceGetPcieSpeed, 0, speed(gpu->pcie_gen))

SIM_DEVICE(nvmlDeviceGetPcieThroughput, 0, (unsigned counter, unsigned *kbps), (counter, kbps))
{
    switch (counter) {
    case NVML_PCIE_UTIL_TX: return sim_put_u32(call, call->gpu->pcie_tx_kbps, kbps);
    case NVML_PCIE_UTIL_RX: return sim_put_u32(call, call->gpu->pcie_rx_kbps, kbps);
    default: return NVML_ERROR_INVALID_ARGUMENT;
    }
}
