package dev.gpuwarden.checks.access;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.util.FieldReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Findings in the form of the JSON that `gpuwarden check` prints (docs/reference/check-json.md). Pure. */
final class FindingReader {

    private FindingReader() {}

    /** @throws IOException if a finding has another form */
    static List<Finding> findings(List<FieldReader> trees) throws IOException {
        try {
            List<Finding> findings = new ArrayList<>();
            for (FieldReader tree : trees) {
                findings.add(finding(tree));
            }
            return findings;
        } catch (IllegalArgumentException e) {
            throw new IOException("unexpected form: " + e.getMessage(), e);
        }
    }

    private static Finding finding(FieldReader json) throws IOException {
        List<Entity> entities = new ArrayList<>();
        for (FieldReader entity : json.requiredObjects("entities")) {
            entities.add(new Entity(entity.text("type"), entity.text("value")));
        }
        List<Measurement> evidence = new ArrayList<>();
        for (FieldReader measured : json.requiredObjects("evidence")) {
            // A value that is no number is written as null.
            if (measured.has("value")) {
                evidence.add(
                        new Measurement(measured.text("name"), measured.decimal("value"), measured.text("expected")));
            }
        }
        return new Finding(
                Outcome.valueOf(json.text("outcome").toUpperCase(Locale.ROOT)),
                json.text("code"),
                new Subject(json.text("subject"), entities),
                json.text("message"),
                json.text("remedy"),
                action(json.text("action")),
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
