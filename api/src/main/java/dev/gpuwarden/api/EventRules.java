package dev.gpuwarden.api;

import dev.gpuwarden.api.datamodels.Entity;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The rules for events from untrusted senders. Pure. One event that breaks a rule refuses the whole call: the sender
 * receives the event and the reason, and a partial acceptance would leave open which events arrived. No fault is
 * refused for its details: metadata and message are truncated, and an empty code or part of a node gets the name {@link
 * #EMPTY}.
 */
public final class EventRules {

    public static final int MAX_EVENTS = 1000;
    public static final int MAX_ENTITIES = 64;
    public static final int MAX_CODES = 64;
    public static final int MAX_METADATA = 64;
    /** Limit on one key with its value, in UTF-8 bytes. */
    public static final int MAX_METADATA_BYTES = 1024;
    /**
     * Limit on a message in UTF-8 bytes. A longer message is truncated, as is one that does not fit beside the event's
     * other texts.
     */
    public static final int MAX_MESSAGE_BYTES = EventLimits.CHARACTERS;
    /** Limit on a name, a code, an id or an entity, in UTF-8 bytes. */
    public static final int MAX_NAME_BYTES = 256;
    /** Limit on faults that one call may raise. */
    public static final int MAX_FAULTS = 4096;

    /** Metadata key of an event with a truncated message: its length in bytes before. */
    public static final String MESSAGE_CUT = "gpuwarden.dev/message-cut-from-bytes";

    /** Metadata key of an event with incomplete metadata: the number of pairs that were truncated or left out. */
    public static final String METADATA_CUT = "gpuwarden.dev/metadata-cut";

    /** Name of a code, an entity's type or its value that the sender left empty: no name would match all of them. */
    public static final String EMPTY = "(empty)";

    /** A node name by RFC 1123, as Kubernetes requires. */
    public static final Pattern NODE_NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");

    /** Room for the metadata of a truncated message. */
    private static final int CUT_NOTE = MESSAGE_CUT.length() + 10;

    /** The least room that metadata leave for a message. */
    private static final int LEAST_MESSAGE = 4096;

    private EventRules() {}

    /** The result of a call. */
    public sealed interface Judgement {}

    /** @param events as they are stored: with this node's name, a time, and text that is safe to display */
    public record Taken(List<HealthEvent> events) implements Judgement {}

    /**
     * @param forbidden whether this sender may not report an event: it is about another node, or under gpuwarden's own
     *     name; otherwise it breaks a limit
     * @param why for the sender: index, field, expected and seen, without the sender's own text
     */
    public record Refused(boolean forbidden, String why) implements Judgement {}

    /**
     * @param nodeName this node's name
     * @param reporter stored with each event; the sender cannot set it
     * @param now for events without a time
     */
    public static Judgement judge(HealthEvents call, String nodeName, Reporter reporter, Instant now) {
        return judge(call, Optional.of(nodeName), Optional.of(reporter), now);
    }

    /**
     * Judges a call from a sender that may report for any node; each event must name its node.
     *
     * @param now for events without a time
     */
    public static Judgement judgeOfAnyNode(HealthEvents call, Instant now) {
        return judge(call, Optional.empty(), Optional.empty(), now);
    }

    private static Judgement judge(HealthEvents call, Optional<String> only, Optional<Reporter> reporter, Instant now) {
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
            if (reporter.isPresent() && event.getAgent().equals(Reporter.CHECKS)) {
                String why = "events[" + i + "].agent: expected the reporter's own name, seen '" + Reporter.CHECKS
                        + "', the name of this node's own checks";
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
            HealthEvent kept = keep(event, nodeName, reporter, now);
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
            text("errorCode[" + i + "]", event.getErrorCode(i));
        }
        count("entitiesImpacted", event.getEntitiesImpactedCount(), MAX_ENTITIES);
        for (int i = 0; i < event.getEntitiesImpactedCount(); i++) {
            Entity entity = event.getEntitiesImpacted(i);
            text("entitiesImpacted[" + i + "].entityType", entity.getEntityType());
            text("entitiesImpacted[" + i + "].entityValue", entity.getEntityValue());
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

    private static HealthEvent keep(
            dev.gpuwarden.api.datamodels.HealthEvent wire, String nodeName, Optional<Reporter> reporter, Instant now) {
        HealthEvent event = HealthEventCodec.fromWire(wire, now);
        List<String> codes = event.errorCodes().stream().map(EventRules::named).toList();
        List<dev.gpuwarden.core.event.Entity> entities = event.entities().stream()
                .map(part -> new dev.gpuwarden.core.event.Entity(named(part.type()), named(part.value())))
                .toList();
        String message = event.message();
        int room = EventLimits.CHARACTERS
                - names(event, codes, entities)
                - nodeName.length()
                - reporter.map(Reporter::characters).orElse(0);
        Map<String, String> metadata =
                KeptMetadata.of(event.metadata(), room - Math.min(message.length(), LEAST_MESSAGE) - CUT_NOTE);
        String cut = cut(message, room - characters(metadata));
        if (cut.length() < message.length()) {
            metadata.put(MESSAGE_CUT, Integer.toString(Utf8.length(message)));
        }
        return event.toBuilder()
                // Some senders carry a check's fatality in its healthy events too.
                .fatal(event.fatal() && !event.healthy())
                .message(Utf8.shown(cut))
                .errorCodes(codes)
                .entities(entities)
                .metadata(reporter.map(by -> by.in(metadata)).orElse(metadata))
                .nodeName(nodeName)
                .build();
    }

    private static String named(String name) {
        return name.isBlank() ? EMPTY : name;
    }

    /** Returns the number of characters that are never truncated. */
    private static int names(HealthEvent event, List<String> codes, List<dev.gpuwarden.core.event.Entity> entities) {
        return event.id().length()
                + event.agent().length()
                + event.componentClass().length()
                + event.checkName().length()
                + event.customAction().length()
                + codes.stream().mapToInt(String::length).sum()
                + entities.stream()
                        .mapToInt(part -> part.type().length() + part.value().length())
                        .sum();
    }

    private static int characters(Map<String, String> metadata) {
        return metadata.entrySet().stream()
                .mapToInt(pair -> pair.getKey().length() + pair.getValue().length())
                .sum();
    }

    private static String cut(String message, int room) {
        boolean fits = message.length() <= room && Utf8.length(message) <= MAX_MESSAGE_BYTES;
        return fits ? message : Utf8.head(message, Math.max(0, Math.min(room - CUT_NOTE, MAX_MESSAGE_BYTES)));
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

    /**
     * The part of an event's metadata that is stored. Long values are truncated, pairs without room are left out, and the fault
     * stays. Pure.
     */
    private static final class KeptMetadata {

        private static final String OURS = "gpuwarden.dev/";

        /** The least length of a useful value. */
        private static final int LEAST_VALUE = 16;

        private KeptMetadata() {}

        /**
         * @param given by an untrusted sender
         * @param room characters for all keys and values together
         * @return with {@link EventRules#METADATA_CUT} where pairs were truncated or left out
         */
        static Map<String, String> of(Map<String, String> given, int room) {
            List<Map.Entry<String, String>> pairs = new ArrayList<>(given.entrySet());
            // Keys on which this program acts come before unknown ones.
            pairs.sort(Comparator.comparing(pair -> !pair.getKey().startsWith(OURS)));
            Map<String, String> kept = new LinkedHashMap<>();
            int changed = 0;
            int left = room - METADATA_CUT.length() - 10;
            for (Map.Entry<String, String> pair : pairs) {
                String key = pair.getKey();
                String shown = Utf8.shown(pair.getValue());
                int valueRoom = Math.min(MAX_METADATA_BYTES - Utf8.length(key), left - key.length());
                boolean keeps = valueRoom >= Math.min(shown.length(), LEAST_VALUE)
                        && kept.size() < MAX_METADATA
                        && sensible(key, pair.getValue());
                if (!keeps) {
                    changed++;
                    continue;
                }
                String value = Utf8.length(shown) <= valueRoom ? shown : Utf8.head(shown, valueRoom);
                changed += value.length() < shown.length() ? 1 : 0;
                left -= key.length() + value.length();
                kept.put(key, value);
            }
            if (changed > 0) {
                kept.put(METADATA_CUT, Integer.toString(changed));
            }
            return kept;
        }

        private static boolean sensible(String key, String value) {
            return !key.isBlank()
                    && !Reporter.isReserved(key)
                    && Utf8.firstUnprintable(key) < 0
                    && (!key.equals(StoredEvent.OCCURRENCES) || value.matches("[1-9][0-9]{0,8}"));
        }
    }
}
