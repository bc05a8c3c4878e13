package dev.gpuwarden.checks.access;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.RateHistory.Series;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All that a check with a load on GPUs keeps between its runs, as JSON for the child process of one run. The child's changes come back by
 * {@link ChildStep}. The context refuses such a check all that is not here. Immutable.
 *
 * @param young see {@code CheckContext.young}
 * @param rates earlier rates of the GPUs of the run
 */
public record KeptState(
        Map<String, Long> notes, Map<String, Long> bootNotes, Optional<String> young, List<Series> rates) {

    private static final int DEEPEST = 8;

    public KeptState {
        notes = Map.copyOf(notes);
        bootNotes = Map.copyOf(bootNotes);
        rates = List.copyOf(rates);
    }

    static KeptState of(CheckContext context, Collection<String> gpuUuids) {
        return new KeptState(
                context.notes(),
                context.bootNotes(),
                context.young(),
                context.rates().series(gpuUuids));
    }

    String json() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("notes", notes);
        tree.put("bootNotes", bootNotes);
        young.ifPresent(why -> tree.put("young", why));
        tree.put("rates", rates.stream().map(KeptState::tree).toList());
        return Output.jsonLine(tree);
    }

    private static Map<String, Object> tree(Series series) {
        return Map.of(
                "gpu", series.gpu(), "work", series.work(), "settings", series.settings(), "rates", series.rates());
    }

    /** @throws IOException if the text has another form */
    static KeptState parse(String json) throws IOException {
        try {
            Map<?, ?> tree = JsonReader.refusingDuplicates(DEEPEST).readObject(json);
            List<Series> rates = new ArrayList<>();
            for (Object each : JsonFields.list(tree, "rates")) {
                Map<?, ?> series = (Map<?, ?>) each;
                List<Double> values = new ArrayList<>();
                for (Object value : JsonFields.list(series, "rates")) {
                    values.add(((Number) value).doubleValue());
                }
                rates.add(new Series(
                        JsonFields.text(series, "gpu"),
                        JsonFields.text(series, "work"),
                        JsonFields.text(series, "settings"),
                        values));
            }
            Optional<String> young =
                    tree.containsKey("young") ? Optional.of(JsonFields.text(tree, "young")) : Optional.empty();
            return new KeptState(notes(tree, "notes"), notes(tree, "bootNotes"), young, rates);
        } catch (ClassCastException e) {
            throw new IOException("unexpected form: " + e.getMessage(), e);
        }
    }

    private static Map<String, Long> notes(Map<?, ?> tree, String name) throws IOException {
        Map<String, Long> notes = new LinkedHashMap<>();
        for (Map.Entry<?, ?> note : JsonFields.object(tree, name).entrySet()) {
            notes.put((String) note.getKey(), (Long) note.getValue());
        }
        return notes;
    }
}
