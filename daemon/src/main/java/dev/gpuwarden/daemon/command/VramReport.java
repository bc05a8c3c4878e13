package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.MemoryShare;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.view.OwnerView;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * Holders of memory, GPU by GPU, the largest first.
 *
 * @param memory one entry for each GPU of the node, in the same order
 */
record VramReport(By by, NodeSnapshot node, List<GpuMemoryUse> memory) {

    static final String SCHEMA = "gpuwarden.vram-top/v1";

    private static final double GIB = 1L << 30;
    private static final double MIB = 1L << 20;

    /** The kind of holder that a row stands for. */
    enum By {
        process,
        container,
        pod,
        unit
    }

    /** Returns whether the holders of every GPU's memory are known. */
    boolean complete() {
        return node.driver() instanceof NodeSnapshot.DriverState.Running
                && memory.stream().allMatch(gpu -> gpu.uses() instanceof Reading.Present<?>);
    }

    /** Returns the processes of a GPU, the largest first; processes of unknown size come last. */
    static List<MemoryUse> processes(GpuMemoryUse gpu) {
        return sorted(gpu.uses().asOptional().orElse(List.of()), MemoryUse::usedBytes);
    }

    /** Returns the owners of a GPU's memory, the largest first; owners of unknown size come last. */
    List<MemoryShare> shares(GpuMemoryUse gpu) {
        List<MemoryShare> shares = switch (by) {
            case container, process -> MemoryShare.byContainer(gpu);
            case pod -> MemoryShare.byPod(gpu);
            case unit -> MemoryShare.byUnit(gpu);
        };
        return sorted(shares, MemoryShare::bytes);
    }

    private static <T> List<T> sorted(List<T> rows, Function<T, Reading<Long>> bytes) {
        List<T> sorted = new ArrayList<>(rows);
        sorted.sort(
                Comparator.comparingLong(row -> -bytes.apply(row).asOptional().orElse(-1L)));
        return sorted;
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("by", by.name());
        tree.put("complete", complete());
        List<Object> gpus = new ArrayList<>();
        for (int i = 0; i < memory.size(); i++) {
            gpus.add(gpu(node.gpus().get(i), memory.get(i)));
        }
        tree.put("gpus", gpus);
        return tree;
    }

    private Map<String, Object> gpu(GpuSnapshot gpu, GpuMemoryUse use) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("index", gpu.identity().index());
        tree.put("uuid", Values.tree(gpu.identity().uuid()));
        tree.put("name", Values.tree(gpu.identity().name()));
        tree.put("state", gpu.state().label());
        tree.put("totalBytes", Values.tree(gpu.frame().reading(GpuMetric.MEMORY_TOTAL)));
        tree.put("usedBytes", Values.tree(use.usedBytes()));
        tree.put("unattributedBytes", Values.tree(use.unattributedBytes()));
        tree.put("overattributedBytes", Values.tree(use.overattributedBytes()));
        tree.put("holders", use.uses() instanceof Reading.Present<?> ? holders(use) : Values.tree(use.uses()));
        return tree;
    }

    private List<Object> holders(GpuMemoryUse use) {
        List<Object> rows = new ArrayList<>();
        if (by == By.process) {
            processes(use).forEach(process -> rows.add(process(process)));
        } else {
            for (MemoryShare share : shares(use)) {
                Map<String, Object> row = new LinkedHashMap<>();
                row.put("owner", OwnerView.tree(share.owner(), by == By.container));
                row.put("usedBytes", Values.tree(share.bytes()));
                row.put("processes", share.processes());
                rows.add(row);
            }
        }
        return rows;
    }

    private static Map<String, Object> process(MemoryUse use) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("pid", use.process().pid());
        row.put("type", use.process().type().name().toLowerCase(Locale.ROOT));
        row.put("command", Values.tree(use.command()));
        row.put("gpuInstance", Values.tree(use.process().gpuInstance()));
        row.put("computeInstance", Values.tree(use.process().computeInstance()));
        row.put("owner", OwnerView.tree(use.owner(), true));
        row.put("usedBytes", Values.tree(use.usedBytes()));
        return row;
    }

    void print(PrintWriter out) {
        if (memory.isEmpty()) {
            out.println("no GPU to show; 'gpuwarden scan' shows the cause");
            return;
        }
        Table table = by == By.process
                ? new Table("GPU", "PID", "TYPE", "COMMAND", "OWNER", "MEMORY", "SHARE")
                : new Table("GPU", by.name().toUpperCase(Locale.ROOT), "PROCESSES", "MEMORY", "SHARE");
        for (int i = 0; i < memory.size(); i++) {
            rows(table, node.gpus().get(i), memory.get(i));
        }
        table.print(out);
    }

    private void rows(Table table, GpuSnapshot gpu, GpuMemoryUse use) {
        String index = Integer.toString(gpu.identity().index());
        Reading<Long> total = gpu.frame().reading(GpuMetric.MEMORY_TOTAL);
        if (use.uses() instanceof Reading.Absent<?> absent) {
            summary(table, index, "holders unknown: " + absent.text(), Reading.absent(absent.cause()), total);
        } else if (by == By.process) {
            for (MemoryUse process : processes(use)) {
                table.row(
                        index + instance(process),
                        process.process().pid(),
                        process.process().type().name().toLowerCase(Locale.ROOT),
                        Values.cell(process.command(), name -> name),
                        OwnerView.text(process.owner()),
                        Values.cell(process.usedBytes(), VramReport::size),
                        share(process.usedBytes(), total));
            }
        } else {
            for (MemoryShare share : shares(use)) {
                table.row(
                        index,
                        OwnerView.text(share.owner()),
                        share.processes(),
                        Values.cell(share.bytes(), VramReport::size),
                        share(share.bytes(), total));
            }
        }
        if (use.uses() instanceof Reading.Present<?>) {
            summary(table, index, "unattributed", use.unattributedBytes(), total);
            if (use.overattributedBytes() instanceof Reading.Present<Long> over && over.value() > 0) {
                summary(table, index, "claimed beyond what is used", use.overattributedBytes(), total);
            }
        }
        String of = total instanceof Reading.Present<Long> all ? "used of " + size(all.value()) : "used";
        summary(table, index, of, use.usedBytes(), total);
    }

    private void summary(Table table, String index, String what, Reading<Long> bytes, Reading<Long> total) {
        Object label = Table.styled(Style.FAINT, what);
        String size = Values.cell(bytes, VramReport::size);
        if (by == By.process) {
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
