package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Instant;

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
}
