package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.daemon.view.CheckView;
import dev.gpuwarden.daemon.view.DriverView;
import dev.gpuwarden.daemon.view.GpuView;
import dev.gpuwarden.daemon.view.Values;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The results of a scan as a tree for JSON and YAML: gpuwarden.scan/v1, see docs/reference/scan-json.md. Pure. */
record ScanReport(NodeSnapshot node, List<CheckResult> results, Verdict verdict) {

    static final String SCHEMA = "gpuwarden.scan/v1";

    static ScanReport of(NodeSnapshot node, List<CheckResult> results) {
        return new ScanReport(node, results, NodeVerdict.of(results));
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("verdict", verdict.label());
        tree.put("driver", DriverView.tree(node.driver()));
        tree.put(
                "pciGpus",
                Values.tree(
                        node.pciGpus(),
                        gpus -> gpus.stream().map(PciAddress::toString).toList()));
        tree.put("gpus", node.gpus().stream().map(GpuView::tree).toList());
        tree.put("findings", CheckView.findings(results));
        return tree;
    }
}
