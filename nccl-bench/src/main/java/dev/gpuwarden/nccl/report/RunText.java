package dev.gpuwarden.nccl.report;

import dev.gpuwarden.nccl.plan.MessageSizes;
import dev.gpuwarden.nccl.plan.Plan;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;

/** The lines around the table, in the form of nccl-tests 2.19. */
public final class RunText {

    /** The release of nccl-tests whose layout this is. */
    public static final String LAYOUT = "2.19.6";

    /** The version of nccl.h that the binding is written for, in its first line. */
    private static final int HEADERS = 21800;

    private RunText() {}

    /** @param program version of gpuwarden */
    public static List<String> head(Plan plan, String program, int ncclVersion) {
        MessageSizes sizes = plan.sizes();
        boolean factor = sizes.factor() > 1;
        List<String> lines = new ArrayList<>();
        lines.add("# gpuwarden " + program + " in the layout of nccl-tests version " + LAYOUT + " nccl-headers="
                + HEADERS + " nccl-library=" + ncclVersion);
        lines.add("# Collective test starting: " + plan.collective().program());
        lines.add("# nThread " + plan.threads() + " nGpus " + plan.gpus() + " minBytes " + sizes.least() + " maxBytes "
                + sizes.most() + " step: " + (factor ? sizes.factor() + "(factor)" : sizes.step() + "(bytes)")
                + " warmup iters: " + plan.warmUps() + " iters: " + plan.iterations() + " agg iters: "
                + plan.aggregated() + " validation: " + plan.checks() + " graph: " + plan.graphs() + " unalign: "
                + plan.offset());
        switch (plan.blocking()) {
            case 1 -> lines.add("# Blocking Enabled: wait and barrier after each inner iteration (-m) ");
            case 2 -> lines.add("# Blocking Enabled: wait after each inner iteration (-m), no barrier ");
            case 3 ->
                lines.add(
                        "# Blocking Enabled: wait and barrier after each outer iteration (-n); time excludes barrier ");
            default -> {}
        }
        if (plan.switches().perIteration()) {
            lines.add("# Per-Iteration Report: CUDA event timing; i_* uses max over process rows"
                    + (plan.switches().skipped() > 0
                            ? "; summary skips first " + plan.switches().skipped() + " iterations"
                            : "")
                    + " ");
        }
        if (plan.switches().parallelInit()) {
            lines.add("# Parallel Init Enabled: threads call into NcclInitRank concurrently ");
        }
        lines.add("#");
        return lines;
    }

    public static List<String> devices(List<RankLine> ranks) {
        List<String> lines = new ArrayList<>(List.of("# Using devices"));
        ranks.forEach(rank -> lines.add(rank.text()));
        return lines;
    }

    /** Returns the lines where memory limits the sizes. */
    public static List<String> reduced(long bytes) {
        return List.of("#", "# Reducing maxBytes to " + bytes + " due to memory limitation");
    }

    public static List<String> foot(Plan plan, Verdict verdict, MemoryUse memory) {
        List<String> lines = new ArrayList<>();
        lines.add(named("Out of bounds values") + verdict.outOfBounds() + " "
                + (verdict.outOfBounds() == 0 ? "OK" : "FAILED"));
        lines.add(named("Avg bus bandwidth") + NumberText.general(verdict.meanBus()) + " "
                + (verdict.required().isEmpty() ? "" : verdict.isFastEnough() ? "OK" : "FAILED"));
        lines.add("#");
        lines.add("# Collective test concluded: " + plan.collective().program());
        if (plan.switches().memoryReport()) {
            lines.add(named("GPU memory usage") + "Initialization " + bytes(memory.joining()) + " | User-Allocated "
                    + bytes(memory.buffers()) + " | Collective " + bytes(memory.collectives()) + " | Total  "
                    + bytes(memory.joining() + memory.buffers() + memory.collectives()));
        }
        lines.add("#");
        lines.add("");
        return lines;
    }

    private static String named(String name) {
        return "# " + name + " ".repeat(20 - name.length()) + " : ";
    }

    /** Memory of the GPU that used most, in bytes. */
    public record MemoryUse(long joining, long buffers, long collectives) {}

    /** Returns a size as nccl-tests writes it: with the digits that its magnitude permits. */
    static String bytes(long amount) {
        BigDecimal value = BigDecimal.valueOf(amount);
        String unit = " B";
        for (String larger : List.of(" KB", " MB", " GB")) {
            if (value.abs().compareTo(BigDecimal.valueOf(1024)) >= 0) {
                value = value.divide(BigDecimal.valueOf(1024));
                unit = larger;
            }
        }
        double size = value.abs().doubleValue();
        int digits = size < 10 ? 2 : size < 100 ? 1 : 0;
        return value.setScale(digits, RoundingMode.HALF_EVEN).toPlainString() + unit;
    }
}
