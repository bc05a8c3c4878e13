package dev.gpuwarden.daemon.vram;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.VramView.Memory;
import dev.gpuwarden.daemon.vram.VramView.Pressure;
import dev.gpuwarden.daemon.vram.VramView.Row;
import dev.gpuwarden.daemon.vram.WhatIf.Answer;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** One more tenant on a card of 15,000 MiB without a driver's part and with a floor of 1,500 MiB. */
class WhatIfTest {

    private static final long MIB = 1 << 20;
    private static final Reading<Long> NONE = Reading.absent(Absence.NO_DATA, 0, "none is configured");

    private static Row row(String name, long usedMib, Reading<Long> budgetMib) {
        return new Row(name, name, name, Reading.of(usedMib * MIB), budgetMib.map(mib -> mib * MIB), false, "");
    }

    private static VramView card(Row... rows) {
        long used = Stream.of(rows)
                .mapToLong(row -> row.used().asOptional().orElseThrow())
                .sum();
        long promised = Stream.of(rows)
                .mapToLong(row -> Math.max(
                        0,
                        row.budget().asOptional().orElse(0L)
                                - row.used().asOptional().orElse(0L)))
                .sum();
        return view(Reading.of(new Memory(15_000 * MIB, 0, used, 15_000 * MIB - used)), promised, List.of(rows));
    }

    private static VramView view(Reading<Memory> memory, long promised, List<Row> rows) {
        return new VramView(
                0,
                Reading.of("GPU-1"),
                "calm",
                "",
                Instant.EPOCH,
                Optional.empty(),
                memory,
                Optional.of(new Pressure(1500 * MIB, promised, List.of(), List.of())),
                Reading.of(rows),
                0,
                List.of());
    }

    private static WhatIf effect(VramView view, long mib) {
        return WhatIf.of(view, mib * MIB).asOptional().orElseThrow();
    }

    private static List<String> names(List<Row> rows) {
        return rows.stream().map(Row::name).toList();
    }

    @Test
    void itFitsBesideAllBudgets() {
        WhatIf effect = effect(card(row("a", 1000, Reading.of(3000L)), row("free", 2000, NONE)), 8500);
        assertThat(effect.answer()).isEqualTo(Answer.FITS);
        assertThat(effect.nowBytes()).isEqualTo(8500 * MIB);
        assertThat(effect.byBudgetsBytes()).isEqualTo(10_500 * MIB);
        assertThat(effect.givers()).isEmpty();
        assertThat(effect.starved()).isEmpty();
    }

    @Test
    void aTenantOverItsBudgetIsInTheWay() {
        VramView card = card(
                row("hog", 10_000, Reading.of(3000L)),
                row("less", 1200, Reading.of(1000L)),
                row("victim", 0, Reading.of(2000L)));
        WhatIf effect = effect(card, 4000);
        assertThat(effect.answer()).isEqualTo(Answer.LATER);
        assertThat(names(effect.givers())).containsExactly("hog");
        assertThat(names(effect.starved())).containsExactly("victim");
        assertThat(effect.nowBytes()).isEqualTo(300 * MIB);
        // Both have to give memory back: hog 7000 MiB, less 200 MiB.
        assertThat(names(effect(card, 7500).givers())).containsExactly("hog", "less");
    }

    @Test
    void budgetsLeaveTooLittle() {
        WhatIf effect = effect(card(row("a", 0, Reading.of(5000L)), row("b", 0, Reading.of(5000L))), 4000);
        assertThat(effect.answer()).isEqualTo(Answer.NO_ROOM);
        assertThat(effect.byBudgetsBytes()).isEqualTo(3500 * MIB);
        assertThat(names(effect.starved())).isEmpty();
        assertThat(names(effect(card(row("a", 0, Reading.of(13_000L))), 4000).starved()))
                .containsExactly("a");
    }

    @Test
    void memoryWithoutABudgetHasNoGiver() {
        WhatIf effect = effect(card(row("free", 9000, NONE)), 6000);
        assertThat(effect.answer()).isEqualTo(Answer.LATER);
        assertThat(effect.givers()).isEmpty();
    }

    @Test
    void unknownMemoryGivesNoAnswer() {
        Reading<WhatIf> effect = WhatIf.of(view(Reading.absent(Absence.STALE), 0, List.of()), MIB);
        assertThat(effect).isInstanceOf(Reading.Absent.class);
        Reading<Long> unreadable = Reading.absent(Absence.IMPLAUSIBLE, 0, "5k5");
        assertThat(WhatIf.of(card(row("odd", 1, unreadable)), MIB))
                .isEqualTo(Reading.absent(Absence.IMPLAUSIBLE, 0, "the budget of odd cannot be read"));
    }
}
