package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.VramView;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Tenants with their budgets, and the watchdog's last decision about each GPU.
 *
 * @param now time from which the age of decisions is counted
 */
record BudgetTable(List<VramView> gpus, Instant now) {

    private static final Duration OLD = Duration.ofSeconds(45);

    void print(PrintWriter out) {
        if (gpus.isEmpty()) {
            return;
        }
        Table table = new Table("GPU", "TENANT", "MEMORY", "BUDGET", "OVER", "NOTE");
        gpus.forEach(gpu -> rows(table, gpu));
        out.println();
        table.print(out);
        out.println();
        Table decisions = new Table("GPU", "FREE", "FLOOR", "PROMISED", "DECISION", "AGE", "REASON");
        gpus.forEach(gpu -> decision(decisions, gpu));
        decisions.print(out);
        gpus.forEach(gpu ->
                gpu.notices().forEach(notice -> out.println(Table.escape("GPU " + gpu.index() + ": " + notice))));
    }

    private static void rows(Table table, VramView gpu) {
        if (gpu.tenants() instanceof Reading.Absent<?> absent) {
            table.row(gpu.index(), Table.styled(Style.FAINT, "tenants unknown: " + absent.text()), "", "", "", "");
            return;
        }
        for (VramView.Row row : gpu.tenants().asOptional().orElseThrow()) {
            table.row(
                    gpu.index(),
                    row.name(),
                    Values.cell(row.used(), VramReport::size),
                    row.budget().asOptional().map(VramReport::size).orElse(row.isUnreadable() ? "unreadable" : "none"),
                    row.over()
                            .asOptional()
                            .filter(over -> over > 0)
                            .map(VramReport::size)
                            .orElse(""),
                    note(gpu, row));
        }
        if (gpu.tenantsLeftOut() > 0) {
            table.row(gpu.index(), Table.styled(Style.FAINT, gpu.tenantsLeftOut() + " smaller ones"), "", "", "", "");
        }
    }

    private static String note(VramView gpu, VramView.Row row) {
        if (row.leaving()) {
            return "ending";
        }
        if (gpu.pressure().filter(now -> now.starved().contains(row.workload())).isPresent()) {
            return "cannot allocate";
        }
        if (row.isUnreadable() && row.budget() instanceof Reading.Absent<Long> none) {
            return none.text();
        }
        return row.over().asOptional().filter(over -> over > 0).isPresent() ? row.spared() : "";
    }

    private void decision(Table table, VramView gpu) {
        Duration age = Duration.between(gpu.lastGoodAt().orElse(gpu.decidedAt()), now);
        boolean old = gpu.lastGoodAt().isEmpty() || age.compareTo(OLD) > 0;
        String text = gpu.lastGoodAt().isEmpty() ? "never" : Math.max(0, age.toSeconds()) + " s";
        table.row(
                gpu.index(),
                Values.cell(gpu.memory(), memory -> VramReport.size(memory.free())),
                gpu.pressure().map(now -> VramReport.size(now.floor())).orElse(""),
                gpu.pressure().map(now -> VramReport.size(now.promised())).orElse(""),
                gpu.verdict().replace('_', ' '),
                old ? Table.styled(Style.BAD, text) : text,
                gpu.reason());
    }
}
