package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Verdict;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;

/** The last results of checks, and the verdict over the node from them and the current faults. */
public record CheckCollector(Supplier<List<CheckResult>> results, Supplier<List<Fault>> faults) {

    private static final List<Outcome> OUTCOMES = List.of(Outcome.values());

    public Collector collector() {
        return new Collector("check", this::collect);
    }

    private void collect(Collector.Scrape scrape, Family.Series out) {
        List<CheckResult> last = results.get();
        Verdict verdict = NodeVerdict.of(last, faults.get());
        for (Verdict each : Verdict.values()) {
            out.add("gpuwarden_node_outcome", Labels.of("outcome", each.label()), each == verdict ? 1 : 0);
        }
        Set<Labels> found = new LinkedHashSet<>();
        for (CheckResult result : last) {
            String id = result.check().id();
            int[] parts = new int[OUTCOMES.size()];
            for (Finding finding : result.findings()) {
                parts[finding.outcome().ordinal()]++;
                if (complains(finding)) {
                    found.add(labels(id, finding));
                }
            }
            for (Outcome outcome : OUTCOMES) {
                Labels labels = Labels.of("check", id, "outcome", word(outcome));
                out.add("gpuwarden_check_outcome", labels, outcome == result.outcome() ? 1 : 0);
                if (parts[outcome.ordinal()] > 0) {
                    out.add("gpuwarden_check_parts", labels, parts[outcome.ordinal()]);
                }
            }
            Labels check = Labels.of("check", id);
            out.add("gpuwarden_check_duration_seconds", check, result.took().toNanos() / 1e9);
            double at = result.at().toEpochMilli() / 1e3;
            out.add("gpuwarden_check_last_run_timestamp_seconds", check, at);
            double every = result.check().every().toNanos() / 1e9;
            out.add("gpuwarden_check_interval_seconds", check, every);
        }
        found.forEach(labels -> out.add("gpuwarden_finding", labels, 1));
    }

    /**
     * Returns whether a finding has a series. Findings that pass or do not apply are counted only; they would be most
     * of all series.
     */
    private static boolean complains(Finding finding) {
        return finding.outcome() != Outcome.PASS && finding.outcome() != Outcome.SKIPPED;
    }

    private static Labels labels(String check, Finding finding) {
        return Labels.of(
                "check", check,
                "code", finding.code(),
                "outcome", word(finding.outcome()),
                "subject", finding.subject().label());
    }

    private static String word(Outcome outcome) {
        return outcome.name().toLowerCase(Locale.ROOT);
    }
}
