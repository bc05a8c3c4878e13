package dev.gpuwarden.daemon.vram;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.VramView.Memory;
import dev.gpuwarden.daemon.vram.VramView.Pressure;
import dev.gpuwarden.daemon.vram.VramView.Row;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The effect of one more tenant on a GPU, by the watchdog's last decision. Pure.
 *
 * @param nowBytes free memory without the floor and without what budgets promise beyond present use
 * @param byBudgetsBytes memory that no budget promises to a present tenant
 * @param givers tenants over their budgets that would have to return to them first, the furthest over first; empty where it
 *     fits now, and where that does not help
 * @param starved tenants that could no longer get their budgets if it started now
 */
public record WhatIf(Answer answer, long nowBytes, long byBudgetsBytes, List<Row> givers, List<Row> starved) {

    /** The answers, from the best to the worst. */
    public enum Answer {
        /** It fits beside all budgets, and the memory is free. */
        FITS,
        /** It fits beside all budgets, and tenants over theirs hold the memory. */
        LATER,
        /** Present budgets leave too little. */
        NO_ROOM
    }

    /** Returns the effect; absent with the cause where memory, tenants or a budget are unknown. */
    public static Reading<WhatIf> of(VramView gpu, long bytes) {
        if (gpu.memory() instanceof Reading.Absent<Memory> none) {
            return Reading.absent(none.cause(), none.code(), none.detail());
        }
        if (gpu.tenants() instanceof Reading.Absent<List<Row>> none) {
            return Reading.absent(none.cause(), none.code(), none.detail());
        }
        if (gpu.pressure().isEmpty() || gpu.tenantsLeftOut() > 0) {
            return Reading.absent(
                    Absence.NO_DATA,
                    0,
                    gpu.pressure().isEmpty() ? "the last decision had no basis" : "it has too many tenants");
        }
        List<Row> rows = gpu.tenants().asOptional().orElseThrow();
        return rows.stream()
                .filter(Row::isUnreadable)
                .findFirst()
                .map(row -> Reading.<WhatIf>absent(
                        Absence.IMPLAUSIBLE, 0, "the budget of " + row.name() + " cannot be read"))
                .orElseGet(() -> Reading.of(of(
                        gpu.memory().asOptional().orElseThrow(), gpu.pressure().orElseThrow(), rows, bytes)));
    }

    private static WhatIf of(Memory memory, Pressure pressure, List<Row> rows, long bytes) {
        long now = memory.free() - pressure.floor() - pressure.promised();
        long budgets = rows.stream()
                .filter(row -> !row.leaving())
                .mapToLong(row -> row.budget().asOptional().orElse(0L))
                .sum();
        long byBudgets = memory.total() - memory.reserved() - pressure.floor() - budgets;
        List<Row> givers = now >= bytes ? List.of() : givers(rows, bytes - now);
        Answer answer = bytes > byBudgets ? Answer.NO_ROOM : now >= bytes ? Answer.FITS : Answer.LATER;
        long left = memory.free() - bytes - pressure.floor();
        return new WhatIf(
                answer,
                Math.max(0, now),
                Math.max(0, byBudgets),
                answer == Answer.LATER ? givers : List.of(),
                rows.stream().filter(row -> unmet(row) > Math.max(0, left)).toList());
    }

    /** Returns the tenants whose memory beyond their budgets is this much together; all of them where it is not. */
    private static List<Row> givers(List<Row> rows, long missing) {
        List<Row> givers = new ArrayList<>();
        long found = 0;
        List<Row> over = rows.stream()
                .filter(row -> over(row) > 0)
                .sorted(Comparator.comparingLong(WhatIf::over).reversed().thenComparing(Row::id))
                .toList();
        for (Row row : over) {
            if (found < missing) {
                givers.add(row);
                found += over(row);
            }
        }
        return givers;
    }

    /** Returns the bytes beyond its budget; a tenant without one has none. */
    private static long over(Row row) {
        return row.over().asOptional().orElse(0L);
    }

    private static long unmet(Row row) {
        return row.leaving()
                ? 0
                : Math.max(
                        0,
                        row.budget().asOptional().orElse(0L)
                                - row.used().asOptional().orElse(0L));
    }
}
