package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.MemoryShare;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.command.VramReport.By;
import dev.gpuwarden.daemon.view.OwnerView;
import dev.gpuwarden.daemon.view.Values;
import java.io.PrintWriter;
import java.util.Locale;

/** Holders of memory as a table: a row for each holder, then memory without a known holder, then the driver's total. */
final class VramTable {

    private static final double GIB = 1L << 30;
    private static final double MIB = 1L << 20;

    private VramTable() {}

    static void print(VramReport report, PrintWriter out) {
        if (report.memory().isEmpty()) {
            out.println("no GPU to show; 'gpuwarden scan' shows the cause");
            return;
        }
        Table table = report.by() == By.process
                ? new Table("GPU", "PID", "TYPE", "COMMAND", "OWNER", "MEMORY", "SHARE")
                : new Table("GPU", report.by().name().toUpperCase(Locale.ROOT), "PROCESSES", "MEMORY", "SHARE");
        for (int i = 0; i < report.memory().size(); i++) {
            rows(table, report, report.node().gpus().get(i), report.memory().get(i));
        }
        table.print(out);
    }

    private static void rows(Table table, VramReport report, GpuSnapshot gpu, GpuMemoryUse use) {
        String index = Integer.toString(gpu.identity().index());
        Reading<Long> total = gpu.frame().reading(GpuMetric.MEMORY_TOTAL);
        if (use.uses() instanceof Reading.Absent<?> absent) {
            summary(table, report, index, "holders unknown: " + absent.text(), Reading.absent(absent.cause()), total);
        } else if (report.by() == By.process) {
            for (MemoryUse process : VramReport.processes(use)) {
                table.row(
                        index + instance(process),
                        process.process().pid(),
                        process.process().type().name().toLowerCase(Locale.ROOT),
                        Values.cell(process.command(), name -> name),
                        OwnerView.text(process.owner()),
                        Values.cell(process.usedBytes(), VramTable::size),
                        share(process.usedBytes(), total));
            }
        } else {
            for (MemoryShare share : report.shares(use)) {
                table.row(
                        index,
                        OwnerView.text(share.owner()),
                        share.processes(),
                        Values.cell(share.bytes(), VramTable::size),
                        share(share.bytes(), total));
            }
        }
        if (use.uses() instanceof Reading.Present<?>) {
            summary(table, report, index, "unattributed", use.unattributedBytes(), total);
            if (use.overattributedBytes() instanceof Reading.Present<Long> over && over.value() > 0) {
                summary(table, report, index, "claimed beyond what is used", use.overattributedBytes(), total);
            }
        }
        String of = total instanceof Reading.Present<Long> all ? "used of " + size(all.value()) : "used";
        summary(table, report, index, of, use.usedBytes(), total);
    }

    private static void summary(
            Table table, VramReport report, String index, String what, Reading<Long> bytes, Reading<Long> total) {
        Object label = Table.styled(Style.FAINT, what);
        String size = Values.cell(bytes, VramTable::size);
        if (report.by() == By.process) {
            table.row(index, "", "", "", label, size, share(bytes, total));
        } else {
            table.row(index, label, "", size, share(bytes, total));
        }
    }

    /** Returns the MIG partition with the driver's number. */
    private static String instance(MemoryUse use) {
        return use.process().gpuInstance() instanceof Reading.Present<Integer> gi ? "/gi" + gi.value() : "";
    }

    private static String share(Reading<Long> bytes, Reading<Long> total) {
        return bytes instanceof Reading.Present<Long> part
                        && total instanceof Reading.Present<Long> all
                        && all.value() > 0
                ? String.format(Locale.ROOT, "%.1f %%", 100.0 * part.value() / all.value())
                : "";
    }

    static String size(long bytes) {
        return bytes >= GIB
                ? String.format(Locale.ROOT, "%.1f GiB", bytes / GIB)
                : String.format(Locale.ROOT, "%.0f MiB", bytes / MIB);
    }
}
