package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Instant;

/**
 * An event made ready on its sender's thread, so that the writer has little to do.
 *
 * @param event with an id
 * @param idIsGiven whether the sender gave the id
 * @param telling the same where the event arrives twice
 * @param subject the same where the same is told again
 * @param times how many occurrences it stands for
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

    /** Bytes of a held event beside its texts: objects, lists, fingerprints. */
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

    /** The same event under an id of the store, since another event has the sender's. */
    PreparedEvent withOwnId(Instant now) {
        return new PreparedEvent(event.withId(telling.id(now)), false, telling, subject, times, codes, entities, body);
    }

    PreparedEvent withMore(long more) {
        return new PreparedEvent(event, idIsGiven, telling, subject, times + more, codes, entities, body);
    }

    /** About how much memory it takes. */
    int bytes() {
        return OVERHEAD + 2 * event.characters() + codes.length() + entities.length() + body.length();
    }
}
