package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.daemon.repair.RepairAttempt.End;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The lines of the record of repairs, one JSON object each: beginning, steps and end of each attempt (docs/operating/single-server-repair.md). */
final class RepairRecord {

    private static final int DEEPEST = 4;

    private RepairRecord() {}

    static String begin(RepairAttempt attempt) {
        Map<String, Object> tree = line(attempt.began(), attempt.id(), "begin");
        tree.put("kind", attempt.kind().label());
        tree.put("subjects", attempt.subjects().stream().sorted().toList());
        tree.put("why", attempt.why());
        tree.put("bootId", attempt.bootId());
        return Output.jsonLine(tree);
    }

    static String step(RepairAttempt attempt, Step step) {
        Map<String, Object> tree = line(step.at(), attempt.id(), "step");
        tree.put("name", step.name());
        tree.put("target", step.target());
        tree.put("done", step.done());
        tree.put("detail", step.detail());
        tree.put("milliseconds", step.time().toMillis());
        return Output.jsonLine(tree);
    }

    static String end(RepairAttempt attempt, End end) {
        Map<String, Object> tree = line(end.at(), attempt.id(), "end");
        tree.put("outcome", end.outcome().label());
        tree.put("detail", end.detail());
        return Output.jsonLine(tree);
    }

    private static Map<String, Object> line(Instant at, String id, String event) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("at", at.toString());
        tree.put("id", id);
        tree.put("event", event);
        return tree;
    }

    /**
     * Returns the attempts of these lines, in order of their beginnings.
     *
     * @throws IOException with the number of the line, if one is none of these lines
     */
    static List<RepairAttempt> read(List<String> lines) throws IOException {
        Map<String, RepairAttempt> attempts = new LinkedHashMap<>();
        int number = 0;
        for (String line : lines) {
            number++;
            try {
                Map<String, @Nullable Object> tree = JsonReader.ofDepth(DEEPEST).readObject(line);
                String id = text(tree, "id");
                if (text(tree, "event").equals("begin")) {
                    attempts.put(id, begun(id, tree));
                } else if (attempts.containsKey(id)) {
                    attempts.computeIfPresent(id, (any, before) -> next(before, tree));
                }
            } catch (IOException | IllegalArgumentException | DateTimeException e) {
                throw new IOException("line " + number + ": " + e.getMessage(), e);
            }
        }
        return List.copyOf(attempts.values());
    }

    private static RepairAttempt begun(String id, Map<String, @Nullable Object> tree) {
        Set<String> subjects = new LinkedHashSet<>();
        if (tree.get("subjects") instanceof List<?> list) {
            list.forEach(each -> subjects.add(String.valueOf(each)));
        }
        return new RepairAttempt(
                id,
                value(Kind.values(), tree, "kind"),
                subjects,
                text(tree, "why"),
                Instant.parse(text(tree, "at")),
                text(tree, "bootId"),
                List.of(),
                Optional.empty());
    }

    private static RepairAttempt next(RepairAttempt before, Map<String, @Nullable Object> tree) {
        if (text(tree, "event").equals("end")) {
            return before.with(new End(
                    Instant.parse(text(tree, "at")), value(Outcome.values(), tree, "outcome"), text(tree, "detail")));
        }
        long millis = tree.get("milliseconds") instanceof Long number ? number : 0;
        return before.with(new Step(
                text(tree, "name"),
                text(tree, "target"),
                Boolean.TRUE.equals(tree.get("done")),
                text(tree, "detail"),
                Duration.ofMillis(millis),
                Instant.parse(text(tree, "at"))));
    }

    /** A newer version may write a name that this one lacks. */
    private static <E extends Enum<E>> E value(E[] all, Map<String, @Nullable Object> tree, String field) {
        String seen = text(tree, field);
        return Stream.of(all)
                .filter(each -> each.name().equals(seen.toUpperCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("expected " + field + " "
                        + Stream.of(all)
                                .map(each -> each.name().toLowerCase(Locale.ROOT))
                                .collect(Collectors.joining(" or "))
                        + ", seen " + seen));
    }

    private static String text(Map<String, @Nullable Object> tree, String field) {
        Object value = tree.get(field);
        if (value == null) {
            throw new IllegalArgumentException("expected the field " + field);
        }
        return value.toString();
    }
}
