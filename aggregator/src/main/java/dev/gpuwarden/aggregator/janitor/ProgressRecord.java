package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * The record of an action: a condition whose message is JSON with what the next steps need. The definitions of NVSentinel's janitor
 * keep the times and the conditions of a status, and nothing else; a program that writes a status by their types drops the rest too.
 * Pure.
 */
final class ProgressRecord {

    static final String TYPE = "gpuwarden.dev/ActionRecorded";

    private ProgressRecord() {}

    /**
     * Returns the fields of the record; those of the status itself without a record that can be read, as an earlier version
     * wrote it.
     */
    static Map<String, Object> read(Map<String, Object> status) {
        Optional<String> record = JsonTrees.objects(status, "conditions").stream()
                .filter(each -> JsonTrees.text(each, "type").equals(TYPE))
                .map(each -> JsonTrees.text(each, "message"))
                .findFirst();
        try {
            return record.isPresent() ? Json.readObject(record.get()) : status;
        } catch (IOException e) {
            return status;
        }
    }

    /**
     * Returns the record after a change; empty before the action begins.
     *
     * @param changed fields of the status that the change sets
     */
    static Optional<Condition> of(Progress before, Map<String, Object> changed, Instant now) {
        Map<String, Object> fields = before.recorded();
        changed.forEach((name, value) -> {
            if (fields.containsKey(name) || name.equals("jobRef")) {
                fields.put(name, value);
            }
        });
        return JsonTrees.text(fields, "nodeUID").isEmpty()
                ? Optional.empty()
                : Optional.of(new Condition(
                        TYPE,
                        "True",
                        "Recorded",
                        Json.write(fields),
                        before.condition(TYPE).map(Condition::since).orElse(now)));
    }
}
