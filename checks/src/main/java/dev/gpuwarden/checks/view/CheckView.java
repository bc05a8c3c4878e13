package dev.gpuwarden.checks.view;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The JSON form of checks and findings. */
public final class CheckView {

    private CheckView() {}

    public static Map<String, Object> tree(CheckInfo check) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("check", check.id());
        tree.put("componentClass", check.componentClass());
        tree.put("eventName", check.eventName());
        tree.put("summary", check.summary());
        tree.put("everySeconds", Values.roughSeconds(check.every().toNanos()));
        tree.put("confirmLooks", check.confirm());
        tree.put("proofLooks", check.proof());
        return tree;
    }

    public static Map<String, Object> tree(CheckResult result) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("check", result.check().id());
        tree.put("componentClass", result.check().componentClass());
        tree.put("summary", result.check().summary());
        tree.put("outcome", result.outcome().name().toLowerCase(Locale.ROOT));
        tree.put("at", result.at().toString());
        tree.put("tookSeconds", Values.roughSeconds(result.took().toNanos()));
        tree.put("findings", findings(List.of(result)));
        return tree;
    }

    public static Map<String, Object> tree(Damping damping) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("check", damping.check().id());
        tree.put("subject", damping.subject().label());
        tree.put("code", damping.code());
        tree.put("phase", damping.phase().name().toLowerCase(Locale.ROOT));
        tree.put("looks", damping.looks());
        tree.put("neededLooks", damping.needed());
        tree.put("text", damping.text());
        return tree;
    }

    /** Returns the findings of one check, in order. */
    public static List<Map<String, Object>> findings(String check, List<Finding> findings) {
        return findings.stream().map(finding -> tree(check, finding)).toList();
    }

    /** Returns all findings, in order. */
    public static List<Map<String, Object>> findings(List<CheckResult> results) {
        return results.stream()
                .flatMap(result -> result.findings().stream()
                        .map(finding -> tree(result.check().id(), finding)))
                .toList();
    }

    private static Map<String, Object> tree(String check, Finding finding) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("check", check);
        tree.put("outcome", finding.outcome().name().toLowerCase(Locale.ROOT));
        tree.put("code", finding.code());
        tree.put("subject", finding.subject().label());
        tree.put("entities", EventView.entities(finding.subject().entities()));
        tree.put("message", finding.message());
        tree.put("remedy", finding.remedy());
        tree.put("action", finding.action().label());
        tree.put("evidence", finding.evidence().stream().map(CheckView::tree).toList());
        return tree;
    }

    private static Map<String, Object> tree(Measurement measurement) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("name", measurement.name());
        tree.put("value", measurement.value());
        tree.put("expected", measurement.expected());
        return tree;
    }
}
