package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.util.Text;
import dev.gpuwarden.daemon.repair.RepairAttempt.End;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
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

    private static final JsonReader READER = JsonReader.ofDepth(4);
    /** Before each object of a line: earlier versions appended to a line that a full disk had cut. */
    private static final String JOINED = "(?=\\{\"at\": ?\")";

    private static final int LONGEST_SHOWN = 200;
    private static final String UNKNOWN = "unknown";

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
     * The content of a record.
     *
     * @param attempts in order of their beginnings
     * @param unreadable the numbers of lines of which a part cannot be read
     */
    record Content(List<RepairAttempt> attempts, List<Integer> unreadable) {
        Content {
            attempts = List.copyOf(attempts);
            unreadable = List.copyOf(unreadable);
        }
    }

    /**
     * Reads the lines. A part that is no JSON is skipped, and the attempt before it has a step {@link RepairAttempt#UNREADABLE} for it, since
     * any step may be lost. An attempt whose beginning is lost is known by its steps.
     *
     * @throws IOException with the number of the line, if JSON has a field or a word that this version lacks: no guess replaces it
     */
    static Content read(List<String> lines) throws IOException {
        Map<String, RepairAttempt> attempts = new LinkedHashMap<>();
        List<Integer> unreadable = new ArrayList<>();
        String last = "";
        for (int i = 0; i < lines.size(); i++) {
            Optional<Map<String, @Nullable Object>> whole = tree(lines.get(i));
            if (whole.isPresent()) {
                last = add(attempts, whole.get(), i + 1);
                continue;
            }
            boolean readable = true;
            for (String part : lines.get(i).split(JOINED)) {
                Optional<Map<String, @Nullable Object>> tree = tree(part);
                if (tree.isPresent()) {
                    last = add(attempts, tree.get(), i + 1);
                } else {
                    readable = false;
                    attempts.computeIfPresent(last, (id, before) -> before.with(unreadable(before, part)));
                }
            }
            if (!readable) {
                unreadable.add(i + 1);
            }
        }
        return new Content(List.copyOf(attempts.values()), unreadable);
    }

    private static Optional<Map<String, @Nullable Object>> tree(String text) {
        try {
            return Optional.of(READER.readObject(text));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static Step unreadable(RepairAttempt attempt, String text) {
        Instant at = attempt.steps().stream().map(Step::at).reduce(attempt.began(), (first, second) -> second);
        return new Step(RepairAttempt.UNREADABLE, "", false, Text.truncate(text, LONGEST_SHOWN), Duration.ZERO, at);
    }

    /** Returns the id of the attempt to which the line belongs. */
    private static String add(Map<String, RepairAttempt> attempts, Map<String, @Nullable Object> tree, int number)
            throws IOException {
        try {
            String id = text(tree, "id");
            if (text(tree, "event").equals("begin")) {
                attempts.put(id, begun(id, tree));
            } else {
                RepairAttempt before = attempts.getOrDefault(id, withoutBeginning(id));
                attempts.put(id, next(before, tree));
            }
            return id;
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new IOException("line " + number + ": " + e.getMessage(), e);
        }
    }

    private static RepairAttempt withoutBeginning(String id) {
        RepairAttempt attempt = new RepairAttempt(
                id, Kind.RESET, Set.of(UNKNOWN), UNKNOWN, Instant.parse(id), "", List.of(), Optional.empty());
        return attempt.with(unreadable(attempt, "its beginning"));
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
        return before.as(kind(before, text(tree, "name")))
                .with(new Step(
                        text(tree, "name"),
                        text(tree, "target"),
                        Boolean.TRUE.equals(tree.get("done")),
                        text(tree, "detail"),
                        Duration.ofMillis(millis),
                        Instant.parse(text(tree, "at"))));
    }

    /** Returns the kind of an attempt, which its steps show if its beginning is lost. */
    private static Kind kind(RepairAttempt attempt, String step) {
        if (!attempt.why().equals(UNKNOWN)) {
            return attempt.kind();
        }
        return switch (step) {
            case RepairAttempt.REBOOT -> Kind.REBOOT;
            case RepairAttempt.BEGIN_HOOK, RepairAttempt.HOOK -> Kind.HOOK;
            default -> attempt.kind();
        };
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
