package dev.gpuwarden.checks.access;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Findings in the form of the JSON that `gpuwarden check` prints (docs/reference/check-json.md). Pure. */
final class FindingReader {

    private FindingReader() {}

    /** @throws IOException if a finding has another form */
    static List<Finding> findings(List<?> trees) throws IOException {
        try {
            List<Finding> findings = new ArrayList<>();
            for (Object tree : trees) {
                findings.add(finding((Map<?, ?>) tree));
            }
            return findings;
        } catch (ClassCastException | IllegalArgumentException e) {
            throw new IOException("unexpected form: " + e.getMessage(), e);
        }
    }

    private static Finding finding(Map<?, ?> json) throws IOException {
        List<Entity> entities = new ArrayList<>();
        for (Object entity : JsonFields.list(json, "entities")) {
            entities.add(new Entity(
                    JsonFields.text((Map<?, ?>) entity, "type"), JsonFields.text((Map<?, ?>) entity, "value")));
        }
        List<Measurement> evidence = new ArrayList<>();
        for (Object each : JsonFields.list(json, "evidence")) {
            Map<?, ?> measured = (Map<?, ?>) each;
            if (!measured.containsKey("value")) {
                // A value that is no number is written as null.
                continue;
            }
            evidence.add(new Measurement(
                    JsonFields.text(measured, "name"),
                    JsonFields.number(measured, "value"),
                    JsonFields.text(measured, "expected")));
        }
        String action = JsonFields.text(json, "action");
        return new Finding(
                Outcome.valueOf(JsonFields.text(json, "outcome").toUpperCase(Locale.ROOT)),
                JsonFields.text(json, "code"),
                new Subject(JsonFields.text(json, "subject"), entities),
                JsonFields.text(json, "message"),
                JsonFields.text(json, "remedy"),
                action(action),
                evidence);
    }

    private static RecommendedAction action(String label) throws IOException {
        for (RecommendedAction action : RecommendedAction.values()) {
            if (action.label().equals(label)) {
                return action;
            }
        }
        throw new IOException("unknown action");
    }
}
