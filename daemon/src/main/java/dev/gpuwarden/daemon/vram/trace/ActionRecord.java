package dev.gpuwarden.daemon.vram.trace;

import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The record of an attempt to carry out a decision.
 *
 * @param gpu UUID, and with {@code sequence} the name of the decision
 * @param tenant identity
 * @param actuator name of the way in which it was tried
 * @param outcome {@code accepted} if the tenant ends by it, {@code failed}, or {@code no_longer_needed}
 * @param text cause of a failure, or the action that was taken
 */
public record ActionRecord(
        Instant at, String gpu, long sequence, String tenant, String actuator, String outcome, String text) {

    public static final String SCHEMA = "gpuwarden.vram-action/v1";

    private static final String ACCEPTED = "accepted";

    /** The actuator of a notice, which ends no tenant. */
    public static final String NOTIFY = "notify";

    public Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("at", at.toString());
        tree.put("gpu", gpu);
        tree.put("sequence", sequence);
        tree.put("tenant", tenant);
        tree.put("actuator", actuator);
        tree.put("accepted", accepted());
        tree.put("outcome", outcome);
        tree.put("text", text);
        return tree;
    }

    /** Returns whether the tenant ends by it; of a notice, whether it was sent. */
    public boolean accepted() {
        return outcome.equals(ACCEPTED);
    }

    /** Returns the outcome. A record from before there were three has no name of it. */
    private static String outcome(Fields fields) throws IOException {
        boolean accepted = fields.flag("accepted");
        return fields.has("outcome") ? fields.text("outcome") : accepted ? ACCEPTED : "failed";
    }

    static ActionRecord read(Fields fields) throws IOException {
        return new ActionRecord(
                fields.time("at"),
                fields.text("gpu"),
                fields.number("sequence"),
                fields.text("tenant"),
                fields.text("actuator"),
                outcome(fields),
                fields.text("text"));
    }
}
