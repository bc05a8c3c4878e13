package dev.gpuwarden.testkit.sim;

import java.util.List;

/** Clears the state that ends with a reset of a GPU, or with a restart of the node. Call within {@link SimTable#change}. */
record GpuReset(SimTable table) {

    /** Fields that are 0 afterwards, where the board has them: counters and states that last until the next reset. */
    private static final List<String> CLEARED = List.of(
            "recovery_action",
            "drain_state",
            "remap_pending",
            "remap_corr_inactive",
            "remap_unc_inactive",
            "retired_pending",
            "repair_channel_pending",
            "repair_tpc_pending",
            "pcie_replay",
            "pcie_rollover",
            "pcie_recovery");

    void reset(int gpu) {
        String row = TableWriter.gpu(gpu);
        table.set(row + ".state", table.layout().constant("STATE_OK"));
        CLEARED.forEach(field -> clear(row + "." + field));
        // ecc_total: volatile corrected, aggregate corrected, volatile uncorrected, aggregate uncorrected; locations
        // likewise.
        for (int kind : List.of(0, 2)) {
            clear(row + ".ecc_total[" + kind + "]");
            for (int place = 0; place < 8; place++) {
                clear(row + ".ecc_location[" + (kind * 8 + place) + "]");
            }
        }
        clearAll(row + ".sram_volatile");
        for (int link = 0; link < table.number(row + ".nvlink_count"); link++) {
            String path = row + ".link[" + link + "]";
            if (table.number(path + ".state") == 0) {
                table.set(path + ".state", 1);
            }
            clearAll(path + ".error");
            clearAll(path + ".nvl5_counter");
        }
    }

    /** Clears what a reset clears, and the counters since the driver was loaded. */
    void restart(int gpu, long nowNanos) {
        String row = TableWriter.gpu(gpu);
        reset(gpu);
        clearAll(row + ".violation_ns");
        clearAll(row + ".reason_ns");
        clear(row + ".energy_mj");
        table.set(row + ".energy_epoch_ns", nowNanos);
    }

    private void clearAll(String array) {
        for (int i = 0; i < table.layout().find(array).field().count(); i++) {
            clear(array + "[" + i + "]");
        }
    }

    private void clear(String path) {
        if (table.number(path) != SimLayout.ABSENT) {
            table.set(path, 0);
        }
    }
}
