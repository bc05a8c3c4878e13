package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.StoredEvent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Events that are to go out. The first of its kind goes at once, what repeats it during a window is counted and goes as one event
 * at the window's end, or with whatever goes before. Whenever something goes, all goes: so what was read and what was told never
 * differ. Not thread-safe.
 */
final class EventBatcher {

    /** Faults that are counted apart; a node with 64 GPUs and 60 codes each has 3840. */
    static final int MOST_KEYS = 4096;

    /** Who reads waits for who stores when this much is to go out. */
    private static final int MANY = 2048;

    /** Different values of a detail that one event names. */
    private static final int MOST_VALUES = 8;

    private static final int LONGEST_VALUE = 256;

    private static final class Tally {
        private Instant when = Instant.EPOCH;
        private String text = "";
        private LogSource.Cursor behind = () -> "";
        private Occurrence first;
        private long count;
        private long quietUntil;
        private final Map<String, Set<String>> details = new HashMap<>();

        Tally(Occurrence first, long now) {
            this.first = first;
            this.quietUntil = now;
        }

        void clear() {
            count = 0;
            text = "";
            details.clear();
        }

        void add(Occurrence next) {
            first = count == 0 ? next : first;
            count++;
            when = next.when();
            text = next.text();
            behind = next.behind();
            next.details().forEach((name, value) -> {
                Set<String> values = details.computeIfAbsent(name, n -> new LinkedHashSet<>());
                if (values.size() < MOST_VALUES) {
                    values.add(value.length() <= LONGEST_VALUE ? value : value.substring(0, LONGEST_VALUE));
                }
            });
        }
    }

    private final String nodeName;
    private final Supplier<String> bootId;
    private final long windowNanos;
    private final Map<Occurrence.Key, Tally> tallies = new LinkedHashMap<>();
    private final List<HealthEvent> ready = new ArrayList<>();
    private int waiting;
    private long due = Long.MAX_VALUE;
    private long collapsed;

    /** @param bootId of the boot that is told of now */
    EventBatcher(String nodeName, Supplier<String> bootId, Duration window) {
        this.nodeName = nodeName;
        this.bootId = bootId;
        this.windowNanos = window.toNanos();
    }

    void add(Occurrence occurrence, long now) {
        Tally tally = tallies.get(occurrence.key());
        if (tally == null) {
            makeRoom(now);
            tally = new Tally(occurrence, now);
            tallies.put(occurrence.key(), tally);
        } else if (tally.count == 0) {
            // In the order in which they go out.
            tallies.remove(occurrence.key());
            tallies.put(occurrence.key(), tally);
        }
        if (tally.count == 0) {
            waiting++;
            due = due == Long.MAX_VALUE || tally.quietUntil - due < 0 ? Math.max(tally.quietUntil, now) : due;
        }
        tally.add(occurrence);
    }

    /** Goes out as it is, behind what was read before. */
    void tell(HealthEvent event, long now) {
        ready.add(event);
        due = now;
    }

    /** What is known of these faults goes out first, and the next of them goes at once. */
    void settle(Predicate<Occurrence.Key> which) {
        Iterator<Map.Entry<Occurrence.Key, Tally>> all = tallies.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<Occurrence.Key, Tally> entry = all.next();
            if (which.test(entry.getKey())) {
                flush(entry.getValue());
                all.remove();
            }
        }
    }

    private void makeRoom(long now) {
        if (tallies.size() >= MOST_KEYS) {
            Iterator<Tally> oldest = tallies.values().iterator();
            flush(oldest.next());
            oldest.remove();
            due = now;
        }
    }

    private void flush(Tally tally) {
        if (tally.count > 0) {
            ready.add(event(tally));
            collapsed += tally.count - 1;
            tally.clear();
            waiting--;
        }
    }

    /** Whether faults of this kind wait to go out. */
    boolean waits(Predicate<Occurrence.Key> which) {
        return tallies.entrySet().stream().anyMatch(entry -> entry.getValue().count > 0 && which.test(entry.getKey()));
    }

    boolean many() {
        return ready.size() + waiting >= MANY;
    }

    boolean isEmpty() {
        return ready.isEmpty() && waiting == 0;
    }

    /** When something has to go out, in the time that {@code add} was told; MAX_VALUE where nothing waits. */
    long dueNanos() {
        return isEmpty() ? Long.MAX_VALUE : due;
    }

    /** Repetitions that went out as a number. */
    long collapsed() {
        return collapsed;
    }

    /** All that is to go out, in order. */
    List<HealthEvent> take(long now) {
        Iterator<Tally> all = tallies.values().iterator();
        while (all.hasNext()) {
            Tally tally = all.next();
            if (tally.count > 0) {
                flush(tally);
                tally.quietUntil = now + windowNanos;
            } else if (tally.quietUntil - now <= 0) {
                all.remove();
            }
        }
        List<HealthEvent> taken = List.copyOf(ready);
        ready.clear();
        due = Long.MAX_VALUE;
        return taken;
    }

    private HealthEvent event(Tally tally) {
        Occurrence first = tally.first;
        Occurrence.Key key = first.key();
        Map<String, String> metadata = new HashMap<>();
        tally.details.forEach((name, values) -> metadata.put(name, String.join(",", values)));
        metadata.put(KernelMessageClassifier.SEVERITY, first.severity().label());
        if (tally.count > 1) {
            metadata.put(StoredEvent.OCCURRENCES, Long.toString(Math.min(tally.count, 999_999_999)));
        }
        return Checks.event(key.check(), nodeName)
                .id(id(tally, key))
                .fatal(key.action() != RecommendedAction.NONE)
                .message(tally.text)
                .action(key.action())
                .errorCodes(List.of(key.code()))
                .entities(key.entities())
                .metadata(metadata)
                .generated(tally.when)
                .build();
    }

    /** The same for the same record, however often it is read; logs whose times are coarse repeat lines within one. */
    private String id(Tally tally, Occurrence.Key key) {
        String what = String.join(
                "|",
                bootId.get(),
                tally.behind.text(),
                tally.when.toString(),
                key.toString(),
                Long.toString(tally.count));
        return UUID.nameUUIDFromBytes(what.getBytes(StandardCharsets.UTF_8)).toString();
    }
}
