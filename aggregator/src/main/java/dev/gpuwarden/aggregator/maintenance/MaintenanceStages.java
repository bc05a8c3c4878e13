package dev.gpuwarden.aggregator.maintenance;

import dev.gpuwarden.aggregator.maintenance.Stage.State;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The stages of a maintenance resource, from its status. A status of another janitor may lack some of them. Pure. */
final class MaintenanceStages {

    private static final String LOCK = "lock";
    private static final String STOPPED = "services stopped";
    private static final String RESTORED = "services restored";
    private static final String SKIPPED = "Skipped";
    private static final String NOTHING = "nothing was begun";

    /** @param since time of the last change of its status; empty if it cannot be read */
    private record Condition(boolean isTrue, String reason, String message, Optional<Instant> since) {}

    private final MaintenanceKind kind;
    private final Instant created;
    private final Optional<Instant> started;
    private final Optional<Instant> ended;
    private final Map<String, Condition> conditions = new LinkedHashMap<>();

    private MaintenanceStages(MaintenanceKind kind, Instant created, Map<String, Object> status) {
        this.kind = kind;
        this.created = created;
        this.started = JsonTrees.time(status, "startTime");
        this.ended = JsonTrees.time(status, "completionTime");
        for (Map<String, Object> each : JsonTrees.objects(status, "conditions")) {
            conditions.put(
                    JsonTrees.text(each, "type"),
                    new Condition(
                            JsonTrees.text(each, "status").equals("True"),
                            JsonTrees.text(each, "reason"),
                            JsonTrees.text(each, "message"),
                            JsonTrees.time(each, "lastTransitionTime")));
        }
    }

    static List<Stage> of(MaintenanceKind kind, Instant created, Map<String, Object> status) {
        MaintenanceStages stages = new MaintenanceStages(kind, created, status);
        return kind == MaintenanceKind.GPU_RESET
                ? List.of(stages.lock(), stages.stopped(), stages.reset(), stages.restored())
                : List.of(
                        stages.lock(),
                        Stage.of(STOPPED, State.NOT_NEEDED, "the node goes down with them"),
                        stages.node(),
                        Stage.of(RESTORED, State.NOT_NEEDED, "the node starts them"));
    }

    private Optional<Condition> condition(String type) {
        return Optional.ofNullable(conditions.get(type));
    }

    private Optional<Condition> done() {
        return condition(kind.doneCondition());
    }

    private boolean succeeded() {
        return done().filter(Condition::isTrue).isPresent();
    }

    private String result() {
        return done().map(Condition::message).orElse("");
    }

    private Stage lock() {
        Optional<Instant> begin = Optional.of(created);
        if (started.isPresent()) {
            return Stage.of(LOCK, State.DONE, "").from(begin).until(started);
        }
        if (ended.isPresent()) {
            return Stage.of(LOCK, State.FAILED, result()).from(begin).until(ended);
        }
        String why = condition(kind == MaintenanceKind.GPU_RESET ? "Ready" : "SignalSent")
                .map(Condition::message)
                .orElse("no janitor has begun it");
        return Stage.of(LOCK, State.WAITING, why).from(begin);
    }

    /** Returns a stage that has no condition: it follows, or the resource ended before it. */
    private Stage absent(String name) {
        return ended.isPresent() ? Stage.of(name, State.NOT_NEEDED, NOTHING) : Stage.of(name, State.NOT_YET, "");
    }

    // ---- GPUReset ----

    private Stage stopped() {
        Optional<Condition> stopped = condition("ServicesTornDown");
        if (started.isEmpty() || stopped.isEmpty()) {
            return absent(STOPPED);
        }
        Condition now = stopped.get();
        if (now.reason().equals(SKIPPED)) {
            return Stage.of(STOPPED, State.NOT_NEEDED, now.message());
        }
        if (now.isTrue()) {
            return Stage.of(STOPPED, State.DONE, "").from(started).until(now.since());
        }
        // The condition was False from the start, so its time is not the one of the failure.
        Optional<String> failed = now.reason().endsWith("Exceeded")
                ? Optional.of(now.message())
                : condition("ResetJobCompleted").map(Condition::message).or(() -> ended.map(end -> result()));
        return Stage.of(STOPPED, failed.isPresent() ? State.FAILED : State.IN_PROGRESS, failed.orElse(""))
                .from(started);
    }

    private Stage reset() {
        Optional<Instant> begin = condition("ResetJobCreated").flatMap(Condition::since);
        Optional<Condition> completed = condition("ResetJobCompleted");
        if (completed.isPresent()) {
            Condition now = completed.get();
            return Stage.of("reset", now.isTrue() ? State.DONE : State.FAILED, now.isTrue() ? "" : now.message())
                    .from(begin)
                    .until(now.since());
        }
        boolean stopped =
                List.of(State.DONE, State.NOT_NEEDED).contains(stopped().state());
        if (begin.isEmpty() && (started.isEmpty() || !stopped || ended.isEmpty())) {
            return absent("reset");
        }
        return ended.isPresent()
                ? Stage.of("reset", State.FAILED, result()).from(begin).until(ended)
                : Stage.of("reset", State.IN_PROGRESS, "").from(begin);
    }

    private Stage restored() {
        Optional<Condition> completed = condition("ResetJobCompleted");
        Optional<Condition> restored = condition("ServicesRestored");
        Optional<Instant> begin =
                completed.or(() -> restored.filter(each -> !each.isTrue())).flatMap(Condition::since);
        // It is False while they return, so it is a failure only after the end of the resource.
        if (restored.isPresent() && (restored.get().isTrue() || ended.isPresent())) {
            Condition now = restored.get();
            return now.reason().equals(SKIPPED)
                    ? Stage.of(RESTORED, State.NOT_NEEDED, now.message())
                    : Stage.of(RESTORED, now.isTrue() ? State.DONE : State.FAILED, now.isTrue() ? "" : now.message())
                            .from(begin)
                            .until(now.isTrue() ? now.since() : ended);
        }
        boolean over = completed.isPresent()
                || condition("ServicesTornDown")
                        .filter(each -> each.reason().endsWith("Exceeded"))
                        .isPresent();
        return over && ended.isEmpty()
                ? Stage.of(RESTORED, State.IN_PROGRESS, "").from(begin)
                : absent(RESTORED);
    }

    // ---- RebootNode, TerminateNode ----

    private Stage node() {
        String name = kind == MaintenanceKind.REBOOT_NODE ? "reboot" : "termination";
        if (started.isEmpty()) {
            return absent(name);
        }
        if (ended.isPresent()) {
            return Stage.of(name, succeeded() ? State.DONE : State.FAILED, succeeded() ? "" : result())
                    .from(started)
                    .until(ended);
        }
        String why = condition("SignalSent").map(Condition::message).orElse("");
        return Stage.of(name, State.IN_PROGRESS, why).from(started);
    }
}
