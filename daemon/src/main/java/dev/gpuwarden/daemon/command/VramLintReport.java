package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.view.CheckSummary;
import dev.gpuwarden.watchdog.lint.BudgetLint;
import dev.gpuwarden.watchdog.lint.LintFinding;
import dev.gpuwarden.watchdog.lint.LintRules;
import dev.gpuwarden.watchdog.lint.Workload;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The findings of a lint, workload by workload.
 *
 * @param unread objects that have the resource in a form that is not read
 */
record VramLintReport(LintRules rules, List<Workload> workloads, List<String> unread) {

    static final String SCHEMA = "gpuwarden.vram-lint/v1";

    private static final double MIB = 1L << 20;

    List<LintFinding> findings() {
        return workloads.stream()
                .flatMap(workload -> BudgetLint.judge(workload, rules).stream())
                .toList();
    }

    /** Returns whether no finding counts. */
    boolean clean(boolean strict) {
        return findings().stream().noneMatch(finding -> strict || finding.rule().fails());
    }

    private List<Workload> budgeted() {
        return workloads.stream().filter(BudgetLint::hasBudget).toList();
    }

    private static Reading<Long> budget(Workload workload) {
        return workload.pod().budget(workload.fullName()).total().bytes();
    }

    /** Returns what was not compared, and why. */
    List<String> notes() {
        List<String> notes = new ArrayList<>();
        unread.forEach(
                object -> notes.add(object + " has the resource, and no pod template that is read; check it by hand"));
        if (budgeted().isEmpty()) {
            notes.add("no workload has the resource " + rules.resource() + "; --resource takes another name");
        } else if (rules.largestCardBytes().isEmpty()) {
            notes.add("no budget was compared with a card; --largest-card takes what the largest one has for budgets");
        }
        rules.usedBytes().keySet().stream()
                .sorted()
                .filter(name -> workloads.stream()
                        .noneMatch(workload -> BudgetLint.hasBudget(workload) && LintRules.matches(name, workload)))
                .forEach(name -> notes.add("--used " + name + ": no workload of this name with a budget was read"));
        return notes;
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("resource", rules.resource());
        rules.largestCardBytes().ifPresent(bytes -> tree.put("largestCardBytes", bytes));
        tree.put("workloads", workloads.size());
        tree.put("budgets", budgeted().stream().map(VramLintReport::tree).toList());
        tree.put("findings", findings().stream().map(VramLintReport::tree).toList());
        tree.put("notes", notes());
        return tree;
    }

    private static Map<String, Object> tree(Workload workload) {
        Map<String, Object> tree = identity(workload);
        tree.put("replicas", workload.replicas());
        tree.put("gpus", workload.pod().gpus());
        tree.put("budgetBytes", Values.tree(budget(workload)));
        return tree;
    }

    private static Map<String, Object> tree(LintFinding finding) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("outcome", outcome(finding).name().toLowerCase(Locale.ROOT));
        tree.put("rule", finding.rule().code());
        tree.putAll(identity(finding.workload()));
        tree.put("problem", finding.problem());
        tree.put("remedy", finding.remedy());
        return tree;
    }

    private static Map<String, Object> identity(Workload workload) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("origin", workload.origin());
        tree.put("kind", workload.kind());
        workload.namespace().ifPresent(namespace -> tree.put("namespace", namespace));
        tree.put("name", workload.name());
        return tree;
    }

    private static Outcome outcome(LintFinding finding) {
        return finding.rule().fails() ? Outcome.FAIL : Outcome.WARN;
    }

    void print(PrintWriter out) {
        if (!budgeted().isEmpty()) {
            budgets().print(out);
            out.println();
        }
        for (LintFinding finding : findings()) {
            Workload workload = finding.workload();
            out.println(outcome(finding) + "  " + finding.rule().code() + "  "
                    + Table.escape(workload.origin() + "  " + workload.label() + ": " + finding.problem()));
            out.println("      " + Table.escape(finding.remedy()));
        }
        notes().forEach(note -> out.println("note: " + Table.escape(note)));
        out.println(CheckSummary.count(findings().size(), "finding") + " in "
                + CheckSummary.count(workloads.size(), "workload") + ", "
                + budgeted().size() + " with a budget");
    }

    private Table budgets() {
        Table table = new Table("WORKLOAD", "REPLICAS", "GPUS", "BUDGET", "ALL REPLICAS");
        long sum = 0;
        for (Workload workload : budgeted()) {
            Reading<Long> budget = budget(workload);
            double all = budget.asOptional().orElse(0L) * (double) workload.replicas();
            sum += (long) (all / MIB);
            table.row(
                    workload.label(),
                    workload.replicas(),
                    workload.pod().gpus(),
                    budget instanceof Reading.Present<Long> bytes ? mib(bytes.value()) : "unknown",
                    budget instanceof Reading.Present<Long> ? mib(all) : "unknown");
        }
        return table.row(Table.styled(Style.FAINT, "sum of those that are known"), "", "", "", sum + " MiB");
    }

    private static String mib(double bytes) {
        return String.format(Locale.ROOT, "%.0f MiB", bytes / MIB);
    }
}
