package dev.gpuwarden.checks.access;

import dev.gpuwarden.checks.view.CheckView;
import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.util.FieldReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A line of a child process that runs a check: what it has proven or found since its last line, and what a later run needs. A line counts as
 * a whole or not at all, so a child that is killed while it writes changes nothing by half. Immutable.
 *
 * @param notes changed notes of the check; empty for one that it removed
 * @param bootNotes the same for notes that last until the node boots
 * @param rates new rates of GPUs
 * @param last whether the run has ended, and the findings are its result
 */
record ChildStep(
        String check,
        List<Finding> findings,
        Map<String, Optional<Long>> notes,
        Map<String, Optional<Long>> bootNotes,
        List<NewRate> rates,
        boolean last) {

    private static final int DEEPEST = 8;

    /** A check has some notes for each GPU. */
    private static final int MOST_NOTES = 1024;

    private static final int MOST_KEY = 200;

    /** Times in milliseconds are far below, and sums of some values do not overflow. */
    private static final long MOST_VALUE = 1L << 53;

    /** See {@code RateHistory.keep}. */
    record NewRate(String gpu, String work, String settings, double rate) {}

    String json() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("check", check);
        tree.put("findings", CheckView.findings(check, findings));
        tree.put("notes", tree(notes));
        tree.put("bootNotes", tree(bootNotes));
        tree.put("rates", rates.stream().map(ChildStep::tree).toList());
        tree.put("last", last);
        return Output.jsonLine(tree);
    }

    private static Map<String, Object> tree(NewRate rate) {
        return Map.of("gpu", rate.gpu(), "work", rate.work(), "settings", rate.settings(), "rate", rate.rate());
    }

    /** A note that was removed has a text in place of its number. */
    private static Map<String, Object> tree(Map<String, Optional<Long>> changes) {
        Map<String, Object> tree = new LinkedHashMap<>();
        changes.forEach((key, value) ->
                tree.put(key, value.<Object>map(number -> number).orElse("")));
        return tree;
    }

    /** @throws IOException if the line is not one of a run of this check */
    static ChildStep parse(String check, String line) throws IOException {
        try {
            FieldReader tree =
                    new FieldReader("", JsonReader.refusingDuplicates(DEEPEST).readObject(line));
            if (!tree.text("check").equals(check)) {
                throw new IOException("the result of another check");
            }
            List<NewRate> rates = new ArrayList<>();
            for (FieldReader rate : tree.requiredObjects("rates")) {
                rates.add(
                        new NewRate(rate.text("gpu"), rate.text("work"), rate.text("settings"), rate.decimal("rate")));
            }
            return new ChildStep(
                    check,
                    FindingReader.findings(tree.requiredObjects("findings")),
                    changes(tree, "notes"),
                    changes(tree, "bootNotes"),
                    rates,
                    tree.has("last") && tree.flag("last"));
        } catch (ClassCastException e) {
            throw new IOException("unexpected form: " + e.getMessage(), e);
        }
    }

    private static Map<String, Optional<Long>> changes(FieldReader tree, String name) throws IOException {
        Map<String, Optional<Long>> changes = new LinkedHashMap<>();
        for (Map.Entry<?, ?> change : tree.map(name).entrySet()) {
            String key = (String) change.getKey();
            Optional<Long> value =
                    "".equals(change.getValue()) ? Optional.empty() : Optional.of((Long) change.getValue());
            if (key.isEmpty() || key.length() > MOST_KEY || key.chars().anyMatch(Character::isISOControl)) {
                throw new IOException("expected a key of 1 to " + MOST_KEY + " printable characters in '" + name + "'");
            }
            if (value.filter(number -> Math.abs(number) > MOST_VALUE).isPresent()) {
                throw new IOException("expected a number of at most 2^53 in '" + name + "'");
            }
            changes.put(key, value);
        }
        if (changes.size() > MOST_NOTES) {
            throw new IOException("expected at most " + MOST_NOTES + " changes in '" + name + "'");
        }
        return changes;
    }

    /** Keeps the changes for later runs: rates of these GPUs alone, and no more notes than a check may have. */
    void keep(CheckContext context, Collection<String> gpuUuids) {
        keep(context.notes(), notes);
        keep(context.bootNotes(), bootNotes);
        rates.stream()
                .filter(rate -> gpuUuids.contains(rate.gpu()))
                .forEach(rate -> context.rates().keep(rate.gpu(), rate.work(), rate.settings(), rate.rate()));
    }

    private static void keep(Map<String, Long> kept, Map<String, Optional<Long>> changes) {
        changes.forEach((key, value) -> {
            if (value.isEmpty()) {
                kept.remove(key);
            } else if (kept.containsKey(key) || kept.size() < MOST_NOTES) {
                kept.put(key, value.get());
            }
        });
    }
}
