package dev.gpuwarden.daemon.access;

import dev.gpuwarden.cli.JsonReader;
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

/** Findings of the JSON that `gpuwarden check` prints (docs/reference/check-json.md). Pure. */
final class FindingReader {

    private static final int DEEPEST = 16;

    private FindingReader() {}

    /** @throws IOException if the text is not the result of this check */
    static List<Finding> findings(String check, String json) throws IOException {
        try {
            Map<?, ?> root = JsonReader.refusingDuplicates(DEEPEST).readObject(json);
            List<Finding> findings = new ArrayList<>();
            for (Object result : list(root, "checks")) {
                if (!text((Map<?, ?>) result, "check").equals(check)) {
                    throw new IOException("the result of another check");
                }
                for (Object finding : list((Map<?, ?>) result, "findings")) {
                    findings.add(finding((Map<?, ?>) finding));
                }
            }
            return findings;
        } catch (ClassCastException | IllegalArgumentException e) {
            throw new IOException("unexpected form: " + e.getMessage(), e);
        }
    }

    private static Finding finding(Map<?, ?> json) throws IOException {
        List<Entity> entities = new ArrayList<>();
        for (Object entity : list(json, "entities")) {
            entities.add(new Entity(text((Map<?, ?>) entity, "type"), text((Map<?, ?>) entity, "value")));
        }
        List<Measurement> evidence = new ArrayList<>();
        for (Object each : list(json, "evidence")) {
            Map<?, ?> measured = (Map<?, ?>) each;
            if (!(measured.get("value") instanceof Number value)) {
                throw new IOException("expected a number in 'value'");
            }
            evidence.add(new Measurement(text(measured, "name"), value.doubleValue(), text(measured, "expected")));
        }
        String action = text(json, "action");
        return new Finding(
                Outcome.valueOf(text(json, "outcome").toUpperCase(Locale.ROOT)),
                text(json, "code"),
                new Subject(text(json, "subject"), entities),
                text(json, "message"),
                text(json, "remedy"),
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

    private static List<?> list(Map<?, ?> json, String name) throws IOException {
        if (json.get(name) instanceof List<?> list) {
            return list;
        }
        throw new IOException("expected a list in '" + name + "'");
    }

    private static String text(Map<?, ?> json, String name) throws IOException {
        if (json.get(name) instanceof String text) {
            return text;
        }
        throw new IOException("expected a text in '" + name + "'");
    }
}
