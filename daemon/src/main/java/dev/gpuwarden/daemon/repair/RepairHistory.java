package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.cli.Durations;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The repairs that this server's record has, for users. */
public final class RepairHistory {

    public static final String SCHEMA = "gpuwarden.repairs/v1";

    private static final String IN_PROGRESS = "in-progress";

    private RepairHistory() {}

    /** @param took empty while it is in progress, or if its daemon ended in the middle */
    public record Repair(
            Instant began, String repair, String why, String outcome, String took, String detail, List<String> steps) {}

    /**
     * Reads the record, which may be that of a daemon that runs. Empty if no repair has begun.
     *
     * @throws IOException if it cannot be read
     */
    public static List<Repair> read(Path file) throws IOException {
        List<Repair> repairs = new ArrayList<>();
        for (RepairAttempt attempt : RepairLog.read(file)) {
            repairs.add(new Repair(
                    attempt.began(),
                    attempt.text(),
                    attempt.why(),
                    attempt.end().map(end -> end.outcome().label()).orElse(IN_PROGRESS),
                    attempt.end()
                            .map(end -> seconds(Duration.between(attempt.began(), end.at())))
                            .orElse(""),
                    attempt.end().map(RepairAttempt.End::detail).orElse(""),
                    attempt.steps().stream().map(RepairHistory::step).toList()));
        }
        return repairs;
    }

    /** Returns the JSON of docs/operating/single-server-repair.md. */
    public static Map<String, Object> tree(List<Repair> repairs) {
        List<Object> list = new ArrayList<>();
        for (Repair repair : repairs) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("began", repair.began().toString());
            tree.put("repair", repair.repair());
            tree.put("why", repair.why());
            tree.put("outcome", repair.outcome());
            tree.put("took", repair.took());
            tree.put("detail", repair.detail());
            tree.put("steps", repair.steps());
            list.add(tree);
        }
        return Map.of("schema", SCHEMA, "repairs", list);
    }

    private static String step(RepairAttempt.Step step) {
        List<String> words = new ArrayList<>(List.of(step.name()));
        words.add(step.target());
        words.add(step.done() ? "done in " + seconds(step.time()) : "failed after " + seconds(step.time()));
        words.removeIf(String::isEmpty);
        return String.join(" ", words) + (step.detail().isEmpty() ? "" : ": " + step.detail());
    }

    private static String seconds(Duration time) {
        return Durations.text(Duration.ofMillis(Math.round(time.toMillis() / 100.0) * 100));
    }
}
