package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.daemon.vram.audit.BudgetPatch;
import dev.gpuwarden.daemon.vram.audit.WorkloadUse;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes proposed budgets as a file that `patches` of a kustomization can name. */
final class VramPatches {

    static final String SCHEMA = "gpuwarden.vram-patches/v1";

    private VramPatches() {}

    static Map<String, Object> tree(List<BudgetPatch> patches) {
        List<Object> rows = new ArrayList<>();
        for (BudgetPatch patch : patches) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("workload", patch.use().workload());
            row.put("patch", Values.tree(patch.object()));
            rows.add(row);
        }
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("patches", rows);
        return tree;
    }

    /** Writes a document for each patch, with the measured use as a comment. A workload without a patch is a comment alone. */
    static void print(List<BudgetPatch> patches, PrintWriter out) {
        if (patches.isEmpty()) {
            out.println("# no use was measured: the file has no reading in which a workload held memory");
        }
        for (BudgetPatch patch : patches) {
            String name = Table.escape(patch.use().workload());
            if (patch.object() instanceof Reading.Absent<?> none) {
                out.println("# no patch for " + name + ": " + Table.escape(none.detail()));
            } else {
                out.println("---");
                out.println("# " + name + ": " + measured(patch.use()));
                patch.object().asOptional().map(Output::yaml).ifPresent(out::print);
            }
        }
    }

    private static String measured(WorkloadUse use) {
        return "p95 " + Mib.text(use.p95Bytes()) + ", largest " + Mib.text(use.largestBytes())
                + " of " + use.samples() + " readings; budget now "
                + use.budget().asOptional().map(Mib::text).orElse("none");
    }
}
