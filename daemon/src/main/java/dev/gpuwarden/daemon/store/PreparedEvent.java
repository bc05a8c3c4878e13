package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.util.Sha256;
import dev.gpuwarden.daemon.store.EventTable.EventJson;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;

/**
 * An event, prepared on its sender's thread so that the writer has less to do.
 *
 * @param event with an id
 * @param idIsGiven true if the sender gave the id
 * @param telling equal if the same event arrives twice
 * @param subject equal if the same fault is reported again
 * @param times the number of occurrences that the event reports
 */
record PreparedEvent(
        HealthEvent event,
        boolean idIsGiven,
        Fingerprint telling,
        Fingerprint subject,
        long times,
        String codes,
        String entities,
        String body) {

    /** Bytes of a held event without its texts: objects, lists, fingerprints. */
    private static final int OVERHEAD = 1024;

    static PreparedEvent of(HealthEvent event, Instant now) {
        Fingerprint telling = Fingerprint.ofTelling(event);
        boolean given = !event.id().isEmpty();
        return new PreparedEvent(
                given ? event : event.withId(telling.id(now)),
                given,
                telling,
                Fingerprint.ofSubject(event),
                StoredEvent.occurrencesOf(event),
                EventJson.codes(event.errorCodes()),
                EventJson.entities(event.entities()),
                EventJson.body(event));
    }

    /** Returns the same event under an id of the store, for a sender's id that another event has. */
    PreparedEvent withOwnId(Instant now) {
        return new PreparedEvent(event.withId(telling.id(now)), false, telling, subject, times, codes, entities, body);
    }

    PreparedEvent withMore(long more) {
        return new PreparedEvent(event, idIsGiven, telling, subject, times + more, codes, entities, body);
    }

    /** Returns the approximate memory use in bytes. */
    int bytes() {
        return OVERHEAD + 2 * event.characters() + codes.length() + entities.length() + body.length();
    }

    /**
     * A digest that identifies an event. It is the first half of a SHA-256, since senders choose the content: they must
     * not be able to make an event that is mistaken for another one.
     */
    record Fingerprint(long high, long low) {

        private interface Content {
            void write(DataOutputStream out) throws IOException;
        }

        /** Returns a report's fingerprint: equal if the same event arrives twice, different if the fault is reported again. */
        static Fingerprint ofTelling(HealthEvent event) {
            boolean given = !event.id().isEmpty();
            // Without id and time, a returning fault looks like a duplicate: the event must not be lost.
            boolean unknown = !given && event.generated().equals(Instant.EPOCH);
            return of(out -> {
                // An id replaces the sender's clock but not the content: counters of senders restart.
                out.writeUTF(event.id());
                out.writeUTF(given ? "" : event.generated().toString());
                out.writeUTF(unknown ? UUID.randomUUID().toString() : "");
                subject(event, out, event.entities(), event.errorCodes());
                out.writeUTF(event.message());
            });
        }

        /** Returns the fingerprint of an event's subject and severity, without its message and time. */
        static Fingerprint ofSubject(HealthEvent event) {
            return of(out -> {
                subject(
                        event,
                        out,
                        event.entities().stream()
                                .sorted(Comparator.comparing(Entity::type).thenComparing(Entity::value))
                                .toList(),
                        event.errorCodes().stream().sorted().toList());
                out.writeBoolean(event.fatal());
                out.writeInt(event.action().number());
                out.writeUTF(event.customAction());
                out.writeBoolean(event.strategy().actedOn());
                out.writeBoolean(event.quarantine().force());
                out.writeBoolean(event.quarantine().skip());
                out.writeBoolean(event.drain().force());
                out.writeBoolean(event.drain().skip());
            });
        }

        private static void subject(HealthEvent event, DataOutputStream out, List<Entity> entities, List<String> codes)
                throws IOException {
            out.writeUTF(event.agent());
            out.writeUTF(event.componentClass());
            out.writeUTF(event.checkName());
            out.writeUTF(event.nodeName());
            out.writeBoolean(event.healthy());
            String reporter = Reporter.kindOf(event);
            if (!reporter.isEmpty()) {
                out.writeUTF(reporter);
            }
            out.writeInt(entities.size());
            for (Entity entity : entities) {
                out.writeUTF(entity.type());
                out.writeUTF(entity.value());
            }
            out.writeInt(codes.size());
            for (String code : codes) {
                out.writeUTF(code);
            }
        }

        private static Fingerprint of(Content content) {
            try {
                MessageDigest digest = Sha256.digest();
                content.write(new DataOutputStream(new DigestOutputStream(OutputStream.nullOutputStream(), digest)));
                ByteBuffer bytes = ByteBuffer.wrap(digest.digest());
                return new Fingerprint(bytes.getLong(), bytes.getLong());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        byte[] bytes() {
            return ByteBuffer.allocate(16).putLong(high).putLong(low).array();
        }

        /**
         * Returns an id for an event that has none, in the form of a UUID of version 7: the time, then as much of this
         * fingerprint as fits. It needs no randomness, since the store holds no two events with the same fingerprint.
         */
        String id(Instant now) {
            long time = now.toEpochMilli() << 16;
            return new UUID(time | 0x7000 | (high & 0xfff), 0x8000_0000_0000_0000L | (low >>> 2)).toString();
        }
    }
}
