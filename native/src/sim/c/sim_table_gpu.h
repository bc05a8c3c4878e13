/* The per-GPU lists of the simulator's table. See sim_table.h for what I, A, S and T mean. */
#ifndef GPUWARDEN_SIM_TABLE_GPU_H
#define GPUWARDEN_SIM_TABLE_GPU_H

/* One NVLink. Names beginning with nvl5_ are field values 201 and up, per link. */
#define SIM_LINK(I, A, S, T)                                                                     \
    I(state, SIM_NA) /* 0 down, 1 up; NA: the link does not exist */                             \
    I(version, SIM_NA)                                                                           \
    I(speed_mbps, SIM_NA) /* MB/s, as field 164 reports it */                                    \
    I(power_state, SIM_NA)                                                                       \
    I(capabilities, SIM_NA) /* bit n = nvmlNvLinkCapability_t n */                               \
    I(remote_type, SIM_NA)  /* 0 GPU, 1 IBM NPU, 2 switch, 255 unknown */                        \
    I(remote_domain, SIM_NA)                                                                     \
    I(remote_bus, 0)                                                                             \
    I(remote_device, 0)                                                                          \
    I(remote_device_id, 0)                                                                       \
    A(error, 5, SIM_NA) /* by nvmlNvLinkErrorCounter_t: replay, recovery, CRC flit, data, ECC */ \
    I(data_tx_kib, SIM_NA)                                                                       \
    I(data_rx_kib, SIM_NA)                                                                       \
    I(raw_tx_kib, SIM_NA)                                                                        \
    I(raw_rx_kib, SIM_NA)                                                                        \
    I(remote_link, SIM_NA)                                                                       \
    A(nvl5_counter, 22, SIM_NA) /* fields 201 to 222, in order */                                \
    A(nvl5_fec_history, 16, SIM_NA)                                                              \
    A(nvl5_raw, 5, SIM_NA) /* fields 289 to 293 */                                               \
    A(nvl5_plr, 3, SIM_NA) /* fields 294 to 296 */

/* Another GPU, by its slot, as the target of this GPU's copies. */
#define SIM_PEER(I, A, S, T) I(copy_mbps, SIM_NA)

/* A profile of GPU instances; its place in the list is its NVML_GPU_INSTANCE_PROFILE number. */
#define SIM_MIG_PROFILE(I, A, S, T)                                                              \
    I(id, SIM_NA) /* NA: this part has no such profile */                                        \
    I(slices, 0)                                                                                 \
    I(instances, 0) /* as many fit in an empty GPU */                                            \
    I(multiprocessors, 0)                                                                        \
    I(copy_engines, 0)                                                                           \
    I(decoders, 0)                                                                               \
    I(encoders, 0)                                                                               \
    I(jpegs, 0)                                                                                  \
    I(ofas, 0)                                                                                   \
    I(mem_mb, 0)                                                                                 \
    S(name, 32) /* "3g.40gb" */

/* One MIG device. A slot with present 0 is a hole: MigDeviceHandleByIndex answers NOT_FOUND. */
#define SIM_MIG(I, A, S, T)                                                                      \
    I(present, 0)                                                                                \
    I(gi, 0)                                                                                     \
    I(ci, 0)                                                                                     \
    I(profile, SIM_NA)                                                                           \
    I(ci_profile, 0)                                                                             \
    I(placement_start, 0)                                                                        \
    I(placement_size, 1)                                                                         \
    I(mem_total, SIM_NA)                                                                         \
    I(mem_reserved, 0)                                                                           \
    I(mem_used, 0)                                                                               \
    I(bar1_total, SIM_NA)                                                                        \
    I(bar1_used, 0)                                                                              \
    I(multiprocessors, SIM_NA)                                                                   \
    I(copy_engines, 0)                                                                           \
    I(decoders, 0)                                                                               \
    I(encoders, 0)                                                                               \
    I(jpegs, 0)                                                                                  \
    I(ofas, 0)                                                                                   \
    I(gi_slices, 0)                                                                              \
    I(ci_slices, 0)                                                                              \
    I(attribute_mem_mb, SIM_NA)                                                                  \
    S(uuid, 96) /* "MIG-<uuid>"; before 470 "MIG-GPU-<uuid>/gi/ci" */                            \
    S(name, 96)

#define SIM_GPU_IDENTITY(I, A, S, T)                                                             \
    I(state, SIM_STATE_OK)                                                                       \
    I(minor, SIM_NA)                                                                             \
    I(pci_domain, 0)                                                                             \
    I(pci_bus, 0)                                                                                \
    I(pci_device, 0)                                                                             \
    I(pci_device_id, 0)    /* 0x233010DE: device << 16 | vendor */                               \
    I(pci_subsystem_id, 0) /* likewise */                                                        \
    I(pci_base_class, 3)                                                                         \
    I(pci_sub_class, 2)                                                                          \
    I(brand, SIM_NA)                                                                             \
    I(architecture, SIM_NA) /* nvmlDeviceArchitecture_t: 6 Turing, 7 Ampere, 8 Ada, 9 Hopper */  \
    I(cuda_major, SIM_NA)                                                                        \
    I(cuda_minor, 0)                                                                             \
    I(cores, SIM_NA)                                                                             \
    I(module_id, SIM_NA)                                                                         \
    I(board_id, SIM_NA)                                                                          \
    I(multi_gpu_board, 0)                                                                        \
    I(numa_node, SIM_NA) /* of a GPU that is a node itself, as on Grace; NA on x86 */            \
    I(host_node, SIM_NA) /* NUMA node of the socket that the GPU hangs on */                     \
    I(cpu_first, SIM_NA) /* CPUs near this GPU, for the affinity calls */                        \
    I(cpu_last, SIM_NA)                                                                          \
    I(bus_type, SIM_NA)                                                                          \
    I(bus_width, SIM_NA)                                                                         \
    I(irq, SIM_NA)                                                                               \
    I(gsp_mode, SIM_NA)                                                                          \
    I(gsp_default, 1)                                                                            \
    I(inforom_checksum, SIM_NA)                                                                  \
    I(inforom_valid, SIM_NA) /* 0: validation answers 14, corrupted infoROM */                   \
    I(c2c_enabled, SIM_NA)                                                                       \
    I(platform_slot, SIM_NA)                                                                     \
    I(platform_tray, 0)                                                                          \
    I(platform_host, 0)                                                                          \
    I(platform_peer, 0)                                                                          \
    I(platform_module, 0)                                                                        \
    S(name, 96)                                                                                  \
    S(uuid, 96)                                                                                  \
    S(serial, 32) /* empty: NOT_SUPPORTED, as for every string */                                \
    S(board_part, 80)                                                                            \
    S(gpu_part, 80)                                                                              \
    S(vbios, 32)                                                                                 \
    S(inforom_image, 32)                                                                         \
    S(inforom_oem, 16)                                                                           \
    S(inforom_ecc, 16)                                                                           \
    S(inforom_power, 16)                                                                         \
    S(gsp_version, 80)                                                                           \
    S(platform_ib_guid, 40) /* 32 hex digits */                                                  \
    S(platform_chassis, 20)

#define SIM_GPU_LOAD(I, A, S, T)                                                                 \
    I(mem_total, SIM_NA)                                                                         \
    I(mem_reserved, 0)                                                                           \
    I(mem_used, 0)      /* without reserved, as memory v2 has it; v1 answers used + reserved */  \
    I(mem_free, SIM_NA) /* NA: total - reserved - used */                                        \
    I(bar1_total, SIM_NA)                                                                        \
    I(bar1_used, 0)                                                                              \
    I(cc_protected_total, SIM_NA)                                                                \
    I(cc_protected_used, 0)                                                                      \
    I(util_gpu, SIM_NA)                                                                          \
    I(util_mem, 0)                                                                               \
    I(util_enc, SIM_NA)                                                                          \
    I(util_dec, SIM_NA)                                                                          \
    I(util_jpg, SIM_NA)                                                                          \
    I(util_ofa, SIM_NA)                                                                          \
    I(util_period_us, 167000)                                                                    \
    A(gpm_milli, 128, SIM_NA) /* GPM metric by id, in thousandths */                             \
    I(gpm_supported, SIM_NA)

#define SIM_GPU_POWER(I, A, S, T)                                                                \
    I(temp_gpu, SIM_NA)                                                                          \
    I(temp_memory, SIM_NA)                                                                       \
    A(temp_threshold, 8, SIM_NA)                                                                 \
    I(temp_margin, SIM_NA) /* degrees left to the slowdown limit */                              \
    A(temp_tlimit, 4, SIM_NA) /* fields 193 to 196: shutdown, slowdown, memory, GPU max */       \
    I(fan_count, 0)                                                                              \
    A(fan_speed, SIM_FAN_MAX, SIM_NA)                                                            \
    I(power_usage, SIM_NA) /* mW, as all power values */                                         \
    I(power_average, SIM_NA)                                                                     \
    I(power_instant, SIM_NA)                                                                     \
    I(power_limit, SIM_NA)                                                                       \
    I(power_enforced, SIM_NA)                                                                    \
    I(power_default, SIM_NA)                                                                     \
    I(power_min, SIM_NA)                                                                         \
    I(power_max, SIM_NA)                                                                         \
    I(energy_mj, SIM_NA)   /* at energy_epoch_ns; grows with power_usage from there on */        \
    I(energy_epoch_ns, 0)  /* CLOCK_REALTIME; 0 or frozen time: energy_mj as it stands */        \
    A(clock, 4, SIM_NA)    /* graphics, SM, memory, video; MHz */                                \
    I(clock_min, SIM_NA) /* graphics */                                                          \
    A(clock_max, 4, SIM_NA)                                                                      \
    A(clock_app, 4, SIM_NA)                                                                      \
    A(clock_app_default, 4, SIM_NA)                                                              \
    A(clock_boost, 4, SIM_NA)                                                                    \
    I(pstate, SIM_NA)                                                                            \
    I(clock_reasons, SIM_NA)                                                                     \
    I(clock_reasons_supported, 0x1ff)                                                            \
    A(violation_ns, 12, SIM_NA) /* by nvmlPerfPolicyType_t; also fields 74 to 79 */              \
    A(reason_ns, 3, SIM_NA)     /* fields 269 to 271: SW thermal, HW thermal, HW power brake */  \
    I(persistence, SIM_NA)                                                                       \
    I(display_mode, SIM_NA)                                                                      \
    I(display_active, SIM_NA)                                                                    \
    I(compute_mode, SIM_NA)                                                                      \
    I(accounting, SIM_NA)                                                                        \
    I(virtualization, 0) /* nvmlGpuVirtualizationMode_t */                                       \
    I(vgpu_licensable, 0) /* features of a vGPU guest */                                         \
    I(vgpu_licensed, 0)   /* of these, from the first on */                                      \
    I(accounting_buffer, 4000)

#define SIM_GPU_FAULTS(I, A, S, T)                                                               \
    I(ecc_current, SIM_NA)                                                                       \
    I(ecc_pending, 0)                                                                            \
    I(ecc_default, 1)                                                                            \
    A(ecc_total, 4, SIM_NA)     /* [type * 2 + counter]: corrected 0, volatile 0 */              \
    A(ecc_location, 32, SIM_NA) /* [(type * 2 + counter) * 8 + location] */                      \
    A(sram_aggregate, 3, SIM_NA) /* parity, SEC-DED, corrected */                                \
    A(sram_volatile, 3, 0)                                                                       \
    A(sram_bucket, 5, 0) /* aggregate uncorrected: L2, SM, PCIe, MCU, other */                   \
    I(sram_threshold_exceeded, 0)                                                                \
    I(retired_sbe, SIM_NA)                                                                       \
    I(retired_dbe, SIM_NA)                                                                       \
    I(retired_pending, SIM_NA)                                                                   \
    I(remap_corr, SIM_NA)                                                                        \
    I(remap_unc, 0)                                                                              \
    I(remap_pending, 0)                                                                          \
    I(remap_failure, 0)                                                                          \
    I(remap_corr_inactive, 0)                                                                    \
    I(remap_unc_inactive, 0)                                                                     \
    A(remap_histogram, 5, SIM_NA) /* banks: max, high, partial, low, none */                     \
    I(repair_channel_pending, SIM_NA)                                                            \
    I(repair_tpc_pending, 0)                                                                     \
    I(unrepairable_memory, SIM_NA)                                                               \
    I(recovery_action, SIM_NA) /* field 230 */                                                   \
    I(drain_state, SIM_NA)                                                                       \
    I(events_supported, SIM_NA) /* nvmlEventType mask */

#define SIM_GPU_LINKS(I, A, S, T)                                                                \
    I(pcie_gen, SIM_NA)                                                                          \
    I(pcie_gen_max, SIM_NA)     /* of GPU and slot together */                                   \
    I(pcie_gen_gpu_max, SIM_NA) /* of the GPU alone */                                           \
    I(pcie_gen_host_max, SIM_NA) /* of the slot alone */                                         \
    I(pcie_width, SIM_NA)                                                                        \
    I(pcie_width_max, SIM_NA)                                                                    \
    I(pcie_replay, SIM_NA)                                                                       \
    I(pcie_rollover, SIM_NA)                                                                     \
    I(pcie_tx_kbps, SIM_NA) /* KB/s over the last 20 ms */                                       \
    I(pcie_rx_kbps, SIM_NA)                                                                      \
    I(pcie_tx_bytes, SIM_NA)                                                                     \
    I(pcie_rx_bytes, SIM_NA)                                                                     \
    I(pcie_recovery, SIM_NA)     /* field 169 */                                                 \
    A(pcie_error, 11, SIM_NA)    /* fields 173 to 183 */                                         \
    I(nvlink_count, 0)                                                                           \
    I(nvswitch_link_count, SIM_NA)                                                               \
    T(link, link, SIM_LINK_MAX)                                                                  \
    I(fabric_state, SIM_NA)                                                                      \
    I(fabric_status, 0)                                                                          \
    I(fabric_clique, 0)                                                                          \
    I(fabric_health_mask, 0)                                                                     \
    I(fabric_health_summary, 0)                                                                  \
    S(fabric_cluster_uuid, 40) /* 32 hex digits, dashes allowed */                               \
    I(topology_switch, SIM_NA) /* GPUs of one PCIe switch share a number */                      \
    I(mig_current, SIM_NA)                                                                       \
    I(mig_pending, 0)                                                                            \
    T(mig_profile, mig_profile, SIM_MIG_PROFILE_MAX)                                             \
    T(mig, mig, SIM_MIG_MAX)

/*
 * The GPU in libcuda. Rates in MB/s; NA: as cuda_rate.c derives them. Launches that meet all conditions of wrong_* compute wrong:
 * cuda_wrong.c.
 */
#define SIM_GPU_CUDA(I, A, S, T)                                                                 \
    I(copy_to_device_mbps, SIM_NA)                                                               \
    I(copy_to_host_mbps, SIM_NA)                                                                 \
    I(copy_memory_mbps, SIM_NA)            /* within the GPU: bytes copied, not read + written */ \
    T(peer, peer, SIM_GPU_MAX)                                                                   \
    I(cuda_result, 0)                      /* calls in its contexts return it; 0: no error */   \
    I(cuda_context_bytes, (512 << 20)) /* per context; real boards take 100 to 600 MiB */        \
    I(fp64_gflops, SIM_NA)   /* of kernels in FP64 */                                            \
    I(tensor_gflops, SIM_NA) /* of kernels in tensor cores, FP16 into FP32 */                    \
    I(wrong_pattern, SIM_WRONG_NONE)                                                             \
    I(wrong_each, 1)       /* of so many launches the last one */                                \
    I(wrong_times, SIM_NA) /* so many launches are left; NA: no limit. The library counts down */ \
    I(wrong_above, SIM_NA) /* while temp_gpu is above */                                         \
    I(wrong_sm, SIM_NA)    /* blocks of this SM; NA: of any */                                   \
    I(wrong_launches, 0)   /* written by the library: launches that met the other conditions */ \
    S(wrong_kernel, 32)    /* launches of the kernels, or copies, that match this name (fnmatch, also @(a|b)); empty: of any kernel that writes */

/* The GPU in libnccl, also as a wrong, slow or silent rank of a collective. Rates in MB/s. */
#define SIM_GPU_NCCL(I, A, S, T)                                                                 \
    I(nccl_mbps, SIM_NA)         /* to ranks of its node; NA: as copies to their GPUs */          \
    I(nccl_network_mbps, SIM_NA) /* to ranks of other nodes; NA: nccl_time.c */                  \
    I(nccl_delay_us, 0)          /* it begins each operation so much later */                    \
    I(nccl_dead, 0)              /* 1: it takes part in nothing until this is 0 again */         \
    I(nccl_wrong, 0)             /* so many first elements of its results are wrong */           \
    I(nccl_error, 0)             /* the ncclResult of its communicators; 0: none */

/* The GPU in nvidia-smi: ../smi. */
#define SIM_GPU_SMI(I, A, S, T)                                                                  \
    I(smi_reset, SIM_SMI_OK)                                                                     \
    I(smi_reset_us, 50000)       /* duration of a reset */                                       \
    I(reset_together, 0)         /* 1: only with all GPUs of its NVSwitches */

#define SIM_GPU(I, A, S, T)                                                                      \
    SIM_GPU_IDENTITY(I, A, S, T)                                                                 \
    SIM_GPU_LOAD(I, A, S, T)                                                                     \
    SIM_GPU_POWER(I, A, S, T)                                                                    \
    SIM_GPU_FAULTS(I, A, S, T)                                                                   \
    SIM_GPU_LINKS(I, A, S, T)                                                                    \
    SIM_GPU_CUDA(I, A, S, T)                                                                     \
    SIM_GPU_NCCL(I, A, S, T)                                                                     \
    SIM_GPU_SMI(I, A, S, T)

#endif
