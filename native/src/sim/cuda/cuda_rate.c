/* The rates of copies. Those of a scenario come first; the others follow from links and clocks. */
#include "cuda_sim.h"

/* For a part whose table lacks links or clocks: PCIe 3.0 x16, and memory of 100 GB/s. */
enum { LANES_MBPS = 15754, MEMORY_MBPS = 100000 };

/*
 * The share of the line's rate that a copy reaches: between the 78 % in the README of nvbandwidth (12.33 GB/s on PCIe 3.0 x16) and the 88 % that
 * users report of PCIe 5.0. Not measured by this project.
 */
static int64_t practical(int64_t line_mbps)
{
    return line_mbps * 82 / 100;
}

/* MB/s of a lane after its coding: 8b/10b, from generation 3 on 128b/130b, and 242 of 256 bytes of a flit in generation 6. */
static int64_t pcie(const sim_gpu_t *gpu)
{
    static const int64_t lane[] = {250, 500, 985, 1969, 3938, 7563};
    /* In a lower performance state than P0 the link is slow too, and a copy raises both. */
    bool asleep = gpu->pstate > 0 && gpu->pcie_gen_max != SIM_NA;
    int64_t generation = asleep ? gpu->pcie_gen_max : gpu->pcie_gen;
    int64_t width = gpu->pcie_width;
    bool known = generation >= 1 && generation <= 6 && width != SIM_NA;
    return practical(known ? lane[generation - 1] * width : LANES_MBPS);
}

int64_t cu_rate_to_device(const sim_gpu_t *gpu)
{
    return gpu->copy_to_device_mbps != SIM_NA ? gpu->copy_to_device_mbps : pcie(gpu);
}

int64_t cu_rate_to_host(const sim_gpu_t *gpu)
{
    return gpu->copy_to_host_mbps != SIM_NA ? gpu->copy_to_host_mbps : pcie(gpu);
}

/*
 * Two transfers per clock; a copy reads and writes each byte, and reaches 75 % of that: public bandwidthTest outputs have 239.6 of
 * 320 GB/s on a T4 and 1157.5 of 1555 on an A100 of 40 GB (router-gao/cuda-demo).
 */
int64_t cu_rate_memory(const sim_gpu_t *gpu)
{
    bool known = gpu->clock_max[2] != SIM_NA && gpu->bus_width != SIM_NA;
    int64_t both = known ? 2 * gpu->clock_max[2] * gpu->bus_width / 8 : MEMORY_MBPS;
    return gpu->copy_memory_mbps != SIM_NA ? gpu->copy_memory_mbps : both / 2 * 75 / 100;
}

/* nvml.h, nvmlIntNvLinkDeviceType_t: 0 a GPU, 2 a switch, which reaches every GPU that has links to switches. */
static int64_t link_mbps(const sim_gpu_t *gpu, const sim_gpu_t *peer)
{
    int64_t sum = 0;
    for (int i = 0; i < SIM_LINK_MAX && i < gpu->nvlink_count; i++) {
        const sim_link_t *link = &gpu->link[i];
        bool direct = link->remote_type == 0 && link->remote_bus == peer->pci_bus
                      && link->remote_domain == peer->pci_domain
                      && link->remote_device == peer->pci_device;
        if (link->state == 1 && link->speed_mbps != SIM_NA && (link->remote_type == 2 || direct)) {
            sum += link->speed_mbps;
        }
    }
    return sum;
}

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static int64_t nvlink(const sim_table_t *table, int from, int to)
{
    const sim_gpu_t *one = &table->gpu[from], *other = &table->gpu[to];
    return practical(least(link_mbps(one, other), link_mbps(other, one)));
}

bool cu_linked(const sim_table_t *table, int from, int to)
{
    return nvlink(table, from, to) > 0;
}

int64_t cu_rate_peer(const sim_table_t *table, int from, int to)
{
    const sim_gpu_t *one = &table->gpu[from], *other = &table->gpu[to];
    int64_t links = nvlink(table, from, to);
    return one->peer[to].copy_mbps != SIM_NA ? one->peer[to].copy_mbps
           : links > 0                       ? links
                                             : least(cu_rate_to_host(one), cu_rate_to_device(other));
}

/* A rate of 0 would never end: it counts as the lowest. */
int64_t cu_duration_ns(size_t bytes, int64_t mbps)
{
    return (int64_t)((double)bytes * 1000 / (double)(mbps > 0 ? mbps : 1));
}

/* Operations of one SM in a clock, from NVIDIA's peak rates by compute capability: V100, T4, A100, A10, L4, H100, B200. */
static int64_t fp64_per_clock(const sim_gpu_t *gpu)
{
    bool none = gpu->cuda_major == 12 || (gpu->cuda_major <= 8 && gpu->cuda_minor != 0);
    return none ? 4 : gpu->cuda_major >= 9 ? 128 : 64;
}

static int64_t tensor_per_clock(const sim_gpu_t *gpu)
{
    return gpu->cuda_major == 10 ? 8192 : gpu->cuda_major == 9 ? 4096 : gpu->cuda_major == 8 && gpu->cuda_minor == 0 ? 2048 : 1024;
}

static double gflops(int64_t given, int64_t per_clock, const sim_gpu_t *gpu, unsigned multiprocessors)
{
    double megahertz = gpu->clock_max[1] != SIM_NA ? (double)gpu->clock_max[1] : 1000;
    double rate = given != SIM_NA ? (double)given : (double)per_clock * multiprocessors * megahertz / 1000;
    return rate > 0 ? rate : 1;
}

int64_t cu_kernel_ns(const cu_call_t *call, cuda_cost_t cost)
{
    const sim_gpu_t *gpu = cu_gpu(call);
    unsigned multiprocessors = cu_multiprocessors(call);
    int64_t copied = cu_rate_memory(gpu);
    double memory = cost.bytes * 1000 / (2.0 * (double)(copied > 0 ? copied : 1));
    double fp64 = cost.fp64 / gflops(gpu->fp64_gflops, fp64_per_clock(gpu), gpu, multiprocessors);
    double tensor = cost.mixed / gflops(gpu->tensor_gflops, tensor_per_clock(gpu), gpu, multiprocessors);
    double most = memory > fp64 ? memory : fp64;
    return (int64_t)(most > tensor ? most : tensor);
}
