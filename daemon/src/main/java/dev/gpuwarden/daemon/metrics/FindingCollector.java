package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.NodeAssessment;
import dev.gpuwarden.core.health.Verdict;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The verdict over the node and what it rests on. */
final class FindingCollector implements Collector {

    private static final Family VERDICT = Family.gauge(
            "gpuwarden_node_outcome", "1 for the verdict over the node, 0 for the others; undecided is not healthy.");
    private static final Family FINDING = Family.gauge(
            "gpuwarden_finding", "1 for each thing found on the node now; only the outcome pass is health.");

    @Override
    public String name() {
        return "finding";
    }

    @Override
    public void collect(Scrape scrape, Families out) {
        List<Finding> findings = NodeAssessment.assess(scrape.node());
        Verdict verdict = Verdict.of(findings);
        for (Verdict each : Verdict.values()) {
            out.add(VERDICT, Labels.of("outcome", each.label()), each == verdict ? 1 : 0);
        }
        Set<Labels> distinct = new LinkedHashSet<>();
        for (Finding finding : findings) {
            distinct.add(Labels.of(
                    "code",
                    finding.code(),
                    "outcome",
                    finding.outcome().name().toLowerCase(Locale.ROOT),
                    "subject",
                    finding.subject()));
        }
        distinct.forEach(labels -> out.add(FINDING, labels, 1));
    }
}
