package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.node.NodeSnapshot;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/** Results of some checks on a node at a fixed time; the checks themselves have their own tests. */
final class CheckedNode {

    private static final Set<String> SOME = Set.of("driver", "gpu-count", "gpu-state", "gpu-readings");
    private static final NodePaths NOWHERE =
            NodePaths.of(Path.of("/nonexistent"), Path.of("/nonexistent"), Path.of("/nonexistent"));

    private CheckedNode() {}

    static List<CheckResult> results(NodeSnapshot node) {
        CheckPlan plan = CheckPlan.installed().only(SOME::contains);
        CheckEnvironment around = CheckEnvironment.once(node, Limits.NONE, Expectations.NONE, NOWHERE);
        return CheckRunner.once(plan, around, RunListener.NONE).stream()
                .map(result -> CheckResult.of(
                        result.check(), Instant.parse("2026-01-01T00:00:00Z"), Duration.ofMillis(1), result.findings()))
                .toList();
    }

    static Collector collector(NodeSnapshot node) {
        List<CheckResult> results = results(node);
        return new CheckCollector(() -> results, List::of).collector();
    }
}
