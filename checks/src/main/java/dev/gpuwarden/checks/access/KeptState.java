package dev.gpuwarden.checks.access;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.RateHistory.Series;
import dev.gpuwarden.core.util.FieldReader;
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
            FieldReader tree =
                    new FieldReader("", JsonReader.refusingDuplicates(DEEPEST).readObject(json));
            List<Series> rates = new ArrayList<>();
            for (FieldReader series : tree.requiredObjects("rates")) {
                rates.add(new Series(
                        series.text("gpu"), series.text("work"), series.text("settings"), series.decimals("rates")));
            }
            Optional<String> young = tree.optionalText("young");
            return new KeptState(notes(tree, "notes"), notes(tree, "bootNotes"), young, rates);
        } catch (ClassCastException e) {
            throw new IOException("unexpected form: " + e.getMessage(), e);
        }
    }

    private static Map<String, Long> notes(FieldReader tree, String name) throws IOException {
        Map<String, Long> notes = new LinkedHashMap<>();
        for (Map.Entry<?, ?> note : tree.map(name).entrySet()) {
            notes.put((String) note.getKey(), (Long) note.getValue());
        }
        return notes;
    }
}
