package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.daemon.view.CheckView;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Check results as a tree for JSON and YAML, see docs/reference/check-json.md. Pure. */
record CheckReport(List<CheckResult> results, Verdict verdict, boolean byDaemon) {

    static final String SCHEMA = "gpuwarden.check/v1";

    static CheckReport of(List<CheckResult> results) {
        return new CheckReport(results, NodeVerdict.of(results), false);
    }

    static CheckReport byDaemon(List<CheckResult> results) {
        return new CheckReport(results, NodeVerdict.of(results), true);
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("verdict", verdict.label());
        tree.put("ranBy", byDaemon ? "daemon" : "process");
        tree.put("checks", results.stream().map(CheckView::tree).toList());
        return tree;
    }
}
