package dev.gpuwarden.api;

import dev.gpuwarden.api.datamodels.Entity;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.core.event.EventLimits;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What a stranger's events must be like to be taken. Pure. One event that breaks a rule refuses the call: its sender is told
 * which and why, and taking the rest would leave him to guess what arrived.
 */
public final class EventRules {

    public static final int MAX_EVENTS = 1000;
    public static final int MAX_ENTITIES = 64;
    public static final int MAX_CODES = 64;
    public static final int MAX_METADATA = 64;
    /** UTF-8 bytes of one key with its value. */
    public static final int MAX_METADATA_BYTES = 1024;
    /** UTF-8 bytes; what is longer is cut, and so is what does not fit beside the event's other texts. */
    public static final int MAX_MESSAGE_BYTES = EventLimits.CHARACTERS;
    /** UTF-8 bytes of a name, a code, an id or an entity. */
    public static final int MAX_NAME_BYTES = 256;
    /** Faults that one call may raise. */
    public static final int MAX_FAULTS = 4096;

    /** Metadata key of an event whose message was cut: how many bytes it had. */
    public static final String MESSAGE_CUT = "gpuwarden.dev/message-cut-from-bytes";

    /** RFC 1123, as Kubernetes takes it for names. */
    public static final Pattern NODE_NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");

    /** Room for saying that a message was cut. */
    private static final int CUT_NOTE = MESSAGE_CUT.length() + 10;

    private EventRules() {}

    /** What became of a call. */
    public sealed interface Judgement {}

    /** @param events as they shall be kept: with this node's name, a time, and text that can be shown */
    public record Taken(List<HealthEvent> events) implements Judgement {}

    /**
     * @param otherNode an event speaks for a node that is not this one; otherwise it breaks a limit
     * @param why for the sender: index, field, what was expected and seen. Without the sender's own text
     */
    public record Refused(boolean otherNode, String why) implements Judgement {}

    /**
     * @param nodeName this node's
     * @param now for events that do not say when they were made
     */
    public static Judgement judge(HealthEvents call, String nodeName, Instant now) {
        return judge(call, Optional.of(nodeName), now);
    }

    /**
     * Of a sender who may speak for any node; each event must say for which.
     *
     * @param now for events that do not say when they were made
     */
    public static Judgement judgeOfAnyNode(HealthEvents call, Instant now) {
        return judge(call, Optional.empty(), now);
    }

    private static Judgement judge(HealthEvents call, Optional<String> only, Instant now) {
        int count = call.getEventsCount();
        if (count > MAX_EVENTS) {
            return new Refused(false, "events: " + count + ", at most " + MAX_EVENTS + " in one call");
        }
        List<HealthEvent> taken = new ArrayList<>(count);
        long faults = 0;
        for (int i = 0; i < count; i++) {
            dev.gpuwarden.api.datamodels.HealthEvent event = call.getEvents(i);
            try {
                check(event);
            } catch (Broken rule) {
                return new Refused(false, "events[" + i + "]." + rule.why);
            }
            String nodeName = only.orElse(event.getNodeName());
            if (!event.getNodeName().isEmpty() && !event.getNodeName().equals(nodeName)) {
                String why = "events[" + i + "].nodeName: another node's name; this is '" + nodeName + "'";
                return new Refused(true, why);
            }
            if (!NODE_NAME.matcher(nodeName).matches() && only.isEmpty()) {
                return new Refused(false, "events[" + i + "].nodeName: expected the name of a Node");
            }
            faults += (long) Math.max(1, event.getEntitiesImpactedCount()) * Math.max(1, event.getErrorCodeCount());
            if (faults > MAX_FAULTS) {
                String why = "events[" + i + "]: pairs of entity and code: more than " + MAX_FAULTS + " in one call";
                return new Refused(false, why);
            }
            HealthEvent kept = keep(event, nodeName, now);
            Optional<String> tooBig = EventLimits.violation(kept);
            if (tooBig.isPresent()) {
                return new Refused(false, "events[" + i + "]: " + tooBig.get());
            }
            taken.add(kept);
        }
        return new Taken(taken);
    }

    private static void check(dev.gpuwarden.api.datamodels.HealthEvent event) throws Broken {
        name("agent", event.getAgent());
        name("componentClass", event.getComponentClass());
        name("checkName", event.getCheckName());
        text("id", event.getId());
        text("nodeName", event.getNodeName());
        text("customRecommendedAction", event.getCustomRecommendedAction());
        count("errorCode", event.getErrorCodeCount(), MAX_CODES);
        for (int i = 0; i < event.getErrorCodeCount(); i++) {
            name("errorCode[" + i + "]", event.getErrorCode(i));
        }
        count("entitiesImpacted", event.getEntitiesImpactedCount(), MAX_ENTITIES);
        for (int i = 0; i < event.getEntitiesImpactedCount(); i++) {
            Entity entity = event.getEntitiesImpacted(i);
            name("entitiesImpacted[" + i + "].entityType", entity.getEntityType());
            name("entitiesImpacted[" + i + "].entityValue", entity.getEntityValue());
        }
        count("metadata", event.getMetadataCount(), MAX_METADATA);
        for (Map.Entry<String, String> pair : event.getMetadataMap().entrySet()) {
            metadata(pair.getKey(), pair.getValue());
        }
        if (event.hasGeneratedTimestamp()
                && Timestamps.parse(event.getGeneratedTimestamp()).isEmpty()) {
            throw new Broken("generatedTimestamp: outside of the years 1 to 9999");
        }
    }

    private static void name(String field, String value) throws Broken {
        if (value.isBlank()) {
            throw new Broken(field + ": empty");
        }
        text(field, value);
    }

    private static void text(String field, String value) throws Broken {
        int bytes = Utf8.length(value);
        if (bytes > MAX_NAME_BYTES) {
            throw new Broken(field + ": " + bytes + " bytes, at most " + MAX_NAME_BYTES);
        }
        printable(field, value);
    }

    private static void printable(String field, String value) throws Broken {
        int bad = Utf8.firstUnprintable(value);
        if (bad >= 0) {
            String seen = String.format(Locale.ROOT, "U+%04X", value.codePointAt(bad));
            throw new Broken(field + ": character " + bad + " is " + seen + ", which cannot be printed");
        }
    }

    private static void count(String field, int count, int max) throws Broken {
        if (count > max) {
            throw new Broken(field + ": " + count + ", at most " + max);
        }
    }

    private static void metadata(String key, String value) throws Broken {
        if (key.isBlank()) {
            throw new Broken("metadata: an empty key");
        }
        printable("metadata: a key", key);
        int bytes = Utf8.length(key) + Utf8.length(value);
        if (bytes > MAX_METADATA_BYTES) {
            throw new Broken("metadata: a pair of " + bytes + " bytes, at most " + MAX_METADATA_BYTES);
        }
        if (key.equals(StoredEvent.OCCURRENCES) && !value.matches("[1-9][0-9]{0,8}")) {
            throw new Broken("metadata: " + key + " must be a number from 1 to 999999999");
        }
    }

    private static HealthEvent keep(dev.gpuwarden.api.datamodels.HealthEvent wire, String nodeName, Instant now) {
        HealthEvent event = HealthEventCodec.fromWire(wire, now);
        Map<String, String> metadata = new HashMap<>();
        event.metadata().forEach((key, value) -> metadata.put(key, Utf8.shown(value)));
        String message = event.message();
        String cut = cut(message, EventLimits.CHARACTERS - (event.characters() - message.length()) - nodeName.length());
        if (cut.length() < message.length()) {
            metadata.put(MESSAGE_CUT, Integer.toString(Utf8.length(message)));
        }
        return new HealthEvent(
                event.id(),
                event.version(),
                event.agent(),
                event.componentClass(),
                event.checkName(),
                // Some senders carry a check's fatality in its healthy events too.
                event.fatal() && !event.healthy(),
                event.healthy(),
                Utf8.shown(cut),
                event.action(),
                event.errorCodes(),
                event.entities(),
                metadata,
                event.generated(),
                nodeName,
                event.quarantine(),
                event.drain(),
                event.strategy(),
                event.customAction());
    }

    private static String cut(String message, int room) {
        boolean fits = message.length() <= room && Utf8.length(message) <= MAX_MESSAGE_BYTES;
        return fits ? message : Utf8.cut(message, Math.max(0, Math.min(room - CUT_NOTE, MAX_MESSAGE_BYTES)));
    }

    /** A rule that an event breaks. */
    private static final class Broken extends Exception {
        private static final long serialVersionUID = 1;

        final String why;

        Broken(String why) {
            super(why, null, false, false);
            this.why = why;
        }
    }
}
