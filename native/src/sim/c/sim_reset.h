/*
 * The values that a reset of a GPU ends: counters and states that last until then. Each element becomes `value` where the board has it.
 *   R(field, first, count, value)   elements of the GPU's row
 *   L(field, first, count, value)   of the row of each of its links
 * sim-layout prints them as `reset` rows for writers in other languages.
 */
#ifndef GPUWARDEN_SIM_RESET_H
#define GPUWARDEN_SIM_RESET_H

/* ecc_total: volatile corrected, aggregate corrected, volatile uncorrected, aggregate uncorrected; ecc_location likewise. */
/* clang-format off */
#define SIM_RESET(R, L)                  \
    R(state, 0, 1, SIM_STATE_OK)         \
    R(recovery_action, 0, 1, 0)          \
    R(drain_state, 0, 1, 0)              \
    R(remap_pending, 0, 1, 0)            \
    R(remap_corr_inactive, 0, 1, 0)      \
    R(remap_unc_inactive, 0, 1, 0)       \
    R(retired_pending, 0, 1, 0)          \
    R(repair_channel_pending, 0, 1, 0)   \
    R(repair_tpc_pending, 0, 1, 0)       \
    R(pcie_replay, 0, 1, 0)              \
    R(pcie_rollover, 0, 1, 0)            \
    R(pcie_recovery, 0, 1, 0)            \
    R(ecc_total, 0, 1, 0)                \
    R(ecc_total, 2, 1, 0)                \
    R(ecc_location, 0, 8, 0)             \
    R(ecc_location, 16, 8, 0)            \
    R(sram_volatile, 0, 3, 0)            \
    L(state, 0, 1, 1)                    \
    L(error, 0, 5, 0)                    \
    L(nvl5_counter, 0, 22, 0)
/* clang-format on */

#endif
