/* Which number in the table each field id reports. Ids from nvml.h 13.3, NVML_FI_*. Value types
 * are those of the matching getter where one exists; no hardware was there to confirm them. */
#include "sim_fields.h"

#define U32 NVML_VALUE_TYPE_UNSIGNED_INT
#define U64 NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
#define S32 NVML_VALUE_TYPE_SIGNED_INT
#define GPU(first, last, type, member) \
    {first, last, SIM_FIELD_GPU, type, offsetof(sim_gpu_t, member), 0}
#define LINK(first, last, type, member) \
    {first, last, SIM_FIELD_LINK, type, offsetof(sim_link_t, member), 0}
#define SUM(id, type, member) {id, id, SIM_FIELD_SUM, type, offsetof(sim_link_t, member), 0}
/* Six links under one run of ids, the next six under another. */
#define LINKS(first, next, type, member)                                              \
    {first, (first) + 5, SIM_FIELD_NUMBERED, type, offsetof(sim_link_t, member), 0}, \
    {next, (next) + 5, SIM_FIELD_NUMBERED, type, offsetof(sim_link_t, member), 6}
/* ecc_total and ecc_location: [type * 2 + counter], type 0 corrected, counter 0 volatile. */
#define ECC(id, type, counter, location) \
    GPU(id, id, U64, ecc_location[((type) * 2 + (counter)) * 8 + (location)])

static const sim_field_t fields[] = {
    GPU(1, 1, U32, ecc_current),
    GPU(2, 2, U32, ecc_pending),
    GPU(3, 3, U64, ecc_total[0]),
    GPU(4, 4, U64, ecc_total[2]),
    GPU(5, 5, U64, ecc_total[1]),
    GPU(6, 6, U64, ecc_total[3]),
    ECC(7, 0, 0, 0), ECC(8, 1, 0, 0), ECC(9, 0, 0, 1), ECC(10, 1, 0, 1), ECC(11, 0, 0, 2),
    ECC(12, 1, 0, 2), ECC(13, 0, 0, 3), ECC(14, 1, 0, 3), ECC(15, 0, 0, 4), ECC(16, 1, 0, 4),
    ECC(17, 1, 0, 6), ECC(18, 0, 1, 0), ECC(19, 1, 1, 0), ECC(20, 0, 1, 1), ECC(21, 1, 1, 1),
    ECC(22, 0, 1, 2), ECC(23, 1, 1, 2), ECC(24, 0, 1, 3), ECC(25, 1, 1, 3), ECC(26, 0, 1, 4),
    ECC(27, 1, 1, 4), ECC(28, 1, 1, 6),
    GPU(29, 29, U64, retired_sbe),
    GPU(30, 30, U64, retired_dbe),
    GPU(31, 31, U64, retired_pending),
    LINKS(32, 96, U64, error[2]),
    SUM(38, U64, error[2]),
    LINKS(39, 102, U64, error[3]),
    SUM(45, U64, error[3]),
    LINKS(46, 108, U64, error[0]),
    SUM(52, U64, error[0]),
    LINKS(53, 114, U64, error[1]),
    SUM(59, U64, error[1]),
    GPU(74, 79, U64, violation_ns[0]),
    GPU(80, 81, U64, violation_ns[10]),
    GPU(82, 82, U32, temp_memory),
    {83, 83, SIM_FIELD_ENERGY, U64, 0, 0},
    LINKS(84, 132, U32, speed_mbps),
    GPU(90, 90, U32, link[0].speed_mbps),
    GPU(91, 91, U32, nvlink_count),
    GPU(92, 92, U64, retired_pending),
    GPU(93, 93, U64, retired_pending),
    GPU(94, 94, U64, pcie_replay),
    GPU(95, 95, U64, pcie_rollover),
    LINK(138, 138, U64, data_tx_kib),
    LINK(139, 139, U64, data_rx_kib),
    LINK(140, 140, U64, raw_tx_kib),
    LINK(141, 141, U64, raw_rx_kib),
    GPU(142, 142, U32, remap_corr),
    GPU(143, 143, U32, remap_unc),
    GPU(144, 144, U32, remap_pending),
    GPU(145, 145, U32, remap_failure),
    LINK(146, 146, U32, remote_link),
    GPU(147, 147, U32, nvswitch_link_count),
    {148, 159, SIM_FIELD_NUMBERED, U64, offsetof(sim_link_t, error[4]), 0},
    SUM(160, U64, error[4]),
    LINK(161, 161, U64, error[0]),
    LINK(162, 162, U64, error[1]),
    LINK(163, 163, U64, error[2]),
    LINK(164, 164, U32, speed_mbps),
    LINK(165, 165, U32, state),
    LINK(166, 166, U32, version),
    LINK(167, 167, U32, power_state),
    GPU(169, 169, U64, pcie_recovery),
    GPU(173, 183, U64, pcie_error[0]),
    GPU(185, 185, U32, power_average),
    GPU(186, 186, U32, power_instant),
    GPU(187, 187, U32, power_min),
    GPU(188, 188, U32, power_max),
    GPU(189, 189, U32, power_default),
    GPU(190, 190, U32, power_enforced),
    {191, 191, SIM_FIELD_ENERGY, U64, 0, 0},
    GPU(192, 192, U32, power_limit),
    GPU(193, 196, S32, temp_tlimit[0]),
    GPU(197, 197, U64, pcie_tx_bytes),
    GPU(198, 198, U64, pcie_rx_bytes),
    LINK(201, 222, U64, nvl5_counter[0]),
    {226, 226, SIM_FIELD_RECOVERY, U32, 0, 1}, /* reset */
    {227, 227, SIM_FIELD_RECOVERY, U32, 0, 4}, /* drain and reset */
    GPU(230, 230, U32, recovery_action),
    LINK(235, 250, U64, nvl5_fec_history[0]),
    GPU(269, 271, U64, reason_ns[0]),
    LINK(289, 293, U64, nvl5_raw[0]),
    LINK(294, 296, U64, nvl5_plr[0]),
    GPU(301, 301, U32, remap_corr_inactive),
    GPU(302, 302, U32, remap_unc_inactive),
};

const sim_field_t *sim_find_field(unsigned id)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (id >= fields[i].first && id <= fields[i].last) {
            return &fields[i];
        }
    }
    return NULL;
}
